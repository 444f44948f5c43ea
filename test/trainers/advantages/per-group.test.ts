import { describe, expect, test } from 'vitest'
import type { AdvantageEstimator } from '../../../src/group.js'
import {
  advantageEstimators,
  drGrpoAdvantages,
  grpoAdvantages,
  grpoVariants,
  maxRlAdvantages,
  remaxAdvantages,
  rlooAdvantages,
} from '../../../src/trainers/advantages/per-group.js'
import { fc } from '../../fixtures/property.js'

const close = (got: readonly number[], expected: readonly number[], digits = 6) => {
  expect(got).toHaveLength(expected.length)
  got.forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i] as number, digits)
  })
}

/** Equal up to rounding, of the size of what is compared. */
const near = (got: readonly number[], expected: readonly number[], tolerance = 1e-9) => {
  expect(got).toHaveLength(expected.length)
  got.forEach((value, i) => {
    const other = expected[i] as number
    expect(Math.abs(value - other)).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(other)))
  })
}

describe('hand-computed groups', () => {
  const totals = [1, 0, 0, 1, 0.5]

  test('GRPO divides by the sample standard deviation plus 1e-6, as verl and slime do', () => {
    // The sample deviation is 0.5; verl and slime print 0.99999797 for these, in float32.
    const one = 0.5 / (0.5 + 1e-6)
    close(grpoAdvantages()(totals), [one, -one, -one, one, 0], 12)
    close(grpoAdvantages(grpoVariants.verl)(totals), [one, -one, -one, one, 0], 12)
    close(grpoAdvantages(grpoVariants.slime)(totals), [one, -one, -one, one, 0], 12)
  })

  test("GRPO is TRL's with 1e-4, and its asynchronous trainer's over n with 1e-8", () => {
    // Printed by them: 0.99980003 and 1.1180340.
    const trl = 0.99980003
    const later = 1.118034
    close(grpoAdvantages(grpoVariants.trl)(totals), [trl, -trl, -trl, trl, 0], 7)
    close(grpoAdvantages(grpoVariants['trl-async'])(totals), [later, -later, -later, later, 0], 6)
  })

  test('Dr. GRPO only centres', () => {
    close(drGrpoAdvantages()(totals), [0.5, -0.5, -0.5, 0.5, 0])
    expect(grpoAdvantages({ std: 'none' })(totals)).toEqual(drGrpoAdvantages()(totals))
  })

  test('RLOO compares with the others', () =>
    close(rlooAdvantages()(totals), [0.625, -0.625, -0.625, 0.625, 0]))

  test('MaxRL divides by the mean, so that a rare success counts as much as all the failures', () => {
    close(maxRlAdvantages()(totals), [1, -1, -1, 1, 0])
    close(maxRlAdvantages()([0, 0, 0, 1]), [-1, -1, -1, 3])
    expect(maxRlAdvantages()([0, 0])).toEqual([0, 0])
    expect(maxRlAdvantages()([-1, -3])).toEqual([0, 0])
  })

  test('ReMax compares with the greedy rollout, a group of one and of equals too', () => {
    expect(remaxAdvantages(0.25)(totals)).toEqual([0.75, -0.25, -0.25, 0.75, 0.25])
    expect(remaxAdvantages(0.25)([0.5])).toEqual([0.25])
    expect(remaxAdvantages(0)([1, 1])).toEqual([1, 1])
  })

  test('one member of a group is not given its raw total', () => {
    for (const variant of Object.values(grpoVariants))
      expect(grpoAdvantages(variant)([0.7])).toEqual([0])
  })
})

describe('totals that are close together for their size', () => {
  test.each([
    [
      [9.999999997487844, 9.999999999986327],
      [-Math.SQRT1_2, Math.SQRT1_2],
    ],
    [
      [1e9 + 1, 1e9 + 2, 1e9 + 3],
      [-1, 0, 1],
    ],
    [
      [-7 - 2 ** -30, -7, -7 + 2 ** -30],
      [-1, 0, 1],
    ],
    [
      [1e300, 1e300 * (1 + 2 ** -50)],
      [-Math.SQRT1_2, Math.SQRT1_2],
    ],
  ])('%j keep their deviations', (totals, expected) => {
    const advantages = grpoAdvantages({ epsilon: 0 })(totals)
    close(advantages, expected, 9)
    expect(Math.abs(advantages.reduce((a, b) => a + b, 0))).toBeLessThan(1e-12)
  })

  test('are the same numbers as the differences alone, wherever they stand', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 2, maxLength: 12 }),
        fc.integer({ min: 2 ** 21, max: 2 ** 40 }),
        (steps, base) => {
          const far = steps.map((step) => base + step)
          const exact = (estimate: AdvantageEstimator) =>
            near(estimate(far), estimate(steps), 1e-12)
          exact(grpoAdvantages({ epsilon: 0 }))
          exact(drGrpoAdvantages())
          exact(rlooAdvantages())
        },
      ),
    )
  })
})

