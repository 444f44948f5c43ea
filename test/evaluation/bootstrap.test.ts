import { describe, expect, test } from 'vitest'
import { estimate, ratioEstimate } from '../../src/evaluation/bootstrap.js'
import { uniform } from '../../src/seed.js'
import { fc } from '../fixtures/property.js'

describe('estimates', () => {
  test('the interval holds the mean and lies within the values that are not all at one bound', () => {
    const values = fc
      .array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 60 })
      .filter((list) => list.some((value) => value !== list[0] || (value !== 0 && value !== 1)))
    fc.assert(
      fc.property(values, (list) => {
        const { mean, ci95 } = estimate(list, 1, { resamples: 200 })
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
      const { ci95 } = estimate(values, run, { resamples: 300 })
      if (ci95 && ci95[0] <= 0.3 && 0.3 <= ci95[1]) covered += 1
    }
    expect(covered).toBeGreaterThan(180)
  })

  test('of values that are all at one bound is never a point: Wilson, narrower with more of them', () => {
    const z2 = 1.959963984540054 ** 2
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.double({ min: -10, max: 10, noNaN: true }),
        fc.double({ min: 0.001, max: 10, noNaN: true }),
        (n, low, width) => {
          const bounds = [low, low + width] as const
          const share = z2 / (n + z2)
          const [least, above] = estimate(Array(n).fill(low), 0, { bounds }).ci95 ?? []
          expect(least).toBe(low)
          expect(above).toBeCloseTo(low + width * share, 9)
          const [below, most] = estimate(Array(n).fill(bounds[1]), 0, { bounds }).ci95 ?? []
          expect(most).toBe(bounds[1])
          expect(below).toBeCloseTo(bounds[1] - width * share, 9)
        },
      ),
    )
    expect(estimate(Array(400).fill(1))).toEqual({ mean: 1, ci95: [expect.closeTo(0.99049, 5), 1] })
  })

  test('Wilson covers a rare event where the bootstrap of none of it claims certainty', () => {
    // P(no event in 100) at a rate of .01 is .37: as often the bootstrap gives [0, 0].
    let [covered, points] = [0, 0]
    for (let run = 0; run < 300; run++) {
      const values = Array.from({ length: 100 }, (_, i) => (uniform(run, 'rare', i) < 0.01 ? 1 : 0))
      if (!values.includes(1)) points += 1
      const { ci95 } = estimate(values, run, { resamples: 300 })
      if (ci95 && ci95[0] <= 0.01 && 0.01 <= ci95[1]) covered += 1
    }
    expect(points).toBeGreaterThan(80)
    expect(covered).toBeGreaterThan(270)
  })

  test('elsewhere is the bootstrap it was, a point inside the bounds included', () => {
    expect(estimate([0.5, 0.5, 0.5])).toEqual({ mean: 0.5, ci95: [0.5, 0.5] })
    expect(estimate([0, 0], 0, { bounds: [-1, 1] }).ci95).toEqual([0, 0])
    expect(estimate([1, 1], 0, { bounds: [Number.NEGATIVE_INFINITY, 1] }).ci95).toEqual([1, 1])
    const values = Array.from({ length: 40 }, (_, i) => (i === 0 ? 0 : 1))
    expect(estimate(values, 3)).toEqual({ mean: 0.975, ci95: [0.925, 1] })
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
  test('of what is no number are refused, not null', () => {
    expect(() => estimate([1, Number.NaN])).toThrow(
      new RangeError('Expected value 1 to be a number, got NaN'),
    )
    expect(() => ratioEstimate([[Number.NaN, 1]])).toThrow(RangeError)
  })
})
