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

  test.each(['do you manage the stairs, or do they leave you puffing?'])(
    'is told without what was said before: %s',
    (question) => {
      const { text } = last('dizzy', ['Are you short of breath?', question])
      expect(text).toContain('One flight of stairs')
      expect(text).not.toMatch(/get enough|:/)
    },
  )

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

describe('two details in one question', () => {
  test.each([
    'How long have you had it and does it come and go?',
    'When did that start and is it there all the time?',
  ])('get both answers: %s', (question) => {
    const { asked, text } = last('dizzy', ["What's brought you in?", question])
    expect(asked).toEqual(['illness-duration', 'dizziness'])
    expect(text).toMatch(/months.*(?:time|come|goes|On and off)/)
  })

  test.each([
    'When did the breathlessness start and how far can you walk?',
    'And the breathlessness, when did that start and how far can you walk before you stop?',
  ])('are told apart from a topic of their own: %s', (question) => {
    const { asked, text } = last('dizzy', [question])
    expect(asked[0]).toMatch(/^(?:breathlessness-onset|illness-duration)$/)
    expect(text).toContain('One flight of stairs')
  })
})

describe('a question of one thing beside another', () => {
  test.each([
    'Has she been round anyone else with a rash, at nursery maybe?',
    'Has anybody at nursery had a rash?',
    'Has she been in contact with anyone who is ill?',
  ])('is about those around the patient: %s', (question) => {
    expect(last('child', [question]).asked).toEqual(['sick-contact'])
  })

  test.each([
    'Did the rash start before the fever or after it?',
    'What came first, the rash or the fever?',
  ])('is about the order: %s', (question) => {
    expect(last('child', [question]).text).toMatch(/same time|close upon/)
  })

  test.each([
    'Does walking or coughing make it hurt more?',
    'Does it hurt more going over bumps in the car?',
  ])('is about what changes the pain: %s', (question) => {
    expect(last('belly', ["What's brought you in?", question]).asked).toEqual(['belly-jolt-pain'])
  })

  test('is a correction of what was asked', () => {
    const question = 'I meant surgery - have you ever had an operation?'
    expect(last('belly', [question]).text).toMatch(/operated on/)
  })
})

test('grave news is not just noted', () => {
  const [one, two] = talk('belly', [
    "I'm going to ask the surgeons to see you now.",
    "We'd like to admit you to the ward.",
  ])
  for (const reply of [one, two]) expect(reply?.text).not.toMatch(/^(?:Okay|Understood|Right)/)
  expect(one?.text).not.toBe(two?.text)
})
