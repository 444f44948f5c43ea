import { describe, expect, test } from 'vitest'
import type { EpisodeEnd } from '../src/episode.js'
import { diagnosisOf, finishedEpisode } from '../src/episode.js'
import { rollout } from '../src/rollout.js'
import type { Action, Stop } from '../src/turn.js'
import { tinyActions, tinyEnv } from './fixtures/tiny.js'

const play = (actions: readonly Action[]) =>
  rollout(tinyEnv(), ({ turns }) => ({ action: actions[turns.length] ?? { kind: 'give-up' } }))

describe('diagnosisOf', () => {
  test('is the diagnosis the doctor committed to, with its recommendation', async () => {
    expect(diagnosisOf(await play(tinyActions))).toEqual(tinyActions[2])
  })

  test('is none where the doctor gave up, or ran out of turns', async () => {
    expect(diagnosisOf(await play([{ kind: 'give-up' }]))).toBeUndefined()
    const ask: Action = { kind: 'ask', text: 'Is it pneumonia?' }
    expect(diagnosisOf(await play(Array(5).fill(ask)))).toBeUndefined()
  })
})

describe('finishedEpisode', () => {
  const end: EpisodeEnd = {
    caseId: 'tiny-lung',
    seed: 7,
    language: 'en',
    intake: {
      view: 'doctor',
      complaint: { en: 'cough', zh: '咳嗽' },
      demographics: { speaker: 'self' },
    },
    turns: [],
    stop: 'diagnosed',
    maxTurns: 5,
    spent: { money: 0, minutes: 1 },
    budget: { money: 10, minutes: 20 },
  }

  test('is named after its case and seed, by an agent that `rollout` names', () => {
    const { budget, maxTurns, ...rest } = end
    const shuffled = { budget, maxTurns, ...rest }
    const episode = finishedEpisode(shuffled)
    expect(episode).toEqual({ ...end, id: 'tiny-lung/7', agent: 'agent', end: 'terminated' })
    // Saved episodes promise bytes, whatever order an env lists the facts in.
    expect(Object.keys(episode)).toEqual(Object.keys(finishedEpisode(end)))
  })

  test.each<[Stop, 'terminated' | 'truncated']>([
    ['diagnosed', 'terminated'],
    ['gave-up', 'terminated'],
    ['invalid-action', 'terminated'],
    ['max-turns', 'truncated'],
    ['budget', 'truncated'],
  ])('stopped by %s is %s', (stop, kind) => {
    expect(finishedEpisode({ ...end, stop }).end).toBe(kind)
  })
})
