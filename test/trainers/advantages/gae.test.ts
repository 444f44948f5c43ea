import { describe, expect, test } from 'vitest'
import type { ValueRow } from '../../../src/trainers/advantages/gae.js'
import { gae, reinforcePlusPlus } from '../../../src/trainers/advantages/gae.js'
import {
  discountedReturns,
  terminalReward,
} from '../../../src/trainers/advantages/token-rewards.js'
import { fc } from '../../fixtures/property.js'

const floats = (...values: readonly number[]) => Float64Array.from(values)
const raw = { whiten: false } as const

const token = fc.record({
  drawn: fc.boolean(),
  reward: fc.integer({ min: -16, max: 16 }).map((n) => n / 8),
  value: fc.integer({ min: -16, max: 16 }).map((n) => n / 8),
})
const rowOf = (tokens: readonly { drawn: boolean; reward: number; value: number }[]): ValueRow => ({
  mask: Uint8Array.from(tokens, ({ drawn }) => (drawn ? 1 : 0)),
  rewards: Float64Array.from(tokens, ({ drawn, reward }) => (drawn ? reward : 0)),
  // What a value model says of tokens the world wrote must not matter.
  values: Float64Array.from(tokens, ({ drawn, value }) => (drawn ? value : Number.NaN)),
})
const rowLists = fc.array(fc.array(token, { maxLength: 12 }).map(rowOf), { maxLength: 5 })
const factor = fc.double({ min: 0, max: 1, noNaN: true })

describe('gae', () => {
  test('hand-computed, with a masked token in the middle', () => {
    const row = {
      rewards: floats(0, 0, 1),
      values: floats(0.5, 99, 0.25),
      mask: Uint8Array.of(1, 0, 1),
    }
    // At the end δ = 1 - 0.25; at the start δ = 0.5 · 0.25 - 0.5, and 0.5 · 0.8 of what follows.
    const [{ advantages, returns } = { advantages: [], returns: [] }] = gae([row], {
      gamma: 0.5,
      lambda: 0.8,
      ...raw,
    })
    const start = 0.125 - 0.5 + 0.4 * 0.75
    expect([...advantages]).toEqual([start, 0, 0.75])
    expect([...returns]).toEqual([start + 0.5, 0, 1])
  })

  test('with gamma and lambda 1 an advantage is the return less the value', () => {
    fc.assert(
      fc.property(rowLists, (rows) => {
        gae(rows, { gamma: 1, lambda: 1, ...raw }).forEach(({ advantages, returns }, i) => {
          const row = rows[i]!
          const expected = discountedReturns(row)
          row.mask.forEach((drawn, t) => {
            expect(advantages[t]).toBeCloseTo(drawn ? expected[t]! - row.values[t]! : 0, 9)
            expect(returns[t]).toBeCloseTo(expected[t]!, 9)
          })
        })
      }),
    )
  })

  test('with lambda 0 an advantage is the surprise of one step', () => {
    const row = { rewards: floats(0, 1), values: floats(0.5, 0.25), mask: Uint8Array.of(1, 1) }
    const [one] = gae([{ ...row, after: 2 }], { gamma: 0.5, lambda: 0, ...raw })
    expect([...one!.advantages]).toEqual([0.125 - 0.5, 1 + 1 - 0.25])
  })

  test('a value model that is right leaves nothing to learn', () => {
    fc.assert(
      fc.property(rowLists, factor, factor, (rows, gamma, lambda) => {
        const right = rows.map((row) => ({ ...row, values: discountedReturns(row, { gamma }) }))
        for (const { advantages } of gae(right, { gamma, lambda, ...raw }))
          for (const advantage of advantages) expect(advantage).toBeCloseTo(0, 9)
      }),
    )
  })

  test('tokens of the world between drawn ones change nothing', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), factor, factor, (tokens, gamma, lambda) => {
        const [sparse] = gae([rowOf(tokens)], { gamma, lambda, ...raw })
        const [dense] = gae([rowOf(tokens.filter(({ drawn }) => drawn))], { gamma, lambda, ...raw })
        expect([...sparse!.advantages].filter((_, t) => tokens[t]?.drawn)).toEqual([
          ...dense!.advantages,
        ])
      }),
    )
  })

  test('is whitened over the drawn tokens of all rows unless told otherwise; returns are not', () => {
    fc.assert(
      fc.property(rowLists, (rows) => {
        const white = gae(rows)
        const plain = gae(rows, raw)
        expect(white.map(({ returns }) => returns)).toEqual(plain.map(({ returns }) => returns))
        const drawn = white.flatMap(({ advantages }, i) =>
          [...advantages].filter((_, t) => rows[i]!.mask[t] === 1),
        )
        const before = plain.flatMap(({ advantages }, i) =>
          [...advantages].filter((_, t) => rows[i]!.mask[t] === 1),
        )
        white.forEach(({ advantages }, i) => {
          advantages.forEach((value, t) => {
            if (rows[i]!.mask[t] === 0) expect(value).toBe(0)
          })
        })
        fc.pre(before.some((value) => Math.abs(value - before[0]!) > 1e-3))
        const mean = drawn.reduce((a, b) => a + b, 0) / drawn.length
        const variance = drawn.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (drawn.length - 1)
        expect(mean).toBeCloseTo(0, 9)
        // The epsilon of 1e-8 shows where the advantages hardly differ.
        expect(Math.abs(variance - 1)).toBeLessThan(0.2)
      }),
    )
  })

  test('refuses factors outside 0 to 1 and values that are no numbers', () => {
    const row = { rewards: floats(1), values: floats(0), mask: Uint8Array.of(1) }
    expect(() => gae([row], { gamma: 1.5 })).toThrow(
      new RangeError('Expected `gamma` to be in [0, 1], got `1.5`'),
    )
    expect(() => gae([row], { lambda: -1 })).toThrow(
      new RangeError('Expected `lambda` to be in [0, 1], got `-1`'),
    )
    expect(() => gae([{ ...row, values: floats(Number.NaN) }])).toThrow(
      new RangeError('Expected `values` to be finite where drawn, got `NaN` at token 0'),
    )
    expect(() => gae([{ ...row, values: floats(0, 0) }])).toThrow(
      'Expected `values` to be as long as the mask (1), got 2',
    )
  })
})

