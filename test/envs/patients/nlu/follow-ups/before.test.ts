/** Earlier times of the complaint, and what is asked in other words of what is spoken of. */
import { expect, test } from 'vitest'
import { patientView } from '../../../../../src/case.js'
import { generateCase } from '../../../../../src/cases/generator/generate.js'
import { rulePatientAtOnce } from '../../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../../src/knowledge/load.js'
import { asking } from '../../../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge, persona: {} })

/** The first generated adult who comes with a finding. */
function comingWith(finding: string) {
  for (let n = 0; n < 3000; n++) {
    const view = patientView(generateCase(knowledge, { tier: 'easy', seed: 7, n }))
    if (view.demographics.speaker === 'self' && view.complaint.findings[0] === finding)
      return { ...view, noise: { forget: 0, deny: 0, overReport: 0 } }
  }
  throw new Error(`Expected an adult with ${finding}, got none`)
}

/** The reply to a question after the patient told the complaint. */
function reply(finding: string, question: string) {
  const view = comingWith(finding)
  const utterance = 'What brings you in today?'
  const first = patient(utterance, asking(view))
  return patient(question, asking(view, { dialogue: [{ utterance, reply: first }] }))
}

test.each([
  'OK, any headaches in the past, before this?',
  'And, in the past, have you had any headache before?',
  'Do you normally get headaches?',
])('whether it was there before: %s', (question) => {
  expect(reply('headache', question).asked).toEqual(['previous-episodes'])
})

test('now is not before', () => {
  expect(reply('headache', 'Is the headache worse than before?').asked).not.toContain(
    'previous-episodes',
  )
  expect(reply('headache', 'Have you ever had a fever before?').asked).not.toContain(
    'previous-episodes',
  )
})

test('nobody asks back whether what is spoken of was meant', () => {
  const { understood } = reply('headache', 'Is the headache something you could ski with?')
  expect(understood).not.toBe('ambiguous')
})

test('a greeting is not an open question', () => {
  const view = comingWith('headache')
  expect(patient('Hi. How are you?', asking(view)).told).toEqual([])
})
