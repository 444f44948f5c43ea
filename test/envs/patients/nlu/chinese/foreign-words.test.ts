import { describe, expect, test } from 'vitest'
import { foreignShare } from '../../../../../src/envs/patients/nlu/chinese/foreign-words.js'
import { understand } from '../../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../../src/knowledge/load.js'
import { normaliseText } from '../../../../../src/text/phrase-search.js'

const knowledge = loadKnowledge()

describe('words that are foreign to a finding', () => {
  test('a question as it is written has none', () => {
    for (const { id, ask } of knowledge.findings.slice(0, 40)) {
      expect(foreignShare(knowledge, id, normaliseText(ask.zh[0]!).text)).toBe(0)
    }
  })
  test('a detail may say the words of its complaint', () => {
    expect(foreignShare(knowledge, 'headache-timing', '头疼早上重')).toBe(0)
  })
  test('what nobody asks for it with counts by its share', () => {
    expect(foreignShare(knowledge, 'cough', '槟榔')).toBe(1)
    expect(foreignShare(knowledge, 'cough', '咳嗽槟榔')).toBe(0.5)
    expect(foreignShare(knowledge, 'no-such-finding', '槟榔')).toBe(0)
  })
})

describe('a detail named with its complaint is of it', () => {
  test.each([
    ['Does anything make your headache worse?', 'headache-aggravating'],
    ['What makes your breathing worse?', 'breathlessness-aggravating'],
    ['How did the fever come on?', 'fever-onset'],
    ['胸口是闷疼、压着疼还是刺疼？', 'chest-pain-character'],
  ])('%s', (text, finding) => {
    expect(understand(knowledge, text).topics.map((topic) => topic.finding)).toEqual([finding])
  })
})

describe('what relatives have is asked for where somebody is named', () => {
  test.each([
    ['So, do you get these headaches on your commute in to work?', false],
    ['Do headaches run in your family?', true],
  ])('%s', (text, family) => {
    const ids = understand(knowledge, text).topics.map(({ finding }) => finding)
    expect(ids.includes('family-headache')).toBe(family)
  })
})
