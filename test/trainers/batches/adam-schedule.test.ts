import { describe, expect, test } from 'vitest'
import { adamSettingsAt, learningRateFactor } from '../../../src/trainers/batches/adam-schedule.js'
import { fc } from '../../fixtures/property.js'

const rates = (steps: number, warmup: number, decay: 'constant' | 'linear' | 'cosine') =>
  Array.from({ length: steps }, (_, i) => learningRateFactor(i + 1, { steps, warmup, decay }))

describe('the learning rate’s course', () => {
  test('rises over the warm-up and is whole after it', () => {
    expect(rates(8, 0.5, 'constant')).toEqual([0.25, 0.5, 0.75, 1, 1, 1, 1, 1])
  })

  test('falls in a line, or along a cosine', () => {
    expect(rates(4, 0, 'linear')).toEqual([1, 0.75, 0.5, 0.25])
    const cosine = rates(4, 0, 'cosine')
    const expected = [1, (1 + Math.SQRT1_2) / 2, 0.5, (1 - Math.SQRT1_2) / 2]
    cosine.forEach((rate, i) => {
      expect(rate).toBeCloseTo(expected[i]!, 12)
    })
  })

  test('is above 0 and at most 1 at every step, and whole without either', () => {
    const any = fc.tuple(
      fc.integer({ min: 1, max: 400 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom('constant', 'linear', 'cosine'),
    )
    fc.assert(
      fc.property(any, ([steps, warmup, decay]) => {
        for (const rate of rates(steps, warmup, decay)) {
          expect(rate).toBeGreaterThan(0)
          expect(rate).toBeLessThanOrEqual(1)
        }
      }),
    )
    expect(rates(5, 0, 'constant')).toEqual([1, 1, 1, 1, 1])
  })
})

test('settings are one for the run, or of the step', () => {
  const constant = { learningRate: 0.1 }
  expect(adamSettingsAt(constant, 7)).toBe(constant)
  expect(adamSettingsAt((step) => ({ learningRate: step }), 7)).toEqual({ learningRate: 7 })
})
