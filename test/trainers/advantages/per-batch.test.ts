import { describe, expect, test } from 'vitest'
import type { BatchEstimator, ScoredGroup } from '../../../src/group.js'
import {
  gdpoAdvantages,
  litePpoAdvantages,
  reinforcePlusPlusBaselineAdvantages,
} from '../../../src/trainers/advantages/per-batch.js'
import { standardise, whitenTokens } from '../../../src/trainers/advantages/whiten.js'
import { fc } from '../../fixtures/property.js'

const near = (
  got: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
  tolerance = 1e-9,
) => {
  expect(got.map(({ length }) => length)).toEqual(expected.map(({ length }) => length))
  got.flat().forEach((value, i) => {
    const other = expected.flat()[i] as number
    expect(Math.abs(value - other)).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(other)))
  })
}

/** Mean and variance (n - 1) of values, each counted `weights[i]` times: written out, as a check on the other. */
function spelledOut(values: readonly number[], weights: readonly number[]) {
  const all = values.flatMap((value, i) => new Array<number>(weights[i] ?? 0).fill(value))
  const mean = all.reduce((a, b) => a + b, 0) / all.length
  return {
    mean,
    variance: all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (all.length - 1),
  }
}

describe('hand-computed batches', () => {
  const groups: readonly ScoredGroup[] = [
    { totals: [1, 0], tokens: [3, 1] },
    { totals: [0, 0, 0.6], tokens: [2, 2, 2] },
  ]

  test('REINFORCE++ with a baseline centres in groups and whitens over tokens', () => {
    const centred = [0.5, -0.5, -0.2, -0.2, 0.4]
    const { mean, variance } = spelledOut(centred, [3, 1, 2, 2, 2])
    const white = centred.map((value) => (value - mean) / Math.sqrt(variance + 1e-8))
    near(reinforcePlusPlusBaselineAdvantages()(groups), [white.slice(0, 2), white.slice(2)], 1e-12)
  })

  test('without token counts each member weighs the same', () => {
    const bare = groups.map(({ totals }) => ({ totals }))
    const centred = [0.5, -0.5, -0.2, -0.2, 0.4]
    const { mean, variance } = spelledOut(centred, [1, 1, 1, 1, 1])
    const white = centred.map((value) => (value - mean) / Math.sqrt(variance + 1e-8))
    near(reinforcePlusPlusBaselineAdvantages()(bare), [white.slice(0, 2), white.slice(2)], 1e-12)
  })

  test('a group of one gets 0 and moves no other', () => {
    const alone = { totals: [100], tokens: [50] }
    for (const estimate of [reinforcePlusPlusBaselineAdvantages(), gdpoAdvantages()]) {
      const parts = (group: ScoredGroup) => ({
        ...group,
        parts: group.totals.map((total) => ({ all: total })),
      })
      const without = estimate(groups.map(parts))
      const [first, middle, last] = estimate([groups[0]!, alone, groups[1]!].map(parts))
      expect(middle).toEqual([0])
      near([first!, last!], without)
    }
  })

  test('Lite PPO divides by the deviation of all totals, uncentred, plus 1e-4', () => {
    const { variance } = spelledOut([1, 0, 0, 0, 0.6], [1, 1, 1, 1, 1])
    const divisor = Math.sqrt(variance) + 1e-4
    near(
      litePpoAdvantages()(groups),
      [
        [0.5 / divisor, -0.5 / divisor],
        [-0.2 / divisor, -0.2 / divisor, 0.4 / divisor],
      ],
      1e-12,
    )
  })
})

