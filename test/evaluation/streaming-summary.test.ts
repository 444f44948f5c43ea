import { describe, expect, test } from 'vitest'
import { estimate, ratioEstimate } from '../../src/evaluation/bootstrap.js'
import { caseSums, scoreTally } from '../../src/evaluation/streaming-summary.js'
import { summariseParts } from '../../src/evaluation/summary.js'
import type { Score } from '../../src/reward.js'
import { notApplicable, ok, unavailable } from '../../src/reward.js'
import { uniform } from '../../src/seed.js'

const values = Array.from({ length: 400 }, (_, n) => ({
  id: `case-${Math.floor(uniform(1, n) * 90)}`,
  value: uniform(2, n),
}))

describe('caseSums', () => {
  test('give the mean and the interval that all values in memory give, in any order', () => {
    const ids = [...new Set(values.map(({ id }) => id))].sort()
    const sumsOf = (id: string): [number, number] => {
      const own = values.filter((one) => one.id === id)
      return [own.reduce((sum, { value }) => sum + value, 0), own.length]
    }
    const whole = ratioEstimate(ids.map(sumsOf), 7)
    for (const order of [values, values.toReversed()]) {
      const sums = caseSums()
      for (const { id, value } of order) sums.add(id, value)
      const { mean, ci95 } = sums.estimate(7)
      expect(mean).toBeCloseTo(whole.mean ?? Number.NaN, 12)
      expect(ci95?.[0]).toBeCloseTo(whole.ci95?.[0] ?? Number.NaN, 12)
      expect(ci95?.[1]).toBeCloseTo(whole.ci95?.[1] ?? Number.NaN, 12)
      expect(sums.bundled()).toBe(false)
    }
  })

  test('of values all at one bound give the interval that all values in memory give', () => {
    for (const value of [0, 1, -0.1]) {
      const bounds = [-0.1, 1] as const
      const sums = caseSums(400, bounds)
      for (let n = 0; n < 300; n++) sums.add(`case-${n % 100}`, value)
      const { ci95 } = sums.estimate(0)
      expect(ci95).toEqual(estimate(Array(100).fill(value), 0, { bounds }).ci95)
      // 0 is inside these bounds.
      if (value !== 0) expect((ci95?.[1] ?? 0) - (ci95?.[0] ?? 0)).toBeGreaterThan(0.04)
    }
  })

  test('of nothing are nothing', () => {
    expect(caseSums().estimate(0)).toEqual({ mean: null, ci95: null })
  })

  test('of too many cases resample bundles of them: the same mean, and an interval as wide', () => {
    const many = Array.from({ length: 4000 }, (_, n) => [`case-${n}`, uniform(3, n)] as const)
    const [apart, bundled] = [caseSums(4000), caseSums(500)]
    for (const [id, value] of many) {
      apart.add(id, value)
      bundled.add(id, value)
    }
    expect([apart.bundled(), bundled.bundled()]).toEqual([false, true])
    const [a, b] = [apart.estimate(0), bundled.estimate(0)]
    expect(b.mean).toBeCloseTo(a.mean ?? Number.NaN, 12)
    const width = ({ ci95 }: typeof a) => (ci95 ? ci95[1] - ci95[0] : Number.NaN)
    expect(width(b) / width(a)).toBeGreaterThan(0.8)
    expect(width(b) / width(a)).toBeLessThan(1.25)
  })

  test('bundles do not depend on the order, nor on when there were too many', () => {
    const forth = caseSums(20)
    const back = caseSums(20)
    for (const { id, value } of values) forth.add(id, value)
    for (const { id, value } of values.toReversed()) back.add(id, value)
    const [a, b] = [forth.estimate(1), back.estimate(1)]
    expect(forth.bundled()).toBe(true)
    expect(a.mean).toBeCloseTo(b.mean ?? Number.NaN, 12)
    expect(a.ci95?.[0]).toBeCloseTo(b.ci95?.[0] ?? Number.NaN, 12)
  })
})

describe('scoreTally', () => {
  const scores: readonly Score[] = [
    { total: 1, parts: { a: ok(1), b: notApplicable } },
    { total: 0.5, parts: { a: ok(0), b: ok(1) } },
    { total: null, parts: { a: ok(1), b: unavailable('down') } },
    { total: 0, parts: { a: ok(0), c: ok(3) } },
  ]

  test('counts and averages what a list of scores does', () => {
    const tally = scoreTally()
    scores.forEach((score, n) => {
      tally.add(`case-${n}`, score, null)
    })
    const { reward, parts, unavailable } = tally.summary(0)
    expect(parts).toEqual(summariseParts(scores))
    expect([reward.mean, unavailable]).toEqual([0.5, 1])
    expect(tally.withAccuracy()).toEqual({ total: null, parts: { a: null, b: null, c: null } })
  })

  test("has an interval that knows the reward's bounds", () => {
    const interval = (bounds?: readonly [number, number]) => {
      const tally = scoreTally(bounds)
      for (let n = 0; n < 40; n++) tally.add(`case-${n}`, { total: 0, parts: {} }, null)
      return tally.summary(0).reward.ci95
    }
    expect(interval()).toEqual([0, expect.closeTo(0.0876, 4)])
    expect(interval([0, 2])).toEqual([0, expect.closeTo(0.1752, 4)])
    expect(interval([-1, 1])).toEqual([0, 0])
  })

  test('correlates the total and each part with accuracy, where both are known', () => {
    const tally = scoreTally()
    const right = [1, 0, null, 0]
    scores.forEach((score, n) => {
      tally.add('one', score, right[n] ?? null)
    })
    // Of totals 1, .5, 0 with 1, 0, 0.
    const { total, parts } = tally.withAccuracy()
    expect(total).toBeCloseTo(0.5 / Math.sqrt(0.5 * (2 / 3)), 12)
    expect(parts).toEqual({ a: expect.closeTo(1, 12), b: null, c: null })
  })
})
