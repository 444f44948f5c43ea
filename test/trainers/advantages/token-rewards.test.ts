import { describe, expect, test } from 'vitest'
import { drGrpoAdvantages, grpoAdvantages } from '../../../src/trainers/advantages/per-group.js'
import {
  assertRow,
  discountedReturns,
  klPenalisedRewards,
  terminalReward,
} from '../../../src/trainers/advantages/token-rewards.js'
import {
  spreadTurns,
  tokenTurns,
  turnAdvantages,
  turnReturns,
  turnRewards,
} from '../../../src/trainers/advantages/turn-rewards.js'
import { fc } from '../../fixtures/property.js'

const mask = (...bits: readonly number[]) => Uint8Array.from(bits)
const floats = (...values: readonly number[]) => Float64Array.from(values)

describe('terminalReward', () => {
  test('puts the total at the last drawn token', () => {
    expect([...terminalReward(mask(1, 0, 1, 0), 0.7)]).toEqual([0, 0, 0.7, 0])
  })

  test('refuses a segment without a drawn token', () => {
    expect(() => terminalReward(mask(0, 0), 1)).toThrow(
      new RangeError('Expected a drawn token to carry the total, got none'),
    )
  })
})

describe('discountedReturns', () => {
  test('discounts per drawn token and steps over the rest', () => {
    const row = { rewards: floats(0, 0, 0, 1, 0, 4), mask: mask(1, 0, 0, 1, 0, 1) }
    expect([...discountedReturns(row, { gamma: 0.5 })]).toEqual([1.5, 0, 0, 3, 0, 4])
  })

  test('goes on from what follows, so that a fork does not cut an episode in two', () => {
    const whole = discountedReturns(
      { rewards: floats(1, 2, 3, 4), mask: mask(1, 1, 1, 1) },
      { gamma: 0.9 },
    )
    const late = discountedReturns({ rewards: floats(3, 4), mask: mask(1, 1) }, { gamma: 0.9 })
    const early = discountedReturns(
      { rewards: floats(1, 2), mask: mask(1, 1), after: late[0]! },
      { gamma: 0.9 },
    )
    expect([...early, ...late]).toEqual([...whole])
  })

  test('without a discount every drawn token of an outcome reward gets the total', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 20 }), (bits) => {
        fc.pre(bits.includes(1))
        const drawn = Uint8Array.from(bits)
        const returns = discountedReturns({ rewards: terminalReward(drawn, 0.7), mask: drawn })
        expect([...returns]).toEqual(bits.map((bit) => 0.7 * bit))
      }),
    )
  })

  test('refuses a discount outside 0 to 1', () => {
    for (const gamma of [-0.1, 1.1, Number.NaN])
      expect(() => discountedReturns({ rewards: floats(1), mask: mask(1) }, { gamma })).toThrow(
        new RangeError(`Expected \`gamma\` to be in [0, 1], got \`${gamma}\``),
      )
  })
})

describe('assertRow', () => {
  test('refuses a reward that would be lost, and numbers that are none', () => {
    expect(() => assertRow({ rewards: floats(0, 2), mask: mask(1, 0) })).toThrow(
      new RangeError(
        'Expected `rewards` to be 0 where masked, got `2` at token 1: it would be lost',
      ),
    )
    expect(() => assertRow({ rewards: floats(0, Number.NaN), mask: mask(1, 1) })).toThrow(
      'Expected `rewards` to be finite where drawn, got `NaN` at token 1',
    )
    expect(() => assertRow({ rewards: floats(0), mask: mask(1, 1) })).toThrow(
      'Expected `rewards` to be as long as the mask (2), got 1',
    )
    expect(() =>
      assertRow({ rewards: floats(0), mask: mask(1), after: Number.POSITIVE_INFINITY }),
    ).toThrow('Expected `after` to be finite, got `Infinity`')
  })
})

describe('klPenalised', () => {
  const row = (logprobs: Float64Array, refLogprobs: Float64Array) => ({
    rewards: floats(0, 0, 1),
    mask: mask(1, 0, 1),
    logprobs,
    refLogprobs,
  })
  const one = row(floats(-1, Number.NaN, -2), floats(-1.5, 0, -1))

  test('takes each estimate from the rewards of drawn tokens', () => {
    const of = (estimator: 'k1' | 'k2' | 'k3') => [
      ...klPenalisedRewards(one, { estimator, coefficient: 0.1 }),
    ]
    expect(of('k1')).toEqual([-0.1 * 0.5, 0, 1 + 0.1])
    expect(of('k2')).toEqual([-0.1 * 0.125, 0, 1 - 0.1 * 0.5])
    const k3 = of('k3')
    expect(k3[0]).toBeCloseTo(-0.1 * (Math.exp(-0.5) + 0.5 - 1), 12)
    expect(k3[1]).toBe(0)
    expect(k3[2]).toBeCloseTo(1 - 0.1 * (Math.E - 2), 12)
  })

  test('k3 is bounded where the exponential is not', () => {
    const far = row(floats(-1000, 0, 0), floats(0, 0, -1000))
    const [first, , last] = klPenalisedRewards(far, { estimator: 'k3', coefficient: 1 })
    expect([first, last]).toEqual([-10, 1 - 10])
  })

  test('equal policies cost nothing', () => {
    const same = floats(-1, -2, -3)
    for (const estimator of ['k1', 'k2', 'k3'] as const)
      expect([...klPenalisedRewards(row(same, same), { estimator, coefficient: 5 })]).toEqual([
        0, 0, 1,
      ])
  })
})

