import { describe, expect, test } from 'vitest'
import type { Part, Reward } from '../../../src/reward.js'
import { notApplicable, ok, unavailable } from '../../../src/reward.js'
import type { GateOptions } from '../../../src/rewards/combinators/compose.js'
import { clip, gate, multiply, otherwise, weigh } from '../../../src/rewards/combinators/compose.js'
import { defineReward } from '../../../src/rewards/define.js'
import { fc } from '../../fixtures/property.js'
import { ask, diagnose, episodeOf, saying, truthOf } from '../../fixtures/reward-episodes.js'

const episode = saying('flu')
const truth = truthOf()
const run = (reward: Reward) => reward(episode, truth)

type Bounds = readonly [number, number]
const giving = (part: Part, name = 'inner', bounds: Bounds = [0, 1]): Reward =>
  defineReward({ name, bounds, source: 'a test' }, () => part)
const value = (v: number, name?: string) => giving(ok(v), name)

const number = fc.double({ min: -100, max: 100, noNaN: true })
const unit = fc.double({ min: 0, max: 1, noNaN: true })
const bounded = fc.tuple(number, number, unit).map(([a, b, t]) => {
  const [low, high] = [Math.min(a, b), Math.max(a, b)]
  return { bounds: [low, high] as Bounds, value: Math.min(high, low + t * (high - low)) }
})
const weight = fc.double({ min: 0.01, max: 10, noNaN: true })
const parts = fc.array(fc.tuple(weight, fc.option(bounded)), { minLength: 1, maxLength: 6 })

/** A weighed reward of these; null stands for a part that does not apply. */
const weighing = (list: readonly (readonly [number, { bounds: Bounds; value: number } | null])[]) =>
  weigh(
    Object.fromEntries(
      list.map(([w, given], i) => [
        `p${i}`,
        [w, giving(given ? ok(given.value) : notApplicable, `p${i}`, given?.bounds ?? [0, 1])],
      ]),
    ),
  )

describe('weigh', () => {
  test('is the weighted mean, with the keys as part names', async () => {
    const reward = weigh({ a: [3, value(1)], b: [1, value(0.5)] })
    expect(await run(reward)).toEqual({ total: 0.875, parts: { a: ok(1), b: ok(0.5) } })
    expect(reward.weights).toEqual({ a: 0.75, b: 0.25 })
  })

  test('takes bare functions', async () => {
    expect((await run(weigh({ a: [1, () => 2], b: [1, async () => 4] }))).total).toBe(3)
  })

  test('totals stay within the declared bounds', () =>
    fc.assert(
      fc.asyncProperty(parts, async (list) => {
        const reward = weighing(list)
        const { total } = await run(reward)
        if (list.every(([, given]) => given === null)) expect(total).toBeNull()
        else {
          expect(total).toBeGreaterThanOrEqual(reward.bounds[0])
          expect(total).toBeLessThanOrEqual(reward.bounds[1])
        }
      }),
    ))

  test('a part that does not apply changes nothing for the others', () =>
    fc.assert(
      fc.asyncProperty(parts, weight, async (list, w) => {
        fc.pre(list.some(([, given]) => given !== null))
        const { total } = await run(weighing(list))
        const more = await run(weighing([...list, [w, null]]))
        expect(more.total).toBeCloseTo(total ?? Number.NaN, 9)
      }),
    ))

  test('the order of parts changes nothing', () =>
    fc.assert(
      fc.asyncProperty(parts, async (list) => {
        const keyed = list.map(([w, given], i): [string, [number, Reward]] => {
          const part = given ? ok(given.value) : notApplicable
          return [`p${i}`, [w, giving(part, `p${i}`, given?.bounds ?? [0, 1])]]
        })
        const one = await run(weigh(Object.fromEntries(keyed)))
        const other = await run(weigh(Object.fromEntries(keyed.toReversed())))
        expect(other.parts).toEqual(one.parts)
        if (one.total === null) expect(other.total).toBeNull()
        else expect(other.total).toBeCloseTo(one.total, 9)
      }),
    ))

  test('one unavailable part makes the total null and is still reported', () =>
    fc.assert(
      fc.asyncProperty(parts, weight, async (list, w) => {
        const reward = weigh({
          rest: [1, weighing(list)],
          judge: [w, giving(unavailable('judge down'))],
        })
        const { total, parts: reported } = await run(reward)
        expect(total).toBeNull()
        expect(reported.judge).toEqual(unavailable('judge down'))
      }),
    ))

  test('all parts not applicable is null, not 0', async () => {
    expect(await run(weigh({ a: [1, giving(notApplicable)] }))).toEqual({
      total: null,
      parts: { a: notApplicable },
    })
  })

  test('the parts of a composed part are listed under its key', async () => {
    const inner = weigh({ x: [1, value(1)], y: [1, value(0)] })
    expect((await run(weigh({ z: [1, value(1)], in: [1, inner] }))).parts).toEqual({
      z: ok(1),
      in: ok(0.5),
      'in/x': ok(1),
      'in/y': ok(0),
    })
  })

  test('an unavailable inner part gives its reason under its own name', async () => {
    const inner = weigh({ x: [1, value(1)], y: [1, giving(unavailable('down'))] })
    expect((await run(weigh({ in: [1, inner] }))).parts.in).toEqual(unavailable('y: down'))
  })

  test('a part of weight 0 is reported and never needed', async () => {
    const { total, parts: reported } = await run(
      weigh({ a: [1, value(1)], watched: [0, giving(unavailable('down'))] }),
    )
    expect([total, reported.watched]).toEqual([1, unavailable('down')])
  })

  test.each([
    [{ a: [-1, value(1)] }, 'Expected weight `a` to be finite and ≥ 0, got -1'],
    [{ a: [Number.NaN, value(1)] }, 'Expected weight `a` to be finite and ≥ 0, got NaN'],
    [{ a: [0, value(1)] }, 'Expected at least one weight above 0, got none'],
    [{}, 'Expected at least one weight above 0, got none'],
  ] as const)('weights that are none are refused at once (%#)', (weights, message) => {
    expect(() => weigh(weights)).toThrow(new RangeError(message))
  })
})

