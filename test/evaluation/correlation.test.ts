import { describe, expect, test } from 'vitest'
import { correlation } from '../../src/evaluation/accuracy-correlation.js'
import { fc } from '../fixtures/property.js'

const of = (pairs: readonly (readonly [number, number])[]) => {
  const all = correlation()
  for (const [x, y] of pairs) all.add(x, y)
  return all.value()
}
const number = fc.double({ min: -100, max: 100, noNaN: true })
const pairs = fc.array(fc.tuple(number, number), { minLength: 2, maxLength: 30 })

describe('correlation', () => {
  test('is what two passes give', () => {
    const given = [
      [1, 2],
      [2, 1],
      [3, 5],
      [4, 4],
    ] as const // deviations −1.5 … 1.5 and −1, −2, 2, 1
    expect(of(given)).toBeCloseTo((1.5 + 1 + 1 + 1.5) / Math.sqrt(5 * 10), 12)
  })

  test('is 1 with itself, −1 with its opposite, and null with what never varies or is too few', () => {
    expect(
      of([
        [1, 1],
        [2, 2],
        [5, 5],
      ]),
    ).toBeCloseTo(1, 12)
    expect(
      of([
        [1, -1],
        [2, -2],
        [5, -5],
      ]),
    ).toBeCloseTo(-1, 12)
    expect(
      of([
        [1, 0.1],
        [2, 0.1],
        [5, 0.1],
      ]),
    ).toBeNull()
    expect(of([[1, 1]])).toBeNull()
    expect(of([])).toBeNull()
  })

  test('of rounding alone is none', () => {
    const share = 0.1 + 0.2
    expect(
      of(Array.from({ length: 1000 }, (_, i) => [i % 2, i % 3 ? share : 0.3] as const)),
    ).toBeNull()
  })

  test('stays within −1 and 1, does not mind the order much, nor scale and shift', () =>
    fc.assert(
      fc.property(pairs, (given) => {
        const r = of(given)
        if (r === null) return
        expect(Math.abs(r)).toBeLessThanOrEqual(1)
        expect(of(given.toReversed())).toBeCloseTo(r, 6)
      }),
    ))
})
