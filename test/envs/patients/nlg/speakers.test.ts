import { describe, expect, test } from 'vitest'
import {
  caregiverSentences,
  stockSentences,
} from '../../../../src/envs/patients/nlg/stock-sentences.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import type { Language } from '../../../../src/turn.js'
import { asking, interview, spokenView } from '../../../fixtures/spoken-case.js'
import { spokenKnowledge } from '../../../fixtures/spoken-knowledge.js'

const knowledge = spokenKnowledge()
const patient = rulePatientAtOnce({ knowledge })
const sick = { fever: 'present', cough: 'present', 'abdominal-pain': 'present' }
const as = (
  speaker: 'self' | 'caregiver' | 'interpreter',
  questions: readonly string[],
  { sex = 'M', language = 'en' as Language, persona = {}, seed = 1 } = {},
) =>
  interview(
    patient,
    questions,
    asking(spokenView(sick, { persona, demographics: { sex, speaker } }), { language, seed }),
  ).map(({ reply }) => reply)
const spoken = knowledge.findings.filter(({ knownBy }) => knownBy === 'patient')
const asks = (language: Language) => spoken.map(({ ask }) => ask[language][0] ?? '')

describe('a caregiver', () => {
  test.each(['en', 'zh'] as const)(
    'tells the same states in the third person, in %s',
    (language) => {
      const own = as('self', asks(language), { language })
      const theirs = as('caregiver', asks(language), { language })
      expect(theirs.map(({ told }) => told)).toEqual(own.map(({ told }) => told))
      for (const { text } of theirs) {
        expect(text).not.toMatch(/\b(?:my|I've|I keep|I cough|I do|mine)\b/)
        expect(text).not.toMatch(/我/)
      }
    },
  )

  test('speaks of a girl as she', () => {
    const [reply] = as('caregiver', ['Are you coughing?', 'Coughing?'], { sex: 'F' })
    expect(reply!.text).toMatch(/^(?:Yes, s|S)he (?:keeps coughing|coughs a lot)\.$/)
  })

  test('says what cannot be seen from outside, and that this is why they came', () => {
    const [exam, secret] = as('caregiver', [
      'Is your white cell count raised?',
      'What is your diagnosis?',
    ])
    expect(caregiverSentences['exam-only']?.en).toContain(exam!.text)
    expect(caregiverSentences.refused?.en).toContain(secret!.text)
  })
})

describe('an interpreter', () => {
  test.each([
    ['en', 'F', /^(?:She says|She tells me|As she puts it): /],
    ['en', 'M', /^(?:He says|He tells me|As he puts it): /],
    ['zh', 'F', /^(?:她说|她跟我说|她的意思是)：/],
    ['zh', 'M', /^(?:他说|他跟我说|他的意思是)：/],
  ] as const)(
    'in %s for %s says now and then whose words these are: %s',
    (language, sex, begins) => {
      const own = as('self', asks(language), { language, sex })
      const theirs = as('interpreter', asks(language), { language, sex })
      const introduced = theirs.map(({ text }) => begins.test(text))
      expect(introduced[0]).toBe(true)
      expect(introduced.filter(Boolean)).toHaveLength(Math.ceil(theirs.length / 4))
      expect(theirs.map(({ text }) => text.replace(begins, '').toLowerCase())).toEqual(
        own.map(({ text }) => text.toLowerCase()),
      )
      expect(theirs.map(({ told }) => told)).toEqual(own.map(({ told }) => told))
    },
  )

  test('passes on two things, and asks for the rest of many', () => {
    const [two] = as('interpreter', ['Any fever or cough?'])
    expect(two!.told).toHaveLength(2)
    const [many] = as('interpreter', ['Any fever, cough, vomiting or chest pain?'])
    expect(many!.told.length).toBeLessThan(many!.asked.length)
    expect(many!.told).toHaveLength(3)
  })

  test('says again without saying so, for the colon is spoken for', () => {
    const [first, again] = as('interpreter', ['Any fever?', 'Any fever?'])
    expect(again).toEqual({ ...first, text: again!.text, understood: 'repeated' })
    expect(stockSentences.again.en.some((words) => again!.text.includes(words))).toBe(false)
  })
})

describe('an impatient patient', () => {
  test('answers two short questions like anybody, and fewer of many', () => {
    const told = (question: string, persona: object) =>
      as('self', [question], { persona })[0]!.told.length
    for (const [question, numbers] of [
      ['Any fever or cough?', [2, 2, 2, 2]],
      ['Any fever, cough, vomiting or chest pain?', [4, 4, 3, 3]],
    ] as const)
      expect(
        [{}, { impatient: 1 }, { impatient: 2 }, { impatient: 3 }].map((dials) =>
          told(question, dials),
        ),
      ).toEqual(numbers)
  })
})

describe('a terse patient', () => {
  test('does not say that it was said before', () => {
    const [, again] = as('self', ['Any fever?', 'Any fever?'], { persona: { terse: 3 } })
    expect(again!.understood).toBe('repeated')
    expect(stockSentences.again.en.some((words) => again!.text.includes(words))).toBe(false)
  })
})

describe('an attribute asked for by itself', () => {
  const located = {
    ...knowledge,
    findings: knowledge.findings.map((finding) =>
      finding.id === 'pain-site' ? { ...finding, attribute: 'site' as const } : finding,
    ),
  }
  const patient = rulePatientAtOnce({ knowledge: located })
  const where = 'Where exactly?'

  test('is that of the complaint last spoken of', () => {
    const view = spokenView({ 'abdominal-pain': 'present', 'pain-site': 'upper' })
    const [, reply] = interview(patient, ['Do you have belly pain?', where], asking(view))
    expect(reply!.reply.told).toEqual([{ finding: 'pain-site', state: 'upper' }])
  })

  test('is that of the chief complaint before anything was spoken of', () => {
    const chiefComplaint = { text: { en: 'My belly hurts.' }, findings: ['abdominal-pain'] }
    const states = { 'abdominal-pain': 'present', 'pain-site': 'lower-right' }
    const reply = patient(where, asking(spokenView(states, { chiefComplaint })))
    expect(reply.told).toEqual([{ finding: 'pain-site', state: 'lower-right' }])
  })

  test('that nothing records gets a general answer, which reveals nothing', () => {
    const view = spokenView({ cough: 'present' })
    const [, reply] = interview(patient, ['Do you have a cough?', where], asking(view))
    expect(reply!.reply).toMatchObject({ understood: 'answered', asked: ['cough'], told: [] })
    expect(reply!.reply.text).toMatch(/spot|place/)
  })
})
