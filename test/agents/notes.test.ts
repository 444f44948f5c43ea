import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agent.js'
import { notesReader } from '../../src/agents/notes.js'
import { oracle } from '../../src/agents/oracle.js'
import type { Observation } from '../../src/env.js'
import { stockSentences } from '../../src/envs/patients/nlg/stock-sentences.js'
import { getPosterior } from '../../src/inference/posterior.js'
import { tiers } from '../../src/knowledge/tiers.js'
import { answered, consult, question, seen } from '../fixtures/consulting.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const posterior = getPosterior(knowledge, tiers.hard)
const read = notesReader(knowledge, posterior, 'en')
const anew = (observation: Observation) =>
  notesReader(knowledge, posterior, 'en')(structuredClone(observation))

const fever = answered(question(knowledge, 'fever'), 'I have been running a temperature.')
const noFever = answered(question(knowledge, 'fever'), 'My temperature has been fine.')
const smoker = answered(question(knowledge, 'smoker'), 'I smoke.')

/** Plays like another and keeps what it saw. */
function watching(agent: Agent) {
  const observations: Observation[] = []
  const watched: Agent = (observation, context) => {
    observations.push(observation)
    return agent(observation, context)
  }
  return { watched, observations }
}

describe('notes that know turns again', () => {
  test('are those of a reader of everything anew, in whatever order consultations are read', async () => {
    const { watched, observations } = watching(oracle({ knowledge, ...tiers.hard }))
    await consult(watched, { knowledge, tier: 'hard', count: 12 })
    expect(observations.length).toBeGreaterThan(80)
    const backwards = [...observations].reverse()
    for (const observation of [...backwards, ...observations])
      expect(read(observation)).toEqual(anew(observation))
  })

  test('never take a turn for the same after other turns, or of another patient', () => {
    const other = { ...seen([]).intake, complaint: { en: 'I smoke.' } }
    for (const turns of [[fever, smoker], [noFever, smoker], [smoker], [smoker, fever]])
      for (const more of [{}, { intake: other }])
        expect(read(seen(turns, more))).toEqual(anew(seen(turns, more)))
    const { intake } = seen([])
    const older = { ...intake, demographics: { ...intake.demographics, sex: 'M' as const } }
    expect(read(seen([fever, smoker], { intake: older })).belief).not.toEqual(
      read(seen([fever, smoker], { intake })).belief,
    )
  })
})

describe('a question', () => {
  const noted = (text: string, times = 1) =>
    read(seen(Array.from({ length: times }, () => answered(question(knowledge, 'fever'), text))))

  test('is closed by an answer, and by not knowing one', () => {
    for (const text of ['I have been running a temperature.', "I'm not sure about that."])
      expect([...noted(text).closed]).toEqual(['fever'])
  })

  test('that was put off may be put once more, and not twice', () => {
    for (const text of [
      'I lost the thread, what did you ask?',
      'Sorry, my mind wandered, what was the question?',
      'I would rather not talk about that.',
      'That is private.',
    ]) {
      expect([noted(text).closed.size, [...noted(text).postponed]]).toEqual([0, ['fever']])
      expect([...noted(text, 2).closed]).toEqual(['fever'])
    }
  })

  test.each(['en', 'zh'] as const)(
    'that a patient lost the thread of is put again in %s, and no other',
    async (language) => {
      const agent = oracle({ knowledge, ...tiers.standard })
      const playing = { knowledge, tier: 'standard', count: 60, language } as const
      const { episodes } = await consult(agent, { ...playing, persona: { confused: 3 } })
      let again = 0
      for (const { turns } of episodes)
        turns.forEach(({ action, facts }, t) => {
          const before = turns.slice(0, t).filter((turn) => isDeepStrictEqual(turn.action, action))
          if (action.kind === 'diagnose' || before.length === 0) return
          again++
          expect(before.map((turn) => turn.facts.understood)).toEqual(['unclear'])
          expect(['answered', 'unknown']).toContain(facts.understood)
        })
      expect(again).toBeGreaterThan(20)
    },
  )
})

test.each(['en', 'zh'] as const)('every %s plea and refusal is a question put off', (language) => {
  const notes = notesReader(knowledge, posterior, language)
  const said = question(knowledge, 'fever')
  const asked = knowledge.finding.get('fever')!.ask[language][0]!
  for (const occasion of ['withheld', 'again-please'] as const)
    for (const text of stockSentences[occasion][language]) {
      const turn = answered(said, text)
      const heard = { ...turn, action: { kind: 'ask', text: asked } } as const
      expect(notes(seen([heard])).postponed, text).toContain('fever')
    }
})

test('the same consultation in the other language leads to the same notes', async () => {
  const both = await Promise.all(
    (['en', 'zh'] as const).map(async (language) => {
      const agent = oracle({ knowledge, ...tiers.hard })
      const { episodes } = await consult(agent, { knowledge, tier: 'hard', count: 40, language })
      return episodes.map(({ turns }) => turns.map(({ facts }) => facts))
    }),
  )
  expect(both[0]).toEqual(both[1])
})
