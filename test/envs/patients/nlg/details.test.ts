import { describe, expect, test } from 'vitest'
import { type Case, patientView } from '../../../../src/case.js'
import { generateCase } from '../../../../src/cases/generator/generate.js'
import { detailSentence, ownDetail } from '../../../../src/envs/patients/nlg/details.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Exchange, PatientContext } from '../../../../src/patient.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge, persona: {} })
const cases = Array.from({ length: 600 }, (_, n) =>
  generateCase(knowledge, { tier: n % 2 ? 'easy' : 'standard', seed: 5, n }),
)
const noise = { forget: 0, deny: 0, overReport: 0 }
const stateOf = (truth: Case, id: string) => truth.findings.find((one) => one.id === id)?.state

const contextOf = (
  truth: Case,
  language: 'en' | 'zh' = 'en',
  seed = 3,
  dialogue: readonly Exchange[] = [],
): PatientContext => ({
  view: { ...patientView(truth), persona: {}, noise },
  dialogue,
  seed,
  language,
})

/** Replies to questions in one consultation. */
function interview(truth: Case, language: 'en' | 'zh', questions: readonly string[], seed = 3) {
  const dialogue: Exchange[] = []
  for (const utterance of questions)
    dialogue.push({
      utterance,
      reply: patient(utterance, contextOf(truth, language, seed, [...dialogue])),
    })
  return dialogue.map(({ reply }) => reply)
}

const adults = cases.filter(
  ({ demographics: { speaker, age } }) => speaker === 'self' && (age?.v ?? 0) > 17,
)
const having = (states: Readonly<Record<string, string>>) =>
  adults.filter((truth) =>
    Object.entries(states).every(([id, state]) => stateOf(truth, id) === state),
  )

describe('a side', () => {
  const sided = having({ 'face-droop': 'present', 'limb-side': 'one-side' })

  test('is the same for arm, leg and face, and the same whenever it is asked', () => {
    expect(sided.length).toBeGreaterThan(3)
    const sides = sided.flatMap((truth, n) => {
      const replies = interview(
        truth,
        'en',
        [
          'Is your face drooping?',
          'Left or right?',
          'Which arm or leg is weak?',
          'Which side of the face is it?',
        ],
        n,
      )
      const said = [1, 2, 3].map((r) => /\b(?:left|right)\b/.exec(replies[r]!.text)?.[0])
      expect(new Set(said).size, replies.map(({ text }) => text).join(' | ')).toBe(1)
      return said[0] ?? []
    })
    expect(new Set(sides)).toEqual(new Set(['left', 'right']))
  })
})

describe('a number', () => {
  const units = {
    hours: /[3-5]|(?:three|four|five) hours/i,
    days: /(?:three|four|five) days/i,
    weeks: /(?:two|three) weeks/i,
    months: /(?:three|four|five) months/i,
  }

  test.each(Object.entries(units))('fits an illness of %s', (state, number) => {
    const truths = having({ 'illness-duration': state }).slice(0, 12)
    expect(truths.length).toBeGreaterThan(3)
    for (const truth of truths) {
      const [rough, exactly, again] = interview(truth, 'en', [
        'How long has this been going on?',
        'How many days exactly?',
        'And how long is that exactly?',
      ])
      expect(rough!.told).toEqual([{ finding: 'illness-duration', state }])
      expect(exactly!.text).toMatch(number)
      const count = /three|four|five|two/i
      expect(count.exec(again!.text)?.[0].toLowerCase()).toBe(
        count.exec(exactly!.text)?.[0].toLowerCase(),
      )
    }
  })
})

describe('the daily medicine', () => {
  const names = {
    'high-blood-pressure': /amlodipine/,
    'diabetes-known': /metformin/,
    'heart-disease-known': /bisoprolol|aspirin/,
  }

  test('has a name that fits what the patient tells of other illnesses', () => {
    const takers = having({ 'regular-medication': 'present' })
    expect(takers.length).toBeGreaterThan(20)
    for (const truth of takers) {
      const [, reply] = interview(truth, 'en', ['Are you taking any medication?', 'Which one?'])
      const said = reply!.text.toLowerCase()
      for (const [illness, name] of Object.entries(names))
        expect(name.test(said), `${illness}: ${said}`).toBe(stateOf(truth, illness) === 'present')
      expect(reply!.told).toEqual([])
    }
  })

  test('is not named for an illness that was denied', () => {
    const [truth] = having({
      'regular-medication': 'present',
      'high-blood-pressure': 'present',
      'diabetes-known': 'absent',
      'heart-disease-known': 'absent',
    })
    const context = contextOf(truth!)
    const denying = { ...context, view: { ...context.view, noise: { ...noise, deny: 1 } } }
    expect(ownDetail(knowledge, 'regular-medication', 'which', context)).toMatch(/amlodipine/i)
    expect(ownDetail(knowledge, 'regular-medication', 'which', denying)).not.toMatch(/amlodipine/i)
  })
})

test.each([
  ['en', 'Have you vomited?', 'How often?', /three|four/i],
  ['en', 'Have you vomited?', 'How many times a day?', /three|four/i],
  ['zh', '您有没有呕吐？', '一天几次？', /[三四]/],
  ['en', 'Have you lost weight?', 'How much?', /pound|stone/i],
  ['zh', '您最近瘦了吗？', '瘦了多少？', /斤/],
  ['en', 'Have you had diarrhoea?', 'When did you last go?', /ago|came/i],
  ['zh', '您晕倒过没有？', '晕了多久？', /半分钟|一分钟/],
] as const)('in %s, "%s" "%s" gets what was asked', (language, first, then, answer) => {
  const [asked] = interview(adults[0]!, language, [first])
  const finding = asked!.asked[0]!
  const truths = having({ [finding]: 'present' }).slice(0, 8)
  expect(truths.length).toBeGreaterThan(2)
  for (const truth of truths) {
    const [, reply] = interview(truth, language, [first, then])
    expect(reply!.text).toMatch(answer)
    expect(reply!.told).toEqual([])
  }
})

test.each(['en', 'zh'] as const)(
  'in %s, every symptom has something to say of each attribute',
  (language) => {
    const attributes = [
      'side',
      'site',
      'frequency',
      'severity',
      'aggravating',
      'relieving',
      'last',
      'doing',
    ] as const
    const vague =
      /any more exactly|more precisely|as much as I know|No idea|only guess|说不上来|说不清|知道这么多|记不清|那么细/
    const symptoms = knowledge.findings.filter(
      ({ kind, knownBy, parent }) => kind === 'symptom' && knownBy === 'patient' && !parent,
    )
    const context = contextOf(adults[0]!, language)
    for (const { id } of symptoms)
      for (const attribute of attributes)
        expect(detailSentence(knowledge, id, attribute, context), `${id} ${attribute}`).not.toMatch(
          vague,
        )
  },
)

describe('"as I said"', () => {
  const again =
    /^(?:As I said|Like I told|I mentioned|I did say|As mentioned|Well, again|Once more)/
  const [truth] = having({ cough: 'present' })

  test('comes when the same is asked again', () => {
    const [, reply] = interview(truth!, 'en', ['Do you have a cough?', 'Do you have a cough?'])
    expect(reply!.text).toMatch(again)
  })

  test.each([
    'How does the cough affect your singing?',
    'Does the cough come with the fever?',
    'How often do you cough?',
  ])('not in answer to %s', (question) => {
    const [, reply] = interview(truth!, 'en', ['Do you have a cough?', question])
    expect(reply!.text).not.toMatch(again)
  })
})
