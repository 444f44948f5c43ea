import { describe, expect, test } from 'vitest'
import { Fault } from '../../../src/error.js'
import { notApplicable, unavailable } from '../../../src/reward.js'
import { potentialFromReward, shapeReward } from '../../../src/rewards/combinators/shaping.js'
import { historyCoverage } from '../../../src/rewards/process/history-coverage.js'
import { informationShaping } from '../../../src/rewards/process/information-gain.js'
import { fc } from '../../fixtures/property.js'
import {
  ask,
  diagnose,
  episodeOf,
  finding,
  present,
  truthOf,
} from '../../fixtures/reward-episodes.js'
import { anyPlay } from '../arbitrary.js'

const findings = ['fever', 'ache', 'chills', 'rash'].map((id) => finding(id))
const truth = truthOf({ findings })
const turnsOf = (count: number) => [
  ...Array.from({ length: count - 1 }, () => ask()),
  diagnose('flu'),
]
const potentials = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  minLength: 2,
  maxLength: 9,
})
const gammas = fc.double({ min: 0, max: 1, noNaN: true })
const score = async (values: readonly number[], options: Parameters<typeof shapeReward>[1] = {}) =>
  shapeReward(() => values, options)(episodeOf(turnsOf(values.length - 1)), truth)

describe('shape by turn', () => {
  test('pays γΦ(after) - Φ(before), and the last turn its potential back', async () => {
    const { turns, total } = await score([0.25, 0.5, 0.75], { gamma: 0.5 })
    expect([turns, total]).toEqual([[0, -0.5], -0.25])
  })

  test('its discounted sum is -Φ at the start, whatever came between: no detour pays', () =>
    fc.assert(
      fc.asyncProperty(potentials, gammas, async (values, gamma) => {
        const { turns = [], total } = await score(values, { gamma })
        const sum = turns.reduce((all, reward, t) => all + gamma ** t * reward, 0)
        expect(sum).toBeCloseTo(-(values[0] ?? 0), 9)
        expect(total).toBeCloseTo(sum, 9)
      }),
    ))

  test('so it leaves the order of any two returns from the same start as it was', () =>
    fc.assert(
      fc.asyncProperty(potentials, potentials, gammas, async (one, other, gamma) => {
        const start = one[0] ?? 0
        const first = (await score(one, { gamma })).total
        const second = (await score([start, ...other.slice(1)], { gamma })).total
        expect(first).toBe(second)
      }),
    ))

  test('a consultation without turns is paid nothing', async () => {
    expect(await shapeReward(() => [0.7])(episodeOf([]), truth)).toMatchObject({
      total: 0,
      turns: [],
    })
  })
})

describe('shape by episode', () => {
  test('pays β of what was gained, turn by turn to the same sum, and says what it changes', () =>
    fc.assert(
      fc.asyncProperty(potentials, async (values) => {
        const { turns = [], total } = await score(values, { mode: 'episode' })
        expect(total).toBeCloseTo(0.1 * ((values.at(-1) ?? 0) - (values[0] ?? 0)), 12)
        expect(turns.reduce((all, one) => all + one, 0)).toBeCloseTo(total ?? Number.NaN, 12)
        expect(Math.abs(total ?? 1)).toBeLessThanOrEqual(0.1)
      }),
    ))

  test('its bounds are those of β times the potential’s', () => {
    const reward = shapeReward(() => [], { mode: 'episode', beta: 0.05, bounds: [-1, 3] })
    expect(reward.bounds).toEqual([-0.2, 0.2])
  })
})

describe('both', () => {
  test('do not apply where the case has no potential, and wait for one that is asked for', async () => {
    const episode = episodeOf(turnsOf(1))
    expect((await shapeReward(() => undefined)(episode, truth)).parts.shape).toEqual(notApplicable)
    expect((await shapeReward(async () => [0.5, 1])(episode, truth)).total).toBe(-0.5)
  })

  test.each([
    [[0.5], 'Expected 2 potentials of `shape` for 1 turns, got 1'],
    [[0, 0, 0], 'Expected 2 potentials of `shape` for 1 turns, got 3'],
    [[0, 1.5], 'Expected potential 1 of `shape` to be within [0, 1], got 1.5'],
    [[Number.NaN, 0], 'Expected potential 0 of `shape` to be within [0, 1], got NaN'],
  ])('potentials %j are the programmer’s mistake', async (values, message) => {
    const scored = shapeReward(() => values)(episodeOf(turnsOf(1)), truth)
    await expect(scored).rejects.toThrow(new RangeError(message))
  })

  test.each([
    [{ gamma: 1.1 }, 'Expected `gamma` to be within [0, 1], got 1.1'],
    [{ gamma: Number.NaN }, 'Expected `gamma`'],
    [{ mode: 'episode', beta: 0.2 }, 'Expected `beta` to be above 0 and at most 0.1, got 0.2'],
    [{ mode: 'episode', beta: 0 }, 'Expected `beta`'],
    [{ bounds: [1, 0] }, 'Expected bounds of `the potential of shape`'],
  ] as const)('options %j are refused', (options, message) => {
    expect(() => shapeReward(() => [0], options)).toThrow(message)
  })
})

describe('progressOf', () => {
  const asked = ['fever', 'ache', 'fever'].map((id) => ask(present(id)))

  test('is what a reward says after every turn', async () => {
    const values = await potentialFromReward(historyCoverage())(
      episodeOf([...asked, diagnose('flu')]),
      truth,
      {},
    )
    expect(values).toEqual([0, 0.25, 0.5, 0.5, 0.5])
  })

  test('makes a shape that pays the turn that brought something, and no repeat', async () => {
    const reward = shapeReward(potentialFromReward(historyCoverage()), { mode: 'episode' })
    const { turns = [] } = await reward(episodeOf([...asked, diagnose('flu')]), truth)
    expect(turns.map((one) => Number(one.toFixed(6)))).toEqual([0.025, 0.025, 0, 0])
  })

  test('has none where the reward does not apply, and is unavailable where it is', async () => {
    const episode = episodeOf(turnsOf(1))
    expect(await potentialFromReward(() => null)(episode, truth, {})).toBeUndefined()
    const down = () => {
      throw new Fault('model-unavailable', 'down')
    }
    expect((await shapeReward(potentialFromReward(down))(episode, truth)).parts.shape).toEqual(
      unavailable('down'),
    )
  })
})

test('shaping by information keeps within its bounds on any consultation, in both modes', () =>
  fc.assert(
    fc.asyncProperty(anyPlay, async ({ episode, truth: view }) => {
      for (const mode of ['turn', 'episode'] as const) {
        const reward = informationShaping({ shaping: { mode } })
        const { total, turns } = await reward(episode, view)
        if (total === null) continue
        expect(turns).toHaveLength(episode.turns.length)
        expect(total).toBeGreaterThanOrEqual(reward.bounds[0])
        expect(total).toBeLessThanOrEqual(reward.bounds[1])
      }
    }),
    { numRuns: 30 },
  ))
