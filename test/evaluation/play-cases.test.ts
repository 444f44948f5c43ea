import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agent.js'
import { consultation } from '../../src/envs/consultation.js'
import { Fault } from '../../src/error.js'
import { playCases } from '../../src/evaluation/play-cases.js'
import { summarise } from '../../src/evaluation/summary.js'
import type { Reward } from '../../src/reward.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const measure = (name: string, score: (seed: number) => number | null): Reward =>
  Object.assign(
    async (...[episode]: Parameters<Reward>) => {
      const value = score(episode.seed)
      return {
        total: value,
        parts: {
          [name]:
            value === null
              ? ({ status: 'not-applicable' } as const)
              : ({ status: 'ok', value } as const),
        },
      }
    },
    { rewardName: name, bounds: [0, 1] as const, source: 'test' },
  )

const measures = {
  reward: measure('reward', () => 0.5),
  accuracy: measure('accuracy', (seed) => seed % 2),
  partialCredit: measure('partialCredit', () => 1),
  examF1: measure('examF1', () => null),
}
const cases = Array.from({ length: 30 }, (_, n) => tinyCase(`case-${n}`))
const diagnose: Agent = () => ({ action: { kind: 'diagnose', diagnosis: 'Influenza' } })
const playAll = (agent: Agent, concurrency = 4) =>
  playCases({
    cases,
    makeEnv: () =>
      consultation({
        cases,
        patient: () => {
          throw new Fault('model-unavailable', 'down')
        },
      }),
    agent,
    agentName: 'test',
    measures,
    concurrency,
  })

describe('play and summarise', () => {
  test('measures every case, the same at any concurrency', async () => {
    const one = summarise(await playAll(diagnose, 1))
    expect(summarise(await playAll(diagnose, 16))).toEqual(one)
    expect(one).toMatchObject({
      cases: 30,
      episodes: 30,
      unavailable: 0,
      turns: 1,
      questions: 0,
      reward: { mean: 0.5, ci95: [0.5, 0.5] },
      examF1: { mean: null, ci95: null, notApplicable: 30 },
      stops: { diagnosed: 30 },
    })
  })

  test('a fault leaves its case out of every mean and counts it', async () => {
    const half: Agent = (observation, context) =>
      context.seed % 2 === 0 || observation.turns.length > 0
        ? diagnose(observation, context)
        : { action: { kind: 'ask', text: 'Hello?' } }
    const played = await playAll(half)
    const failed = played.filter(({ fault }) => fault).length
    expect(failed).toBeGreaterThan(0)
    const summary = summarise(played)
    expect(summary).toMatchObject({ cases: 30, episodes: 30 - failed, unavailable: failed })
    expect(summary.reward.mean).toBe(0.5)
  })

  test('the same patients for every agent: seeds depend on case and seed alone', async () => {
    const seeds = (await playAll(diagnose)).map(({ episode }) => episode?.seed)
    expect((await playAll((o, c) => diagnose(o, c))).map(({ episode }) => episode?.seed)).toEqual(
      seeds,
    )
    expect(new Set(seeds).size).toBe(30)
  })
})
