import { describe, expect, test } from 'vitest'
import {
  findingSentence,
  isOpenQuestion,
} from '../../../../src/envs/patients/nlg/finding-sentences.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Persona } from '../../../../src/persona.js'
import { withoutOpening } from '../../../../src/text/reply-openings.js'
import { asking, interview, spokenView } from '../../../fixtures/spoken-case.js'
import { spokenKnowledge } from '../../../fixtures/spoken-knowledge.js'

const shipped = loadKnowledge()
const finding = (id: string) => shipped.finding.get(id)!
const saying = (id: string, state: string, persona: Persona, seed: number, language = 'en') =>
  findingSentence(
    finding(id),
    state,
    asking(spokenView({}, { persona }), { seed, language: language as 'en' | 'zh' }),
  )!
const seeds = Array.from({ length: 60 }, (_, seed) => seed)

test.each([
  'How is your appetite?',
  'Is her hearing all right?',
  'So what colour is it?',
  '胃口怎么样？',
  '大小便正常吗？',
])('"%s" asks for no yes or no', (text) => expect(isOpenQuestion(text)).toBe(true))

test.each(['Do you cough when you lie down?', 'Have you got a rash?', '咳嗽吗？', '有没有痰？'])(
  '"%s" asks for one',
  (text) => expect(isOpenQuestion(text)).toBe(false),
)

describe('a finding', () => {
  const patient = rulePatientAtOnce({ knowledge: spokenKnowledge() })

  test('is told in the same words again, since words may differ in a detail', () => {
    for (const seed of seeds) {
      const questions = ['Do you have a cough?', 'Any fever?', 'Do you have a cough?']
      const talk = interview(patient, questions, asking(spokenView({ cough: 'present' }), { seed }))
      const [first, , again] = talk.map(({ reply }) => reply.text)
      const core = withoutOpening(first!, 'en') ?? first!
      expect(again!.toLowerCase()).toContain(core.slice(1).toLowerCase())
    }
  })

  test('is told twice over by the verbose alone, and never the same words twice', () => {
    const count = (persona: Persona) =>
      seeds.filter(
        (seed) => (saying('cough', 'present', persona, seed).match(/\./g) ?? []).length > 1,
      ).length
    expect(count({})).toBe(0)
    expect(count({ terse: 3 })).toBe(0)
    expect(count({ verbose: 3 })).toBeGreaterThan(15)
    for (const seed of seeds) {
      const parts = saying('cough', 'present', { verbose: 3 }, seed).split('. ')
      expect(new Set(parts).size).toBe(parts.length)
    }
  })

  test('is told in plain words by people of little schooling', () => {
    for (const seed of seeds) {
      const persona = { lowLiteracy: 3 }
      expect(saying('fever', 'present', persona, seed)).not.toMatch(/temperature/)
      expect(saying('painkiller-use', 'present', persona, seed)).not.toMatch(/ibuprofen/)
      expect(saying('drug-allergy', 'present', persona, seed, 'zh')).not.toMatch(/青霉素/)
    }
  })
})
