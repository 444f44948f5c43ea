import { describe, expect, test } from 'vitest'
import { type PatientView, patientView } from '../../../../../src/case.js'
import { generateCase } from '../../../../../src/cases/generator/generate.js'
import { rulePatientAtOnce } from '../../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../../src/knowledge/load.js'
import type { Language } from '../../../../../src/turn.js'
import { asking } from '../../../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge, persona: {} })

/** The first generated adult who has a finding. */
function adultWith(finding: string): PatientView {
  for (let n = 0; n < 3000; n++) {
    const view = patientView(generateCase(knowledge, { tier: 'easy', seed: 7, n }))
    const { demographics, findings } = view
    if (demographics.speaker === 'self' && findings.get(finding)?.state === 'present')
      return { ...view, noise: { forget: 0, deny: 0, overReport: 0 } }
  }
  throw new Error(`Expected an adult with ${finding}, got none`)
}

/** The reply to a question right after the finding was asked for. */
function replyAfter(finding: string, question: string, language: Language) {
  const view = adultWith(finding)
  const utterance = knowledge.finding.get(finding)?.ask[language][0] ?? ''
  const first = patient(utterance, asking(view, { language }))
  expect(first.told).toContainEqual({ finding, state: 'present' })
  return patient(question, asking(view, { dialogue: [{ utterance, reply: first }], language }))
}

/** Questions that name nothing, each with the finding spoken of and the one that it is about. */
const bound = [
  ['en', 'palpitations', 'Is it there now?', 'palpitations'],
  ['en', 'palpitations', 'Any pattern to it?', 'palpitations'],
  ['en', 'headache', 'How many times yesterday?', 'headache'],
  ['en', 'headache', 'Is it still there at the moment?', 'headache'],
  ['zh', 'headache', '一般什么时候出现？', 'headache-timing'],
  ['zh', 'headache', '什么情况下会这样？', 'headache-aggravating'],
  ['zh', 'skin-rash', '有什么规律吗？', 'rash-timing'],
  ['zh', 'diarrhoea', '多久来一次？', 'diarrhoea'],
  ['zh', 'diarrhoea', '哪一边？', 'diarrhoea'],
  ['zh', 'diarrhoea', '多长时间了？', 'illness-duration'],
] as const

/** The same, about no finding: the beginning, the course. */
const broad = [
  ['en', 'palpitations', 'How did it start?'],
  ['en', 'ear-ringing', 'How did it start?'],
  ['zh', 'headache', '越来越重还是好点了？'],
  ['zh', 'palpitations', '现在是更厉害还是差不多？'],
] as const

describe('a question that names nothing is about what was spoken of', () => {
  test.each(bound)('%s, after %s: %s', (language, finding, question, about) => {
    const { asked, understood } = replyAfter(finding, question, language)
    expect(asked).toEqual([about])
    expect(['answered', 'repeated']).toContain(understood)
  })
  test.each(broad)('%s, after %s: %s', (language, finding, question) => {
    const { asked, told, understood } = replyAfter(finding, question, language)
    expect({ asked, told, understood }).toEqual({ asked: [], told: [], understood: 'answered' })
  })
})
