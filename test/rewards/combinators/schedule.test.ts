import { describe, expect, test } from 'vitest'
import type { RewardContext } from '../../../src/reward.js'
import { notApplicable, type ok, unavailable } from '../../../src/reward.js'
import { weigh } from '../../../src/rewards/combinators/compose.js'
import { schedule } from '../../../src/rewards/combinators/weighted-mean.js'
import { defineReward } from '../../../src/rewards/define.js'
import { trainingEmitter } from '../../../src/trainers/events.js'
import { playMember } from '../../../src/trainers/rollouts/group-rollouts.js'
import { fc } from '../../fixtures/property.js'
import { saying, truthOf } from '../../fixtures/reward-episodes.js'
import { tinyActions, tinyEnv, tinyLung, tinyReward } from '../../fixtures/tiny.js'

const episode = saying('flu')
const truth = truthOf()
const value = (v: number, name: string) => defineReward({ name, bounds: [0, 1] }, () => v)
const at = (reward: ReturnType<typeof schedule>, step?: number) =>
  reward(episode, truth, step === undefined ? {} : { step })

describe('schedule', () => {
  const fading = schedule({
    form: [
      [
        [1, 1],
        [101, 0],
      ],
      value(0, 'form'),
    ],
    dx: [1, value(1, 'dx')],
  })

  test('weighs by straight lines between its steps, and level before and after', async () => {
    const totals = await Promise.all(
      [1, 51, 101, 5000].map(async (step) => (await at(fading, step)).total),
    )
    expect(totals).toEqual([0.5, 1 / 1.5, 1, 1])
    const late = schedule({
      cost: [
        [
          [10, 0],
          [20, 2],
        ],
        value(0, 'cost'),
      ],
      dx: [1, value(1, 'dx')],
    })
    const shares = await Promise.all(
      [1, 10, 15, 20].map(async (step) => (await at(late, step)).total),
    )
    expect(shares).toEqual([1, 1, 0.5, 1 / 3])
  })

  test('without a step it is as at the end, and so are its weights', async () => {
    expect((await at(fading)).total).toBe(1)
    expect(fading.weights).toEqual({ form: 0, dx: 1 })
  })

  test('a weight that is a number stays, so all numbers are `weigh`', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.double({ min: 0.1, max: 5, noNaN: true }),
            fc.double({ min: 0, max: 1, noNaN: true }),
          ),
          {
            minLength: 1,
            maxLength: 5,
          },
        ),
        fc.integer({ min: 1, max: 1000 }),
        async (list, step) => {
          const parts = Object.fromEntries(
            list.map(([weight, v], i) => [`p${i}`, [weight, value(v, `p${i}`)] as const]),
          )
          expect(await at(schedule(parts), step)).toEqual(await weigh(parts)(episode, truth))
        },
      ),
    ))

  test('its totals stay within its bounds at every step', () =>
    fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.integer({ min: 1, max: 300 }),
        async (from, to, step) => {
          const low = defineReward({ name: 'low', bounds: [-2, 0] }, () => -2)
          const reward = schedule({
            low: [
              [
                [1, from],
                [200, to],
              ],
              low,
            ],
            dx: [1, value(1, 'dx')],
          })
          const { total } = await at(reward, step)
          expect(total).toBeGreaterThanOrEqual(reward.bounds[0])
          expect(total).toBeLessThanOrEqual(reward.bounds[1])
        },
      ),
    ))

  test('what does not apply is left out, what is unavailable and weighs nothing yet is not needed', async () => {
    const later = (part: () => ReturnType<typeof ok> | typeof notApplicable) =>
      schedule({
        later: [
          [
            [1, 0],
            [2, 1],
          ],
          part,
        ],
        dx: [1, value(1, 'dx')],
      })
    const down = later(() => unavailable('down') as ReturnType<typeof ok>)
    expect((await at(down, 1)).total).toBe(1)
    expect((await at(down, 2)).total).toBeNull()
    expect(
      (
        await at(
          later(() => notApplicable),
          2,
        )
      ).total,
    ).toBe(1)
  })

  test.each([
    [[], 'Expected weight `a` to have a value at one step at least, got none'],
    [[[0, 1]], 'Expected steps of weight `a` to be integers that rise from 1, got 0 after 0'],
    [
      [
        [5, 1],
        [5, 2],
      ],
      'got 5 after 5',
    ],
    [[[1.5, 1]], 'got 1.5 after 0'],
    [[[1, -1]], 'Expected weight `a` to be finite and ≥ 0, got -1'],
    [
      [
        [1, 1],
        [9, Number.NaN],
      ],
      'Expected weight `a` to be finite and ≥ 0, got NaN',
    ],
    [
      [
        [1, 1],
        [9, 0],
      ],
      'Expected at least one weight above 0, got none',
    ],
  ] as const)('a weight of %j is refused', (weight, message) => {
    expect(() => schedule({ a: [weight, value(1, 'a')] })).toThrow(message)
  })
})

test('training tells its rewards the step', async () => {
  const seen: (RewardContext | undefined)[] = []
  const reward = Object.assign(
    async (...[played, view, context]: Parameters<typeof tinyReward>) => {
      seen.push(context)
      return tinyReward(played, view)
    },
    { rewardName: 'watched', bounds: [0, 1] as const, source: 'test' },
  )
  await playMember(
    {
      caseAt: () => tinyLung,
      makeEnv: () => tinyEnv(),
      reward,
      runId: 'r',
      accuracy: tinyReward,
      events: trainingEmitter(),
    },
    {
      agent: ({ turns }) => ({ action: tinyActions[turns.length] ?? { kind: 'give-up' } }),
      name: 'test',
    },
    { step: 7, place: 0, member: 0, truth: tinyLung },
  )
  expect(seen.map((context) => context?.step)).toEqual([7])
})
