import { describe, expect, test } from 'vitest'
import type { PlayedCase } from '../../src/evaluation/play-cases.js'
import { noAnchor, normalised, regret, summarise, toAnchor } from '../../src/evaluation/summary.js'
import { rollout } from '../../src/rollout.js'
import { tinyActions, tinyEnv, tinyLung } from '../fixtures/tiny.js'

/** Cases that were all scored alike. */
async function alike(count: number, total: number): Promise<PlayedCase[]> {
  const episode = await rollout(tinyEnv(), ({ turns }) => ({
    action: tinyActions[turns.length] ?? { kind: 'give-up' },
  }))
  const score = { total, parts: {} }
  const scores = { reward: score, accuracy: score, partialCredit: score, examF1: score }
  return Array.from({ length: count }, (_, n) => ({
    ...{ truth: { ...tinyLung, id: `case-${n}` }, episode, scores },
  }))
}

describe('intervals of a summary', () => {
  test('of 400 right answers is not a point', async () => {
    const { accuracy, partialCredit, examF1 } = summarise(await alike(400, 1))
    const ci95 = [expect.closeTo(0.9905, 4), 1]
    expect(accuracy).toEqual({ mean: 1, ci95 })
    expect(partialCredit.ci95).toEqual(ci95)
    expect(examF1.ci95).toEqual(ci95)
  })

  test('of the reward knows its bounds', async () => {
    const played = await alike(400, 0)
    const margin = 1 - 400 / (400 + 1.959963984540054 ** 2)
    expect(summarise(played).reward.ci95).toEqual([0, expect.closeTo(margin, 12)])
    expect(summarise(played, 0, [-4, 0]).reward.ci95).toEqual([expect.closeTo(-4 * margin, 12), 0])
    expect(summarise(played, 0, [-1, 1]).reward.ci95).toEqual([0, 0])
  })
})

test("an anchor is a reference's means with their intervals", async () => {
  const summary = summarise(await alike(10, 1))
  const { accuracy, reward } = summary
  expect(toAnchor(summary)).toEqual({
    accuracy: 1,
    reward: 1,
    ci95: { accuracy: accuracy.ci95, reward: reward.ci95 },
  })
  expect(accuracy.ci95?.[0]).toBeLessThan(1)
  expect(toAnchor(summarise([]))).toEqual(noAnchor)
})

test('normalised is 0 at the floor, 1 at the ceiling, unclipped, and null without an anchor', () => {
  expect(normalised(0.2, 0.2, 0.8)).toBe(0)
  expect(normalised(0.8, 0.2, 0.8)).toBe(1)
  expect(normalised(1.1, 0.2, 0.8)).toBeCloseTo(1.5)
  expect(normalised(0.5, 0.2, null)).toBeNull()
  expect(normalised(0.5, 0.2, 0.2)).toBeNull()
})

test('regret is what is missing to the ceiling, less than 0 above it, and null without one', () => {
  expect(regret(0.5, 0.8)).toBeCloseTo(0.3)
  expect(regret(0.9, 0.8)).toBeCloseTo(-0.1)
  expect([regret(null, 0.8), regret(0.5, null)]).toEqual([null, null])
})
