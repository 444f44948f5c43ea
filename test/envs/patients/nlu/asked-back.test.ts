import { describe, expect, test } from 'vitest'
import { type PatientView, patientView } from '../../../../src/case.js'
import { generateCase } from '../../../../src/cases/generator/generate.js'
import { nameToAskBack } from '../../../../src/envs/patients/nlu/follow-ups/asked-back.js'
import { understand } from '../../../../src/envs/patients/nlu/understand.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Exchange, Reply } from '../../../../src/patient.js'
import type { Language } from '../../../../src/turn.js'
import { asking } from '../../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge, persona: {} })

/** The first generated adult who has a finding beside what they came with. */
function adultWith(finding: string): PatientView {
  for (let n = 0; n < 3000; n++) {
    const view = patientView(generateCase(knowledge, { tier: 'easy', seed: 7, n }))
    const { demographics, findings, complaint } = view
    const beside = demographics.speaker === 'self' && !complaint.findings.includes(finding)
    if (beside && findings.get(finding)?.state === 'present')
      return { ...view, noise: { forget: 0, deny: 0, overReport: 0 } }
  }
  throw new Error(`Expected an adult with ${finding} beside the complaint, got none`)
}

/** The replies to questions one after the other. */
function converse(view: PatientView, texts: readonly string[], language: Language) {
  const dialogue: Exchange[] = []
  for (const utterance of texts) {
    const reply: Reply = patient(utterance, asking(view, { dialogue: [...dialogue], language }))
    dialogue.push({ utterance, reply })
  }
  return dialogue.map(({ reply }) => reply)
}

/** Questions that are near a finding and not near enough. */
const vague = [
  ['en', 'Do you tolerate heat badly?', 'Yes, that’s what I meant.'],
  ['zh', '您是不是老端不稳碗？', '对，就是问这个。'],
] as const

describe('asking back by name', () => {
  test.each(vague)('%s: %s', (language, question, yes) => {
    const { near: finding = '' } = understand(knowledge, question)
    const view = adultWith(finding)
    const [, asked, told] = converse(view, ['hello', question, yes], language)
    expect(asked).toMatchObject({ understood: 'ambiguous', told: [] })
    const name = nameToAskBack(knowledge, finding, language)
    expect(name).toBeDefined()
    expect(asked?.text).toContain(name)
    expect(told).toMatchObject({ understood: 'answered', told: [{ finding, state: 'present' }] })
  })
  test('a yes to anything else is no question', () => {
    const view = adultWith('thyroid-heat-intolerance')
    const [, , reply] = converse(view, ['hello', 'Have you got a cough?', 'Yes.'], 'en')
    expect(reply).toMatchObject({ understood: 'courtesy', told: [] })
  })
  test('names no secret, no finding of an examination and no clause', () => {
    const named = knowledge.findings.filter(({ id }) => nameToAskBack(knowledge, id, 'en'))
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter(({ knownBy, stigma }) => knownBy === 'exam' || stigma > 0)).toEqual([])
    expect(nameToAskBack(knowledge, 'sleep-little-needed', 'en')).toBeUndefined()
  })
})