describe('reinforcePlusPlus', () => {
  test('hand-computed: totals of a batch, whitened over tokens', () => {
    const masks = [Uint8Array.of(1, 0, 1, 1), Uint8Array.of(1, 0)]
    const rows = masks.map((mask, i) => ({ rewards: terminalReward(mask, i === 0 ? 1 : 0), mask }))
    // Returns 1, 1, 1 and 0: mean 3/4, variance 1/4.
    const scale = Math.sqrt(0.25 + 1e-8)
    const [first, second] = reinforcePlusPlus(rows)
    const high = 0.25 / scale
    expect([...first!.advantages]).toEqual([high, 0, high, high])
    expect([...second!.advantages]).toEqual([-0.75 / scale, 0])
    expect([...first!.returns]).toEqual([1, 0, 1, 1])
  })

  test('a batch that is all the same, or drew one token, gives zeros', () => {
    const mask = Uint8Array.of(1, 0, 1)
    const same = { rewards: terminalReward(mask, 0.1), mask }
    for (const { advantages } of reinforcePlusPlus([same, same, same]))
      expect([...advantages]).toEqual([0, 0, 0])
    const [one] = reinforcePlusPlus([{ rewards: floats(3), mask: Uint8Array.of(1) }])
    expect([...one!.advantages]).toEqual([0])
    expect(reinforcePlusPlus([])).toEqual([])
  })

  test('rows get the same in any order, and masked tokens 0', () => {
    fc.assert(
      fc.property(rowLists, factor, (rows, gamma) => {
        const straight = reinforcePlusPlus(rows, { gamma })
        const turned = [...reinforcePlusPlus([...rows].reverse(), { gamma })].reverse()
        straight.forEach(({ advantages }, i) => {
          advantages.forEach((value, t) => {
            expect(value).toBeCloseTo(turned[i]!.advantages[t]!, 6)
            if (rows[i]!.mask[t] === 0) expect(value).toBe(0)
          })
        })
      }),
    )
  })
})