describe('what turns are paid', () => {
  const long = episodeOf([ask(), ask(), diagnose('flu')])
  const byTurn = (turns: readonly number[], bounds: Bounds = [0, 1]) =>
    defineReward({ name: 'steps', bounds }, () => {
      const total = turns.reduce((sum, one) => sum + one, 0)
      return { total, parts: { steps: ok(total) }, turns }
    })
  const paid = async (reward: Reward) => {
    const { total, turns = [] } = await reward(long, truth)
    expect(turns.reduce((sum, one) => sum + one, 0)).toBeCloseTo(total ?? Number.NaN, 12)
    return turns.map((one) => Number(one.toFixed(6)))
  }

  test('is weighed, and what has no turns of its own is paid at the last', async () => {
    const reward = weigh({ steps: [1, byTurn([0.2, 0.4, 0])], dx: [3, value(0.8)] })
    expect(await paid(reward)).toEqual([0.05, 0.1, 0.6])
  })

  test('a part that does not apply or weighs nothing leaves it alone', async () => {
    const steps = byTurn([0.2, 0.4, 0])
    const reward = weigh({
      steps: [1, steps],
      none: [3, giving(notApplicable)],
      watched: [0, byTurn([1, 0, 0])],
    })
    expect(await paid(reward)).toEqual([0.2, 0.4, 0])
  })

  test('where no part is paid by turn, nothing is said of turns', async () => {
    expect(await run(weigh({ a: [1, value(1)] }))).not.toHaveProperty('turns')
    expect(
      await weigh({ a: [1, value(1)], watched: [0, byTurn([1, 0, 0])] })(long, truth),
    ).not.toHaveProperty('turns')
  })

  test('a gate holds every turn down, from the lower bound', async () => {
    const failing = value(0, 'safe')
    expect(await paid(gate(failing, byTurn([0.2, 0.4, 0])))).toEqual([0.05, 0.1, 0])
    expect(await paid(gate(failing, byTurn([-0.6, 0.2, 0], [-1, 1])))).toEqual([-0.15, 0.05, -0.75])
    expect(await paid(gate(value(1, 'safe'), byTurn([0.2, 0.4, 0])))).toEqual([0.2, 0.4, 0])
  })

  test('a clip leaves turns as they were', async () => {
    const { total, turns } = await clip(byTurn([0.2, 0.6, 0]), 0, 0.5)(long, truth)
    expect([total, turns]).toEqual([0.5, [0.2, 0.6, 0]])
  })
})