test('options that make no sense are refused with their value', () => {
  expect(() => grpoAdvantages({ epsilon: -1 })).toThrow(
    new RangeError('Expected `epsilon` to be at least 0, got `-1`'),
  )
  expect(() => grpoAdvantages({ epsilon: Number.NaN })).toThrow('got `NaN`')
  expect(() => remaxAdvantages(Number.POSITIVE_INFINITY)).toThrow(
    new RangeError('Expected `greedy` to be finite, got `Infinity`'),
  )
})

const groups = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), {
  minLength: 1,
  maxLength: 12,
})
/** Totals a reward would give: in steps that rounding cannot blur. */
const plain = fc.array(
  fc.integer({ min: -80, max: 80 }).map((n) => n / 8),
  { minLength: 1, maxLength: 12 },
)
const exactGrpo = grpoAdvantages({ epsilon: 0 })
const every = [
  // MaxRL divides by the mean: a shift of all totals changes it.
  ...Object.entries(advantageEstimators).filter(([name]) => name !== 'max-rl'),
  ...Object.entries(grpoVariants).map(
    ([name, variant]) => [`grpo of ${name}`, grpoAdvantages(variant)] as const,
  ),
  ['grpo without epsilon', exactGrpo] as const,
]

describe.each(every)('%s', (_, estimate) => {
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
    // Three times 0.1 is not 0.3, and a mean of equal totals need not be one of them.
    for (const equal of [0.25, 0.1, -7.3, 1e300, 5e-324])
      expect(estimate([equal, equal, equal])).toEqual([0, 0, 0])
    expect(estimate([])).toEqual([])
  })

  test('does not change when every total is shifted', () => {
    fc.assert(
      fc.property(plain, fc.integer({ min: -1000, max: 1000 }), (totals, shift) => {
        near(estimate(totals.map((total) => total + shift)), estimate(totals))
      }),
    )
  })

  test('gives a member the same wherever it stands', () => {
    fc.assert(
      fc.property(plain, fc.nat(), (totals, by) => {
        const at = by % totals.length
        const turned = [...totals.slice(at), ...totals.slice(0, at)]
        const advantages = estimate(totals)
        near(estimate(turned), [...advantages.slice(at), ...advantages.slice(0, at)])
      }),
    )
  })

  test('makes NaN of no finite totals', () => {
    const any = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 8 })
    fc.assert(
      fc.property(any, (totals) => {
        expect(estimate(totals).some(Number.isNaN)).toBe(false)
      }),
      { numRuns: 500 },
    )
    const most = Number.MAX_VALUE
    for (const extreme of [
      [most, -most],
      [most, most, 0],
      [5e-324, 0],
      [1e-200, -1e200],
    ])
      expect(estimate(extreme).some(Number.isNaN)).toBe(false)
  })
})

test('GRPO without an epsilon does not change when every total is scaled up or down', () => {
  fc.assert(
    fc.property(plain, fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (totals, scale) => {
      near(exactGrpo(totals.map((total) => total * scale)), exactGrpo(totals))
    }),
  )
})

test('RLOO is n / (n - 1) times Dr. GRPO', () => {
  fc.assert(
    fc.property(groups, (totals) => {
      const n = totals.length
      near(
        rlooAdvantages()(totals),
        drGrpoAdvantages()(totals).map((value) => (n < 2 ? 0 : (value * n) / (n - 1))),
      )
    }),
  )
})

test('GRPO over n - 1 leaves a group of two or more with variance 1', () => {
  fc.assert(
    fc.property(plain, (totals) => {
      fc.pre(new Set(totals).size > 1)
      const advantages = exactGrpo(totals)
      const squares = advantages.reduce((sum, value) => sum + value ** 2, 0)
      expect(squares / (totals.length - 1)).toBeCloseTo(1, 9)
    }),
  )
})