describe('turns', () => {
  const masks = [mask(1, 1, 0, 1), mask(0, 1, 1)]

  test('every drawn token knows its turn, though two turns touch or a segment ends', () => {
    // Turn 0 and 1 have a token each with nothing in between, turn 2 drew none, turn 3 goes on over a fork.
    expect(tokenTurns(masks, [1, 1, 0, 3]).map((row) => [...row])).toEqual([
      [0, 1, -1, 3],
      [-1, 3, 3],
    ])
  })

  test('masks with more or fewer drawn tokens than the turns are refused', () => {
    expect(() => tokenTurns(masks, [1, 1])).toThrow(
      new RangeError('Expected the masks to hold the 2 tokens of the turns, got 5'),
    )
    expect(() => tokenTurns(masks, [6])).toThrow('the 6 tokens of the turns, got 5')
  })

  test('a reward stands at the last token of its turn', () => {
    const turns = tokenTurns(masks, [1, 1, 0, 3])
    expect(turnRewards(turns, [0.1, 0.2, 0, 0.4]).map((row) => [...row])).toEqual([
      [0.1, 0.2, 0, 0],
      [0, 0, 0.4],
    ])
    expect(() => turnRewards(turns, [0, 0, 0.3, 0])).toThrow(
      new RangeError('Expected turn 2 to have tokens for its reward 0.3, got none'),
    )
  })

  test('a number of a turn is given to each of its tokens, and to no masked one', () => {
    const turns = tokenTurns(masks, [1, 1, 0, 3])
    expect(spreadTurns(turns, [1, 2, 9, 4]).map((row) => [...row])).toEqual([
      [1, 2, 0, 4],
      [0, 4, 4],
    ])
  })

  test('returns are discounted per turn', () => {
    expect(turnReturns([1, 0, 4], { gamma: 0.5 })).toEqual([2, 2, 4])
    expect(turnReturns([])).toEqual([])
    expect(() => turnReturns([1], { gamma: 2 })).toThrow(
      'Expected `gamma` to be in [0, 1], got `2`',
    )
  })

  test('returns of tokens from turn rewards are those of the turns, without a discount', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: -8, max: 8 })), {
          minLength: 1,
          maxLength: 6,
        }),
        (moves) => {
          const drawn = Uint8Array.from(
            moves.flatMap(([tokens]) => [...new Array<number>(tokens).fill(1), 0]),
          )
          const turns = tokenTurns(
            [drawn],
            moves.map(([tokens]) => tokens),
          )
          const rewards = moves.map(([, reward]) => reward / 4)
          const [tokens] = turnRewards(turns, rewards)
          const [spread] = spreadTurns(turns, turnReturns(rewards))
          expect(discountedReturns({ rewards: tokens!, mask: drawn })).toEqual(spread)
        },
      ),
    )
  })
})

describe('turnAdvantages', () => {
  test("compares the returns of siblings' turns, and gives a turn nobody else reached 0", () => {
    const rewards = [
      [0, 1],
      [0.5, 0, 2],
      [0, 0],
    ]
    // Returns: 1 1 | 2.5 2 2 | 0 0; means of the turns: 3.5/3, 1, and 2 alone.
    const got = turnAdvantages(rewards, drGrpoAdvantages())
    expect(got.map((row) => row.map((value) => Math.round(value * 1e6) / 1e6))).toEqual([
      [-0.166667, 0],
      [1.333333, 1, 0],
      [-1.166667, -1],
    ])
  })

  test('compares all rewards at once and sums what is left, as process supervision does', () => {
    const rewards = [
      [1, 0],
      [0, 0, 1],
    ]
    // Centred on 0.4: 0.6 -0.4 | -0.4 -0.4 0.6.
    const got = turnAdvantages(rewards, drGrpoAdvantages(), { compare: 'rewards' })
    const flat = got.flat().map((value) => Math.round(value * 1e9) / 1e9)
    expect(flat).toEqual([0.2, -0.4, -0.2, 0.2, 0.6])
  })

  test('with one turn each, both are the estimator itself', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -8, max: 8 }), { maxLength: 8 }), (totals) => {
        const members = totals.map((total) => [total])
        const expected = grpoAdvantages()(totals).map((value) => [value])
        for (const compare of ['returns', 'rewards'] as const)
          expect(turnAdvantages(members, grpoAdvantages(), { compare })).toEqual(expected)
      }),
    )
  })

  test('every turn of every member gets a finite number', () => {
    const member = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { maxLength: 5 })
    fc.assert(
      fc.property(
        fc.array(member, { maxLength: 6 }),
        fc.constantFrom('returns' as const, 'rewards' as const),
        (members, compare) => {
          const got = turnAdvantages(members, grpoAdvantages(), { compare, gamma: 0.9 })
          expect(got.map(({ length }) => length)).toEqual(members.map(({ length }) => length))
          expect(got.flat().every(Number.isFinite)).toBe(true)
        },
      ),
    )
  })
})
