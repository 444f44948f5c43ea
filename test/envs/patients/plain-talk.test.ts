/** What doctors say in plain English from the first word to the plan, put to patients of the shipped base. */
import { describe, expect, test } from 'vitest'
import { patientView } from '../../../src/case.js'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { rulePatientAtOnce } from '../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import type { Reply } from '../../../src/patient.js'
import type { Persona } from '../../../src/persona.js'
import { asking, interview } from '../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const sure = { forget: 0, deny: 0, overReport: 0 }
const cases = {
  dizzy: { tier: 'easy', seed: 11, n: 31 },
  belly: { tier: 'standard', seed: 11, n: 12 },
  child: { tier: 'standard', seed: 11, n: 15 },
  low: { tier: 'hard', seed: 11, n: 30 },
} as const

/** The replies to some questions in English. */
function talk(
  who: keyof typeof cases,
  questions: readonly string[],
  persona: Persona = {},
): readonly Reply[] {
  const view = { ...patientView(generateCase(knowledge, cases[who])), noise: sure }
  const patient = rulePatientAtOnce({ knowledge, persona })
  return interview(patient, questions, asking(view, { language: 'en', seed: 5 })).map(
    ({ reply }) => reply,
  )
}
const last = (...given: Parameters<typeof talk>): Reply => talk(...given).at(-1)!

describe('the start of a consultation', () => {
  test.each([
    "Hello, come on in and take a seat. What's brought you in?",
    "Good morning, have a seat. So what's brought you here today?",
    "Hi there, I'm Dr Shah. What has brought you along to us?",
  ])('%s', (question) => {
    expect(last('dizzy', [question]).understood).toBe('open')
  })

  test.each([
    "I'd like to hear more about it, take your time.",
    'Tell me a bit more, no rush.',
    'I want to know more about this, take your time.',
  ])('is followed by more on: %s', (question) => {
    expect(last('dizzy', ["What's brought you in?", question]).understood).toBe('open')
  })
})

describe('more of what a question names', () => {
  test.each([
    'About how many cigarettes is it a day?',
    'How many cigarettes do you get through?',
    'Roughly how many cigarettes a day?',
  ])('%s', (question) => {
    expect(last('dizzy', [question]).text).toContain('About ten a day.')
    expect(last('belly', [question]).text).not.toContain('count')
  })

  test.each([
    'When was the first day of your last period?',
    'Can you remember the date of your last period?',
    'What was the first day of your last period?',
  ])('%s', (question) => {
    expect(last('belly', [question]).text).toContain('Last week')
  })

  test.each([
    'do you manage the stairs, or do they leave you puffing?',
  ])('is told without what was said before: %s', (question) => {
    const { text } = last('dizzy', ['Are you short of breath?', question])
    expect(text).toContain('One flight of stairs')
    expect(text).not.toMatch(/get enough|:/)
  })

  test('what nobody took out is still there', () => {
    for (const question of [
      'Have you still got your appendix?',
      'Do you still have your appendix?',
    ])
      expect(last('belly', [question]).text).toMatch(/^Yes, /)
    expect(last('belly', ['Have you had your appendix out?']).text).toMatch(/^No, /)
  })
})

describe('a summing-up', () => {
  test.each([
    'So to sum up: fever for a few days, a cough and a rash. Have I got that right?',
    'Just to recap, she has a fever and she coughs. Is that right?',
    'So, a fever, a cough and a sore throat. Did I get everything right?',
  ])('is confirmed: %s', (question) => {
    expect(last('child', [question]).text).toMatch(/^(?!No\b|Not )/)
  })

  test('of something wrong is put right, and again where the doctor asks what it was', () => {
    const [wrong, again] = talk('child', [
      'So to sum up: she has a cough and vomiting. Have I got that right?',
      'Which bit did I get wrong?',
    ])
    expect(wrong?.told).toContainEqual({ finding: 'vomiting', state: 'absent' })
    expect(again?.text).toBe(wrong?.text)
  })
})

describe('the gravest questions', () => {
  test.each([
    "Have you thought about how you'd do it? Any plan?",
    'I mean ending your life. Have you made any plans, or got tablets put by?',
    'Do you have a plan to end your life?',
  ])('are answered plainly by a confused and short-spoken patient: %s', (question) => {
    expect(last('low', [question], { confused: 3, terse: 3 }).text).toContain(
      'No, no plan. They are only thoughts.',
    )
  })
})

test('a plan to have somebody see the patient is no goodbye', () => {
  for (const plan of [
    "I'm going to ask the surgeons to see you now.",
    "I'd like the crisis team to see you today.",
    'The eye doctor will come and see you shortly.',
  ])
    expect(last('belly', [plan]).text).not.toMatch(/bye/i)
})
