import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { advantageEstimators, drGrpo, grpo, rloo } from '../../src/trainers/advantages.js'

const close = (got: readonly number[], expected: readonly number[], digits = 6) => {
  expect(got).toHaveLength(expected.length)
  got.forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i] as number, digits)
  })
}

describe('hand-computed groups', () => {
  const totals = [1, 0, 0, 1, 0.5]

  test('GRPO divides by the sample standard deviation plus 1e-6, as verl and slime do', () => {
    // The sample deviation is 0.5; verl and slime print 0.99999797 for these, in float32.
    const one = 0.5 / (0.5 + 1e-6)
    close(grpo()(totals), [one, -one, -one, one, 0], 12)
  })

  test('Dr. GRPO only centres', () => close(drGrpo()(totals), [0.5, -0.5, -0.5, 0.5, 0]))

  test('RLOO compares with the others', () =>
    close(rloo()(totals), [0.625, -0.625, -0.625, 0.625, 0]))
})

describe.each(Object.entries(advantageEstimators))('%s', (_, estimate) => {
  const groups = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), {
    minLength: 1,
    maxLength: 12,
  })

  test('sums to zero and keeps the order of the totals', () => {
    fc.assert(
      fc.property(groups, (totals) => {
        const advantages = estimate(totals)
        expect(Math.abs(advantages.reduce((a, b) => a + b, 0))).toBeLessThan(1e-6)
        for (let i = 1; i < totals.length; i++) {
          const rise = (totals[i] as number) - (totals[i - 1] as number)
          const gain = (advantages[i] as number) - (advantages[i - 1] as number)
          if (Math.abs(rise) > 1e-9) expect(Math.sign(gain)).toBe(Math.sign(rise))
        }
      }),
    )
  })

  test('teaches nothing from one member or from equal ones', () => {
    expect(estimate([0.7])).toEqual([0])
    expect(estimate([0.25, 0.25, 0.25]).map(Math.abs)).toEqual([0, 0, 0])
  })
})
