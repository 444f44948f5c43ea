import { describe, expect, test } from 'vitest'
import { signalReport } from '../../src/evaluation/advantage-attribution.js'
import type { AdvantageEstimator, Group } from '../../src/group.js'
import { formGroup } from '../../src/group.js'
import type { Reward, Score } from '../../src/reward.js'
import { notApplicable, ok, unavailable } from '../../src/reward.js'
import { gate, weigh } from '../../src/rewards/combinators/compose.js'
import { defineReward } from '../../src/rewards/define.js'
import { uniform } from '../../src/seed.js'
import { saying, truthOf } from '../fixtures/reward-episodes.js'

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
    nearZeroVariance: 0,
    nearZeroBelow: 0.01,
    dropped: 2,
    shares: {},
    magnitude: 0,
    amplification: 0,
    accuracy: {},
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

describe('groups with hardly any variance', () => {
  const pair = (difference: number) =>
    groupOf(
      [0.5, 0.5 + difference].map((total) => ({ total, parts: { a: ok(total) } })),
      drGrpo,
    )

  test('are those whose deviation is below a hundredth of the bounds, and still teach', () => {
    // The deviation of two is half their difference.
    const groups = [pair(0), pair(0.0199), pair(0.0201), pair(0.4)]
    const report = signalReport(groups, { a: 1 })
    expect([report.zeroVariance, report.nearZeroVariance, report.nearZeroBelow]).toEqual([
      1, 1, 0.01,
    ])
    const wide = signalReport(groups, { a: 1 }, { bounds: [-10, 10] })
    expect([wide.nearZeroVariance, wide.nearZeroBelow]).toEqual([2, 0.2])
  })

  test.each([[[0, Infinity]], [[1, 1]]] as const)(
    'bounds %j that span nothing or no end count as 1',
    (bounds) => {
      expect(signalReport([pair(0.4)], { a: 1 }, { bounds }).nearZeroBelow).toBe(0.01)
    },
  )
})

describe('with accuracy', () => {
  const parts = (values: Readonly<Record<string, number>>): Score => ({
    total: values.a ?? 0,
    parts: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, ok(value)])),
  })

  test('correlations within and across groups are what can be worked out by hand', () => {
    // Within each group `a` falls as accuracy rises; the easier case has more of both.
    const hard = groupOf([parts({ a: 0.2 }), parts({ a: 0.1 })], drGrpo, 'hard')
    const easy = groupOf([parts({ a: 0.9 }), parts({ a: 0.8 })], drGrpo, 'easy')
    const accuracy = [
      [0, 0.1],
      [0.9, 1],
    ]
    const { accuracy: links } = signalReport([hard, easy], { a: 1 }, { accuracy })
    expect(links.a).toEqual({
      within: expect.closeTo(-1, 9),
      compared: 4,
      // Both are ±.35 ± .05 and ±.45 ± .05 about their means: (.35·.45 − .05²) / (.35² + .05²)^½ (.45² + .05²)^½
      across: expect.closeTo((0.35 * 0.45 - 0.0025) / Math.sqrt(0.125 * 0.205), 9),
      members: 4,
    })
    expect(links['(total)']).toEqual(links.a)
  })

  test('a group whose members are all as right tells nothing of within', () => {
    const group = groupOf([parts({ a: 0 }), parts({ a: 1 })], drGrpo)
    const { accuracy } = signalReport([group], { a: 1 }, { accuracy: [[1, 1]] })
    expect(accuracy.a).toEqual({ within: null, compared: 0, across: null, members: 2 })
  })

  test('who has no accuracy or no value takes no part', () => {
    const missing: Score = { total: null, parts: { a: unavailable('down'), b: ok(1) } }
    const group = groupOf([parts({ a: 0, b: 0 }), parts({ a: 1, b: 1 }), missing], drGrpo)
    const { accuracy } = signalReport([group], { a: 1 }, { accuracy: [[0, null, 1]] })
    expect(accuracy.a?.members).toBe(1)
    expect(accuracy.b?.members).toBe(2)
    expect(accuracy['(total)']?.members).toBe(1)
  })

  /** Twelve groups of eight, half of each right; what is paid to the wrong is up to `value`. */
  const against = (value: (right: boolean, g: number, i: number) => number) => {
    const groups = Array.from({ length: 12 }, (_, g) =>
      groupOf(
        Array.from({ length: size }, (_, i) => {
          const bad = value(i % 2 === 0, g, i)
          return { total: bad, parts: { diagnosis: ok(i % 2 === 0 ? 1 : 0), brevity: ok(bad) } }
        }),
        drGrpo,
      ),
    )
    const accuracy = groups.map(({ scores }) => scores.map((_, i) => (i % 2 === 0 ? 1 : 0)))
    return { groups, accuracy }
  }
  const noise = (g: number, i: number) => uniform(9, g, i)

  test('a part worth more to the wrong is named in a warning, and the reward with it', () => {
    const { groups, accuracy } = against((right, g, i) => noise(g, i) * (right ? 0.5 : 1))
    const { warnings } = signalReport(groups, { diagnosis: 0.5, brevity: 0.5 }, { accuracy })
    expect(warnings).toEqual([
      expect.stringMatching(/^The reward goes against being right/),
      expect.stringMatching(
        /^`brevity` goes .* within groups its correlation with accuracy is -0\.\d\d over 96/,
      ),
    ])
  })

  test('chance is not warned of, nor what weighs nothing, nor what stands inside of a part', () => {
    const chance = against((_, g, i) => noise(g, i))
    expect(signalReport(chance.groups, {}, { accuracy: chance.accuracy }).warnings).toEqual([])
    const { groups, accuracy } = against((right) => (right ? 0 : 1))
    const inside = groups.map((group) => ({
      ...group,
      scores: group.scores.map(({ parts: { brevity, ...others } }) => ({
        total: null,
        parts: { ...others, watched: brevity ?? ok(0), 'diagnosis/brevity': brevity ?? ok(0) },
      })),
    }))
    const weights = { diagnosis: 1, watched: 0 }
    expect(signalReport(inside, weights, { accuracy }).warnings).toEqual([])
    expect(signalReport(inside, { diagnosis: 1 }, { accuracy }).warnings).toEqual([
      expect.stringContaining('`watched`'),
    ])
  })

  test('a handful of episodes is no evidence', () => {
    const { groups, accuracy } = against((right) => (right ? 0 : 1))
    const few = { accuracy: accuracy.slice(0, 1) }
    expect(signalReport(groups.slice(0, 1), {}, few).warnings).toEqual([])
  })
})