describe('a graded gate', () => {
  const graded = async (check: number, v: number, options: GateOptions = { floor: 0.1 }) =>
    (await run(gate(value(check, 'safe'), value(v), options))).total ?? Number.NaN

  test('goes from the floor to the ceiling as its condition does', async () => {
    expect(await graded(0, 0.8)).toBeCloseTo(0.08, 12)
    expect(await graded(0.5, 0.8)).toBeCloseTo(0.8 * 0.175, 12)
    expect(await graded(1, 0.8)).toBe(0.8)
  })

  test('passes from a value of its own on', async () => {
    expect(await graded(0.75, 0.8, { floor: 0.1, passes: 0.75 })).toBe(0.8)
  })

  test('inside it, safer is better at the same reward and better is better at the same safety', () =>
    fc.assert(
      fc.asyncProperty(unit, unit, unit, unit, async (safer, t, v, u) => {
        expect(await graded(safer * t, v)).toBeLessThanOrEqual(await graded(safer, v))
        expect(await graded(safer, v * u)).toBeLessThanOrEqual(await graded(safer, v))
        expect(await graded(safer, v)).toBeLessThanOrEqual(await graded(1, v))
      }),
    ))

  test('a group that failed altogether still has an order, and so a gradient', async () => {
    const group = await Promise.all([0, 0.25, 0.5, 0.75].map((recall) => graded(recall, 0.6)))
    expect(group).toEqual([...new Set(group)].sort((a, b) => a - b))
  })

  test.each([
    [{ floor: 0.3 }, 'Expected `floor` to be within [0, 0.25], got 0.3'],
    [{ floor: -1 }, 'Expected `floor`'],
    [{ passes: 0 }, 'Expected `passes` to be more than 0, got 0'],
    [{ passes: Number.NaN }, 'Expected `passes`'],
  ])('options %j are refused', (options, message) => {
    expect(() => gate(value(1, 'safe'), value(1), options)).toThrow(message)
  })
})

describe('gate', () => {
  const passing = value(1, 'safe')
  const failing = value(0, 'safe')

  test('passing leaves the total alone, and its part stands beside the others', async () => {
    expect(await run(gate(passing, value(0.6)))).toEqual({
      total: 0.6,
      parts: { inner: ok(0.6), safe: ok(1) },
    })
  })

  test('failing leaves a quarter by default', async () => {
    expect((await run(gate(failing, value(0.6)))).total).toBeCloseTo(0.15, 12)
  })

  test('inside a failing gate better stays better, and never beats the same without failing', () =>
    fc.assert(
      fc.asyncProperty(bounded, unit, unit, async ({ bounds, value: v }, t, ceiling) => {
        const other = bounds[0] + t * (v - bounds[0])
        const gated = async (x: number, check: Reward) =>
          (await run(gate(check, giving(ok(x), 'inner', bounds), { ceiling }))).total ?? Number.NaN
        const [high, low] = [await gated(v, failing), await gated(other, failing)]
        expect(low).toBeLessThanOrEqual(high)
        expect(high).toBeLessThanOrEqual(await gated(v, passing))
        expect(low).toBeGreaterThanOrEqual(bounds[0])
      }),
    ))

  test('below zero too, failing is never the better deal', async () => {
    const reward = giving(ok(-0.5), 'inner', [-1, 1])
    expect((await run(gate(failing, reward))).total).toBe(-0.875)
  })

  test('a condition that does not apply passes; one that is unavailable makes the total null', async () => {
    expect((await run(gate(giving(notApplicable, 'safe'), value(0.6)))).total).toBe(0.6)
    const { total, parts: reported } = await run(
      gate(giving(unavailable('down'), 'safe'), value(0.6)),
    )
    expect([total, reported.safe]).toEqual([null, unavailable('down')])
  })

  test('a reward without a total stays without one', async () => {
    expect((await run(gate(passing, giving(notApplicable)))).total).toBeNull()
  })

  test('bounds, name and weights are those of the reward', () => {
    const inner = weigh({ a: [1, value(1)] }, { name: 'whole' })
    const reward = gate(failing, inner)
    expect([reward.rewardName, reward.bounds, reward.weights]).toEqual(['whole', [0, 1], { a: 1 }])
  })

  test('a reward without a lower bound cannot be gated, a clipped one can', async () => {
    const free = () => 0.8
    expect(() => gate(failing, free)).toThrow('to have a lower bound to be gated to')
    expect((await run(gate(failing, clip(free, 0, 1)))).total).toBeCloseTo(0.2, 12)
  })

  test('a gate that would hide a part of its reward is refused', async () => {
    await expect(run(gate(value(1, 'same'), value(1, 'same')))).rejects.toThrow(
      'Expected the gate to have a name of its own, got `same` twice',
    )
  })

  test.each([-0.1, 1.1, Number.NaN])('a ceiling of %s is refused', (ceiling) => {
    expect(() => gate(passing, value(1), { ceiling })).toThrow('Expected `ceiling`')
  })
})