describe('GDPO', () => {
  const groups: readonly ScoredGroup[] = [
    {
      totals: [1, 1, 0],
      parts: [
        { right: 1, form: 0 },
        { right: 1, form: 1 },
        { right: 0, form: 1 },
      ],
    },
    {
      totals: [0, 0, 0],
      parts: [{ right: 0, form: 0 }, { right: 0, form: 0 }, { right: 0 }],
    },
  ]
  // Of 1, 1, 0 the mean is 2/3 and the sample deviation √(1/3).
  const s = Math.sqrt(1 / 3)
  const one = (epsilon: number) => [
    1 / 3 / (s + epsilon),
    1 / 3 / (s + epsilon),
    -2 / 3 / (s + epsilon),
  ]

  test('normalises each part in its group, sums by weight and whitens over the batch', () => {
    const [a, b, c] = one(1e-6) as [number, number, number]
    const sums = [2 * a + c, 2 * b + a, 2 * c + b, 0, 0, 0]
    const { mean, variance } = spelledOut(sums, [1, 1, 1, 1, 1, 1])
    const white = sums.map((value) => (value - mean) / Math.sqrt(variance + 1e-8))
    near(gdpoAdvantages({ weights: { right: 2, form: 1 } })(groups), [
      white.slice(0, 3),
      white.slice(3),
    ])
  })

  test("is TRL's with its constants", () => {
    const [a, b, c] = one(1e-4) as [number, number, number]
    const sums = [a + c, b + a, c + b, 0, 0, 0]
    const { mean, variance } = spelledOut(sums, [1, 1, 1, 1, 1, 1])
    const white = sums.map((value) => (value - mean) / (Math.sqrt(variance) + 1e-4))
    near(gdpoAdvantages({ epsilon: 1e-4, inside: 0, outside: 1e-4 })(groups), [
      white.slice(0, 3),
      white.slice(3),
    ])
  })

  test('learns from parts where the totals are equal', () => {
    const equal = [
      {
        totals: [1, 1],
        parts: [
          { a: 1, b: 0 },
          { a: 0, b: 1 },
        ],
      },
    ]
    const [advantages] = gdpoAdvantages({ weights: { a: 3, b: 1 } })(equal)
    expect(advantages![0]).toBeGreaterThan(0.5)
    expect(advantages![1]).toBeLessThan(-0.5)
  })

  test('compares a part only among the members it applies to', () => {
    const some = [{ totals: [0, 0, 0], parts: [{ a: 1 }, { a: 0 }, {}] }]
    const [advantages] = gdpoAdvantages()(some)
    expect(advantages![2]).toBeCloseTo(0, 12)
    expect(advantages![0]).toBeCloseTo(1, 6)
  })

  test('a part that is not named weighs nothing', () => {
    const only = gdpoAdvantages({ weights: { right: 1 } })(groups)
    const without = groups.map((group) => ({
      ...group,
      parts: group.parts!.map(({ right }) => ({ right: right! })),
    }))
    expect(only).toEqual(gdpoAdvantages()(without))
  })

  test('refuses groups without parts and weights that are no numbers', () => {
    expect(() => gdpoAdvantages()([groups[0]!, { totals: [1, 0] }])).toThrow(
      new TypeError('Expected `parts` of groups[1] to have 2 entries, got none'),
    )
    expect(() => gdpoAdvantages({ weights: { right: Number.NaN } })(groups)).toThrow(
      new RangeError('Expected `weights.right` to be finite, got `NaN`'),
    )
  })
})

test('token counts of another number than the members are refused', () => {
  expect(() => reinforcePlusPlusBaselineAdvantages()([{ totals: [1, 0], tokens: [4] }])).toThrow(
    new RangeError('Expected `tokens` of groups[0] to have 2 entries, got 1'),
  )
})

const member = fc.record({
  total: fc.integer({ min: -40, max: 40 }).map((n) => n / 8),
  tokens: fc.integer({ min: 1, max: 30 }),
})
const batches = fc
  .array(fc.array(member, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 })
  .map((groups) =>
    groups.map((members) => ({
      totals: members.map(({ total }) => total),
      parts: members.map(({ total }) => ({ whole: Math.trunc(total), rest: total % 1 })),
      tokens: members.map(({ tokens }) => tokens),
    })),
  )

const estimators: readonly (readonly [string, BatchEstimator])[] = [
  ['reinforcePlusPlusBaseline', reinforcePlusPlusBaselineAdvantages()],
  ['litePpo', litePpoAdvantages()],
  ['gdpo', gdpoAdvantages()],
]

