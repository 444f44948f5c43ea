import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../src/agent.js'
import { consultation } from '../src/envs/consultation.js'
import { Fault } from '../src/error.js'
import { estimate, normalised, play, summarise } from '../src/evaluate.js'
import { evaluationOf } from '../src/evaluation.js'
import type { Reward } from '../src/reward.js'
import { uniform } from '../src/seed.js'
import { tinyCase } from './fixtures/tiny-case.js'

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
  play({
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

describe('estimates', () => {
  test('the interval holds the mean and lies within the values', () => {
    const values = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
      minLength: 1,
      maxLength: 60,
    })
    fc.assert(
      fc.property(values, (list) => {
        const { mean, ci95 } = estimate(list, 1, 200)
        const [low, high] = ci95 ?? [Number.NaN, Number.NaN]
        expect(low).toBeGreaterThanOrEqual(Math.min(...list) - 1e-12)
        expect(high).toBeLessThanOrEqual(Math.max(...list) + 1e-12)
        expect(low).toBeLessThanOrEqual((mean ?? 0) + 1e-9)
      }),
    )
  })

  test('covers the truth about 95 times in 100', () => {
    let covered = 0
    for (let run = 0; run < 200; run++) {
      const values = Array.from({ length: 60 }, (_, i) => (uniform(run, 'draw', i) < 0.3 ? 1 : 0))
      const { ci95 } = estimate(values, run, 300)
      if (ci95 && ci95[0] <= 0.3 && 0.3 <= ci95[1]) covered += 1
    }
    expect(covered).toBeGreaterThan(180)
  })

  test('nothing measured is null, never 0', () => {
    expect(estimate([])).toEqual({ mean: null, ci95: null })
  })
})

test('normalised is 0 at the floor, 1 at the ceiling, unclipped, and null without an anchor', () => {
  expect(normalised(0.2, 0.2, 0.8)).toBe(0)
  expect(normalised(0.8, 0.2, 0.8)).toBe(1)
  expect(normalised(1.1, 0.2, 0.8)).toBeCloseTo(1.5)
  expect(normalised(0.5, 0.2, null)).toBeNull()
  expect(normalised(0.5, 0.2, 0.2)).toBeNull()
})

test('an evaluation sets the summary between floor and ceiling', async () => {
  const evaluation = evaluationOf(await playAll(diagnose), {
    agent: 'test',
    tier: 'easy',
    lang: 'en',
    split: 'heldout',
    seed: 0,
    references: { floor: { accuracy: 0, reward: 0.25 }, ceiling: { accuracy: 1, reward: 0.75 } },
  })
  expect(evaluation.normalised.reward).toBeCloseTo(0.5)
  expect(evaluation.usage).toEqual({})
})
