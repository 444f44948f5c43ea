/** Chinese questions of played consultations that were once misread, with other wordings of each. */
import { expect, test } from 'vitest'
import { understand } from '../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()
const asides = (text: string) => understand(knowledge, text).asides
const topics = (text: string) => understand(knowledge, text).topics.map(({ finding }) => finding)

test.each([
  '芳芳你好。妈妈您慢慢说，孩子这个喘是怎么回事',
  '奶奶您别急，孩子这是怎么了',
  '爸爸先说说，孩子怎么不舒服',
])('%s: a form of address is no question about relatives', (text) => {
  expect(understand(knowledge, text).kind).toBe('open')
})

test.each(['奶奶有糖尿病吗', '你妈妈有糖尿病吗', '爸爸妈妈有没有糖尿病'])(
  '%s: asks about relatives',
  (text) => expect(topics(text)).toEqual(['family-sugar']),
)

test.each([
  ['一天喝几杯水', 'water-intake'],
  ['平时爱喝水吗', 'water-intake'],
  ['喝水够不够', 'water-intake'],
  ['养不养猫狗', 'pets-names'],
  ['家里养猫吗', 'pets-names'],
  ['养没养狗啊', 'pets-names'],
  ['那你上什么班', 'job'],
  ['平时干什么活', 'job'],
  ['您担心什么', 'concerns'],
  ['那您担心啥呢', 'concerns'],
  ['做过手术吗', 'old-operations'],
  ['以前做过手术没有', 'old-operations'],
  ['跟刚开始比，现在是更厉害了还是差不多', 'course'],
  ['现在跟一开始比怎么样', 'course'],
  ['右边的眼睛能闭严实吗', 'eye-closing'],
  ['右眼闭得上吗', 'eye-closing'],
  ['抬抬眉毛，两边一样吗', 'eye-closing'],
  ['你爸妈在外面吗', 'companion'],
])('%s: asks %s', (text, aside) => expect(asides(text)).toEqual([aside]))

test.each(['会不会被尿憋醒', '夜里老被尿憋醒吗', '晚上让尿憋醒几回'])(
  '%s: asks about passing water often',
  (text) => expect(topics(text)).toEqual(['frequent-urination']),
)

test.each([
  '早上好，等久了吧？说说看，什么事儿让您来看病的',
  '今天怎么不好受',
  '您好，什么毛病来看的',
])('%s: is an open question', (text) => expect(understand(knowledge, text).kind).toBe('open'))

test.each([
  '进来坐吧。我是李大夫，今天我先跟您聊聊情况，行吗',
  '我先问您几个问题，好吗',
  '我跟您谈一谈，可以吧',
])('%s: is agreed to', (text) => expect(understand(knowledge, text).kind).toBe('courtesy'))

test.each(['那只手举得起来吗', '那个瓶盖拧得动吗', '右边能动吗'])(
  '%s: is not denied like a symptom',
  (text) => expect(understand(knowledge, text).expects).not.toBe('no'),
)