describe('clip', () => {
  test('holds the total and the bounds within the range, and the parts as they were', async () => {
    const reward = clip(giving(ok(7), 'inner', [-10, 10]), 0, 5)
    expect(reward.bounds).toEqual([0, 5])
    expect(await run(reward)).toEqual({ total: 5, parts: { inner: ok(7) } })
  })

  test('clipping twice is clipping once', () =>
    fc.assert(
      fc.asyncProperty(bounded, number, number, async ({ bounds, value: v }, a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        const once = clip(giving(ok(v), 'inner', bounds), low, high)
        const twice = clip(once, low, high)
        expect(await run(twice)).toEqual(await run(once))
        expect(twice.bounds).toEqual(once.bounds)
      }),
    ))

  test('null stays null', async () => {
    expect((await run(clip(giving(unavailable('down')), 0, 1))).total).toBeNull()
  })
})

describe('product', () => {
  test('is one part, and within the product of the bounds', () =>
    fc.assert(
      fc.asyncProperty(bounded, bounded, async (x, y) => {
        const reward = multiply(
          giving(ok(x.value), 'x', x.bounds),
          giving(ok(y.value), 'y', y.bounds),
        )
        const { total, parts: reported } = await run(reward)
        expect(total).toBeGreaterThanOrEqual(reward.bounds[0])
        expect(total).toBeLessThanOrEqual(reward.bounds[1])
        expect(Object.keys(reported)).toEqual(['x × y'])
      }),
    ))

  test('unavailable where either is, whatever the other says', async () => {
    for (const other of [value(0), giving(notApplicable)]) {
      expect((await run(multiply(giving(unavailable('down')), other))).parts).toEqual({
        'inner × inner': unavailable('down'),
      })
      expect((await run(multiply(other, giving(unavailable('down'))))).total).toBeNull()
    }
  })

  test('not applicable where either does not apply', async () => {
    const { parts: reported } = await run(multiply(value(1), giving(notApplicable)))
    expect(reported['inner × inner']).toEqual(notApplicable)
  })
})

describe('otherwise', () => {
  test('stands in only where the reward does not apply', async () => {
    expect((await run(otherwise(value(0.2), value(0.9)))).total).toBe(0.2)
    expect((await run(otherwise(giving(notApplicable), value(0.9)))).total).toBe(0.9)
    expect((await run(otherwise(giving(notApplicable), 0))).total).toBe(0)
  })

  test('does not cover up what is unavailable', async () => {
    expect((await run(otherwise(giving(unavailable('down')), 1))).total).toBeNull()
  })

  test('its bounds cover both', () => {
    expect(otherwise(value(0), 2).bounds).toEqual([0, 2])
    expect(otherwise(value(0), giving(ok(0), 'low', [-3, 0])).bounds).toEqual([-3, 1])
  })
})
