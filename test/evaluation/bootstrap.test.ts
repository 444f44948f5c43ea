import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimate, ratioEstimate } from '../../src/evaluation/bootstrap.js'
import { uniform } from '../../src/seed.js'

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

describe('ratios', () => {
  test('are of the sums, and a list over itself is 1', () => {
    const numbers = fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 1 })
    fc.assert(
      fc.property(numbers, fc.double({ min: -3, max: 3, noNaN: true }), (list, k) => {
        const { mean, ci95 } = ratioEstimate(
          list.map((one) => [k * one, one] as const),
          1,
          50,
        )
        for (const value of [mean, ...(ci95 ?? [])]) expect(value).toBeCloseTo(k, 9)
      }),
    )
    expect(
      ratioEstimate(
        [
          [1, 1],
          [0, 3],
        ],
        0,
        10,
      ).mean,
    ).toBe(0.25)
  })

  test('cover the truth about 95 times in 100', () => {
    let covered = 0
    for (let run = 0; run < 200; run++) {
      const pairs = Array.from({ length: 80 }, (_, i) => {
        const whole = uniform(run, 'whole', i)
        return [0.5 * whole + uniform(run, 'noise', i) - 0.5, whole] as const
      })
      const { ci95 } = ratioEstimate(pairs, run, 300)
      if (ci95 && ci95[0] <= 0.5 && 0.5 <= ci95[1]) covered += 1
    }
    expect(covered).toBeGreaterThan(178)
  })

  test('over nothing are null, and a resample over nothing is left out', () => {
    expect(ratioEstimate([])).toEqual({ mean: null, ci95: null })
    expect(ratioEstimate([[1, 0]])).toEqual({ mean: null, ci95: null })
    expect(
      ratioEstimate([
        [1, 1],
        [0, 0],
      ]),
    ).toEqual({ mean: 1, ci95: [1, 1] })
  })
})
