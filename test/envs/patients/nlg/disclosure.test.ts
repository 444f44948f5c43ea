import { describe, expect, test } from 'vitest'
import { isTactful } from '../../../../src/envs/patients/nlg/disclosure.js'
import { stockSentences } from '../../../../src/envs/patients/nlg/stock-sentences.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import type { Persona } from '../../../../src/persona.js'
import { asking, interview, spokenView } from '../../../fixtures/spoken-case.js'
import { spokenKnowledge } from '../../../fixtures/spoken-knowledge.js'

const knowledge = spokenKnowledge()
const patient = rulePatientAtOnce({ knowledge })
const drink = 'How much alcohol do you drink?'
const kind = 'Hello, please do not worry.'
const ask = (persona: Persona, questions: readonly string[], state = 'present') =>
  interview(patient, questions, asking(spokenView({ 'heavy-drinking': state }, { persona }))).map(
    ({ reply }) => reply,
  )
const last = (persona: Persona, questions: readonly string[], state?: string) =>
  ask(persona, questions, state).at(-1)!

describe('a delicate matter', () => {
  test('is told to anybody by a patient who is neither ashamed nor distrustful', () => {
    expect(last({}, [drink]).told).toHaveLength(1)
    expect(last({ ashamed: 1 }, [drink]).told).toHaveLength(1)
  })

  test.each([{ ashamed: 3 }, { distrustful: 3 }] as Persona[])(
    'is kept back by %o, in the same words whatever its state',
    (persona) => {
      const there = last(persona, [drink], 'present')
      const absent = last(persona, [drink], 'absent')
      expect(there).toEqual(absent)
      expect(there).toMatchObject({ understood: 'withheld', asked: ['heavy-drinking'], told: [] })
      expect(stockSentences.withheld.en.some((text) => there.text.includes(text))).toBe(true)
    },
  )

  const opened = [{ finding: 'heavy-drinking', state: 'present' }]

  test.each([
    ['tact', ['Many people drink, it stays between us. How much alcohol do you drink?']],
    ['kind words twice', [kind, kind, drink]],
    ['asking again, and again', [drink, drink, drink]],
    ['kind words and asking again', [drink, kind, drink]],
  ])('is opened by %s', (_, questions) => {
    expect(last({ ashamed: 3 }, questions).told).toEqual(opened)
  })

  test.each([
    ['nothing', [drink]],
    ['kind words once', [kind, drink]],
    ['other questions', ['Do you have a cough?', 'Have you vomited?', drink]],
  ])('is not opened by %s', (_, questions) => {
    expect(last({ ashamed: 3 }, questions).told).toEqual([])
  })

  test('is no secret any more once it was told', () => {
    const tactful = 'This is confidential: how much alcohol do you drink?'
    const replies = ask({ ashamed: 3 }, [tactful, drink])
    expect(replies.map(({ told }) => told)).toEqual([opened, opened])
    expect(replies.map(({ understood }) => understood)).toEqual(['answered', 'repeated'])
  })

  test('is not volunteered', () => {
    const told = ask({ verbose: 3 }, Array(8).fill('Anything else?')).flatMap((reply) => reply.told)
    expect(told).toEqual([])
  })

  test('leaves other matters alone', () => {
    expect(last({ ashamed: 3, distrustful: 3 }, ['Do you smoke?']).told).toHaveLength(1)
  })
})

test.each([
  'I have to ask everyone this',
  'This stays between us.',
  'Lots of people have it',
  "If you don't mind, ...",
  '我会保密的，',
  '很多人都有，别不好意思',
  '方便说一下吗',
])('"%s" is tactful', (text) => expect(isTactful(text)).toBe(true))

test.each(['Do you drink?', 'Now tell me.', '喝酒吗？', ''])('"%s" is not', (text) =>
  expect(isTactful(text)).toBe(false),
)

describe('an open question', () => {
  const states = {
    fever: 'present',
    cough: 'present',
    vomiting: 'present',
    'chest-pain': 'present',
  }
  const open = 'What else is bothering you?'
  const told = (persona: Persona, questions: readonly string[] = [open]) =>
    Array.from(
      { length: 40 },
      (_, seed) =>
        interview(patient, questions, asking(spokenView(states, { persona }), { seed })).at(-1)!
          .reply.told,
    )

  test('gets one or two things, more from a verbose patient and one from a terse one', () => {
    const counts = (persona: Persona) => new Set(told(persona).map((list) => list.length))
    expect(counts({})).toEqual(new Set([1, 2]))
    expect(counts({ verbose: 3 })).toEqual(new Set([2, 3]))
    expect(counts({ terse: 2 })).toEqual(new Set([1]))
  })

  test('gets nothing from a very distrustful patient before a kind word', () => {
    expect(told({ distrustful: 3 }).flat()).toEqual([])
    expect(told({ distrustful: 3 }, [kind, open]).every((list) => list.length > 0)).toBe(true)
    expect(told({ distrustful: 2 }).every((list) => list.length > 0)).toBe(true)
  })
})
