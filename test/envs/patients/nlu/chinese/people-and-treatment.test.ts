/** Chinese questions about relatives, openings and treatment, whose words name something that is not asked for. */
import { describe, expect, test } from 'vitest'
import { understand } from '../../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()
const heard = (text: string) => understand(knowledge, text)
const topics = (text: string) => heard(text).topics.map(({ finding }) => finding)

describe('an illness of relatives', () => {
  test.each([
    '家里谁得过哮喘或者肺病？',
    '你姥姥有白内障吗？',
    '爷爷奶奶有中风的吗？',
    '家里有人贫血吗？',
  ])('%s: is none that the base has', (text) => {
    expect(heard(text).asides).toEqual(['family-illness'])
    expect(topics(text)).toEqual([])
  })
  test.each([
    ['亲戚里有血糖高的吗？', 'family-sugar'],
    ['双亲里有谁得过心梗？', 'family-heart'],
    ['家里有没有人得过肠癌？', 'family-bowel'],
    ['您学生里最近有没有发烧咳嗽的？', 'sick-contact'],
    ['厂里工友有跟您一样的吗？', 'sick-contact'],
  ])('%s: is about %s', (text, finding) => expect(topics(text)).toEqual([finding]))
  test("a husband's or wife's pressure is not the patient's", () => {
    expect(heard('老伴儿有高血压吗？').asides).toEqual(['partner-health'])
    expect(topics('您爱人说您打呼噜吗？')).not.toEqual([])
  })
})

test.each([
  '有什么我能帮到您的？',
  '今天怎么不好了？',
  '您是为啥来的？',
  '第一次来我们这儿吧？先说说主要的不舒服。',
])('%s: asks for the complaint', (text) => expect(heard(text).kind).toBe('open'))
test('an opening keeps the other question of the turn', () =>
  expect(heard('怎么称呼您？今天来是什么问题？').asides).toEqual(['name']))

test.each(['吃过退烧药没有？', '拉肚子以后吃药了吗？', '您吃过什么药吗？', '疼起来的时候怎么办？'])(
  '%s: asks what was done for it',
  (text) => {
    expect(heard(text).asides).toContain('tried')
    expect(topics(text)).toEqual([])
  },
)
test.each(['以前做过肠镜吗？', '做过心电图吗？', '脑袋拍过CT没？'])(
  '%s: asks for a past test',
  (text) => expect(heard(text).asides).toEqual(['tests']),
)
test('an age beside an event only says when', () =>
  expect(heard('多大年龄结婚的？').asides).toEqual(['marital-status']))
test('what stands in brackets is not asked', () =>
  expect(heard('您看我说的和您的情况是否一致（叙述上述病史情况）。').speech).toBe('confirm'))