describe.each(estimators)('%s', (name, estimate) => {
  test('keeps the shape and the order of groups and members', () => {
    fc.assert(
      fc.property(batches, (groups) => {
        const straight = estimate(groups)
        near([...estimate([...groups].reverse())].reverse(), straight)
        const flipped = groups.map(({ totals, parts, tokens }) => ({
          totals: [...totals].reverse(),
          parts: [...parts].reverse(),
          tokens: [...tokens].reverse(),
        }))
        near(
          estimate(flipped).map((row) => [...row].reverse()),
          straight,
        )
      }),
    )
  })

  test('a batch of singletons, of equals or of nothing gives zeros', () => {
    const parts = [{ a: 0.1 }, { a: 0.1 }, { a: 0.1 }]
    expect(estimate([{ totals: [0.7], parts: [{ a: 1 }] }])).toEqual([[0]])
    expect(estimate([{ totals: [0.1, 0.1, 0.1], parts }])).toEqual([[0, 0, 0]])
    expect(estimate([])).toEqual([])
  })

  test('makes NaN of no finite totals', () => {
    const any = fc.array(
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 5 }),
      { maxLength: 4 },
    )
    fc.assert(
      fc.property(any, (lists) => {
        const groups = lists.map((totals) => ({
          totals,
          parts: totals.map((total) => ({ a: total, b: -total / 3 })),
        }))
        expect(estimate(groups).flat().some(Number.isNaN)).toBe(false)
      }),
      { numRuns: 300 },
    )
  })

  if (name !== 'litePpo')
    test('leaves mean 0 and variance 1 over the drawn tokens', () => {
      fc.assert(
        fc.property(batches, (groups) => {
          const several = groups.filter(({ totals }) => totals.length > 1)
          const values = estimate(several).flat()
          // Parts can cancel but for the epsilon of their normalisation; that is not blown up to 1.
          fc.pre(values.some((value) => Math.abs(value) > 0.5))
          const weights = several.flatMap(({ tokens }) => tokens)
          const { mean, variance } = spelledOut(values, weights)
          expect(mean).toBeCloseTo(0, 9)
          expect(variance).toBeCloseTo(1, 5)
        }),
      )
    })
})

describe('whitening', () => {
  const rows = fc.array(
    fc.array(fc.tuple(fc.integer({ min: -64, max: 64 }), fc.boolean()), { maxLength: 12 }),
    { maxLength: 5 },
  )

  test('leaves masked tokens 0, and drawn ones with mean 0 and variance 1', () => {
    fc.assert(
      fc.property(rows, (lists) => {
        const white = whitenTokens(
          lists.map((list) => ({
            values: Float64Array.from(list, ([value, drawn]) => (drawn ? value : Number.NaN)),
            mask: Uint8Array.from(list, ([, drawn]) => (drawn ? 1 : 0)),
          })),
        )
        const drawn: number[] = []
        lists.forEach((list, i) => {
          list.forEach(([, isDrawn], t) => {
            if (isDrawn) drawn.push(white[i]![t]!)
            else expect(white[i]![t]).toBe(0)
          })
        })
        expect(drawn.some(Number.isNaN)).toBe(false)
        const raw = lists.flat().flatMap(([value, isDrawn]) => (isDrawn ? [value] : []))
        if (new Set(raw).size < 2) expect(drawn.every((value) => value === 0)).toBe(true)
        else {
          const { mean, variance } = spelledOut(
            drawn,
            drawn.map(() => 1),
          )
          expect(mean).toBeCloseTo(0, 9)
          expect(variance).toBeCloseTo(1, 5)
        }
      }),
    )
  })

  test('an entry that weighs nothing gets 0 and moves no other', () => {
    const white = [...standardise([5, 1, 3], { weights: [0, 1, 1] })]
    expect(white[0]).toBe(0)
    near([white], [[0, -Math.SQRT1_2, Math.SQRT1_2]])
  })

  test('a weight is a number of times', () => {
    const once = standardise([1, 1, 1, 4], { inside: 1e-8 })
    const weighed = standardise([1, 4], { inside: 1e-8, weights: [3, 1] })
    near([[...weighed]], [[once[0]!, once[3]!]], 1e-12)
  })
})
