import { describe, expect, test } from 'vitest'
import type { AdvantageEstimator, Group } from '../src/group.js'
import { formGroup } from '../src/group.js'
import type { Reward, Score } from '../src/reward.js'
import { notApplicable, ok, unavailable } from '../src/reward.js'
import { gate, weigh } from '../src/rewards/compose.js'
import { defineReward } from '../src/rewards/define.js'
import { uniform } from '../src/seed.js'
import { signalReport } from '../src/signal.js'
import { saying, truthOf } from './fixtures/reward-episodes.js'

const mean = (values: readonly number[]) => values.reduce((sum, v) => sum + v, 0) / values.length
const drGrpo: AdvantageEstimator = (totals) => totals.map((total) => total - mean(totals))
const grpo: AdvantageEstimator = (totals) => {
  const centred = drGrpo(totals)
  const std = Math.sqrt(mean(centred.map((a) => a * a)))
  return centred.map((a) => a / (std + 1e-6))
}

const groupOf = (scores: readonly Score[], estimate: AdvantageEstimator, id = 'group'): Group =>
  formGroup(
    id,
    scores.map(() => saying('flu')),
    scores,
    estimate,
  )

const weights = { accuracy: 0.92, turns: 0.08 }
/** Accuracy and the share of turns saved, as a weighted mean. */
const score = (accuracy: number, turns: number): Score => ({
  total: weights.accuracy * accuracy + weights.turns * turns,
  parts: { accuracy: ok(accuracy), turns: ok(turns) },
})

const size = 8
/** Groups in which a share of the members is right; turns saved vary in all of them. */
const groupsWhere = (right: number, estimate: AdvantageEstimator): Group[] =>
  Array.from({ length: 20 }, (_, g) =>
    groupOf(
      Array.from({ length: size }, (_, i) =>
        score(i < right * size ? 1 : 0, Math.floor(uniform(g, 'turns', i) * 4) / 4),
      ),
      estimate,
      `group-${g}`,
    ),
  )

describe('once every member is right, a bonus of 0.02 a turn is all that still differs', () => {
  test('divided by its spread it becomes the whole signal, and is warned of', () => {
    const report = signalReport(groupsWhere(1, grpo), weights)
    expect(report.shares.turns).toBeGreaterThan(0.999)
    expect(report.magnitude).toBeGreaterThan(0.8)
    expect(report.amplification).toBeGreaterThan(20)
    expect(report.warnings).toEqual([
      expect.stringContaining('`turns` weighs 8 % of the reward and supplied 100 % of the signal'),
    ])
  })

  test('merely centred it stays as small as it is, and there is nothing to warn of', () => {
    const report = signalReport(groupsWhere(1, drGrpo), weights)
    expect(report.shares.turns).toBeGreaterThan(0.999)
    expect(report.magnitude).toBeLessThan(0.03)
    expect(report.amplification).toBeCloseTo(1, 9)
    expect(report.warnings).toEqual([])
  })

  test('among groups that still differ in accuracy it is most of the signal only if divided', () => {
    const mixed = (estimate: AdvantageEstimator) => [
      ...groupsWhere(1, estimate),
      ...groupsWhere(1, estimate),
      ...groupsWhere(0.5, estimate),
    ]
    const [divided, centred] = [
      signalReport(mixed(grpo), weights),
      signalReport(mixed(drGrpo), weights),
    ]
    expect(divided.shares.turns).toBeGreaterThan(0.6)
    expect(divided.warnings).toHaveLength(1)
    expect(centred.shares.turns).toBeLessThan(0.2)
    expect(centred.warnings).toEqual([])
  })

  test('while half are right accuracy is the signal under either', () => {
    for (const estimate of [grpo, drGrpo]) {
      const report = signalReport(groupsWhere(0.5, estimate), weights)
      expect(report.shares.accuracy).toBeGreaterThan(0.85)
      expect(report.warnings).toEqual([])
    }
  })
})

describe('shares', () => {
  test('are what can be worked out by hand', () => {
    // a: 1,0,1,0 and b: 0,0,1,1, equal weights: totals 1/2, 0, 1, 1/2; advantages 0, -1/2, 1/2, 0.
    const scores = [
      [1, 0],
      [0, 0],
      [1, 1],
      [0, 1],
    ].map(([a = 0, b = 0]) => ({ total: (a + b) / 2, parts: { a: ok(a), b: ok(b) } }))
    const report = signalReport([groupOf(scores, drGrpo)], { a: 0.5, b: 0.5 })
    expect(report.shares).toEqual({ a: 0.5, b: 0.5 })
    expect(report.magnitude).toBe(0.25)
  })

  test('sum to 1', () => {
    const { shares } = signalReport(groupsWhere(0.5, grpo), weights)
    expect(Object.values(shares).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12)
  })

  test('a gate that told siblings apart shows as what the parts do not explain', async () => {
    const one = defineReward({ name: 'a', bounds: [0, 1] }, () => 1)
    const safe = (fine: boolean): Reward => gate(() => (fine ? 1 : 0), weigh({ a: [1, one] }))
    const run = (fine: boolean) => safe(fine)(saying('flu'), truthOf())
    const scores = [await run(true), await run(false)]
    const report = signalReport([groupOf(scores, drGrpo)], safe(true).weights ?? {})
    expect(report.shares).toEqual({ a: 0, '(rest)': 1 })
  })

  test('a part that does not apply to some members weighs on the others as in the mean', async () => {
    const reward = (b: Score['parts'][string]) => weigh({ a: [1, () => 0.5], b: [1, () => b] })
    const run = (b: Score['parts'][string]) => reward(b)(saying('flu'), truthOf())
    const scores = [await run(ok(1)), await run(notApplicable), await run(ok(0))]
    const report = signalReport([groupOf(scores, drGrpo)], reward(ok(1)).weights ?? {})
    expect(report.shares['(rest)']).toBeUndefined()
  })

  test('members without a total take no part', () => {
    const missing: Score = { total: null, parts: { accuracy: unavailable('judge down') } }
    const scores = [score(1, 0), score(0, 0), missing]
    const report = signalReport([groupOf(scores, drGrpo)], weights)
    expect(report.shares).toEqual({ accuracy: 1, turns: 0 })
    expect(report.magnitude).toBeCloseTo(0.46, 12)
  })
})

test('groups that teach nothing are counted and have no share', () => {
  const missing: Score = { total: null, parts: {} }
  const groups = [
    groupOf([score(1, 1), score(1, 1)], grpo),
    groupOf([score(1, 1)], grpo),
    groupOf([missing, missing], grpo),
  ]
  expect(signalReport(groups, weights)).toEqual({
    groups: 3,
    zeroVariance: 1,
    dropped: 2,
    shares: {},
    magnitude: 0,
    amplification: 0,
    warnings: [],
  })
})

test('RLOO in the smallest group is not taken for a division by the spread', () => {
  const rloo: AdvantageEstimator = (totals) => drGrpo(totals).map((a) => 2 * a)
  const report = signalReport([groupOf([score(1, 1), score(1, 0)], rloo)], weights)
  expect(report.shares.turns).toBeCloseTo(1, 12)
  expect(report.amplification).toBeCloseTo(2, 12)
  expect(report.warnings).toEqual([])
})
