/** How the shipped knowledge base understands Chinese doctors: what of a sentence is the question. */
import { describe, expect, test } from 'vitest'
import { understand } from '../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'

const heard = (text: string) => understand(loadKnowledge(), text)
const asked = (text: string) => heard(text).topics.map(({ finding }) => finding)

describe('a question about a complaint', () => {
  test.each([
    ['拉肚子的时候您是怎么处理的？', 'tried'],
    ['您觉得头晕是什么原因引起的？', 'cause'],
    ['咳嗽影响您上班吗？', 'impact'],
    ['流鼻血有多久了？', 'nosebleeds'],
    ['有没有什么慢性病，比如糖尿病、高血压？', 'past-health'],
  ])('%s is not one about having it', (text, aside) => {
    expect(asked(text)).toEqual([])
    expect(heard(text).asides).toContain(aside)
  })

  test('about a detail of it still asks for the detail', () => {
    expect(asked('胸口疼起来歇一会儿能缓解吗？')).toEqual(['chest-pain-relieving'])
  })
})

describe('other people', () => {
  test.each([
    ['您同事里有没有人也咳嗽？', ['sick-contact']],
    ['您接触过肺结核患者吗？', ['sick-contact']],
    ['老一辈里有血糖高的吗？', ['family-sugar']],
    ['您爱人身体好吗？', []],
  ])('%s is not about the patient', (text, findings) => {
    expect(asked(text)).toEqual(findings)
  })

  test("a partner's health is not the patient's past", () => {
    expect(heard('您爱人身体怎么样？').asides).not.toContain('past-health')
  })
})

describe('words run together', () => {
  test.each([
    ['有没有头晕恶心？', ['dizziness', 'nausea']],
    ['烟酒您沾不沾？', ['smoking', 'heavy-drinking']],
    ['吃饭、睡眠怎么样？', ['poor-appetite', 'poor-sleep']],
    ['有没有咳嗽有痰的情况？', ['sputum']],
  ])('%s', (text, findings) => {
    expect(asked(text)).toEqual(findings)
  })

  test('stool and urine in one word are two questions', () => {
    expect(heard('大小便正常吗？').questions).toBe(2)
  })
})

describe('a detail of no named complaint', () => {
  test.each([
    ['是突然出现的还是慢慢出现的？', 'onset'],
    ['是持续的还是间断的？', 'pattern'],
  ] as const)('%s is left to the dialogue', (text, attribute) => {
    expect(heard(text)).toMatchObject({ kind: 'attribute', topics: [] })
    expect(heard(text).loose).toContain(attribute)
  })
})

describe('acts', () => {
  test.each([
    ['您还有什么不明白的地方吗？', 'courtesy'],
    ['以前拍过片子没有？', 'aside'],
    ['有什么可以帮您的？', 'open'],
    ['您这次生病的经过能说说吗？', 'open'],
  ] as const)('%s is taken for %s', (text, kind) => {
    expect(heard(text)).toMatchObject({ kind, topics: [] })
  })

  test('what the patient said of their health is asked, not praised', () => {
    expect(heard('您刚才说平时身体很好，是吗？').kind).toBe('aside')
  })
})
