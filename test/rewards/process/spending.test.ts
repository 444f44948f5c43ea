import { describe, expect, test } from 'vitest'
import type { EpisodeTurn } from '../../../src/episode.js'
import { multiply } from '../../../src/rewards/combinators/compose.js'
import { diagnosisAccuracy } from '../../../src/rewards/outcome/partial-credit.js'
import { invasiveness, moneySavings, timeSavings } from '../../../src/rewards/process/savings.js'
import { ask, diagnose, episodeOf, order, truthOf } from '../../fixtures/reward-episodes.js'

const truth = truthOf()
const spending = (money: number, minutes: number, budget = { money: 200, minutes: 240 }) =>
  episodeOf([diagnose('flu')], { spent: { money, minutes }, budget })

/** An examination this hard on the patient. */
const hard = (points: number | undefined): EpisodeTurn => {
  const turn = order('scope')
  return points === undefined ? turn : { ...turn, facts: { ...turn.facts, invasiveness: points } }
}

describe.each([
  [
    'cost',
    moneySavings,
    (spent: number, budget: number) => spending(spent, 0, { money: budget, minutes: 1 }),
  ],
  [
    'time',
    timeSavings,
    (spent: number, budget: number) => spending(0, spent, { money: 1, minutes: budget }),
  ],
] as const)('%s', (_, make, episode) => {
  const judge = async (spent: number, budget: number, options = {}) =>
    (await make(options)(episode(spent, budget), truth)).total

  test('is the share that was left', async () => {
    expect(await judge(0, 200)).toBe(1)
    expect(await judge(50, 200)).toBe(0.75)
    expect(await judge(200, 200)).toBe(0)
    expect(await judge(900, 200)).toBe(0)
  })

  test('of a budget without end is never less, but for one of its own', async () => {
    expect(await judge(1e9, Number.POSITIVE_INFINITY)).toBe(1)
    expect(await judge(50, Number.POSITIVE_INFINITY, { budget: 100 })).toBe(0.5)
  })

  test.each([0, -1, Number.NaN])('a budget of %s is refused', (budget) => {
    expect(() => make({ budget })).toThrow(`Expected \`budget\` to be more than 0, got ${budget}`)
  })
})

describe('invasiveness', () => {
  const judge = async (...turns: EpisodeTurn[]) =>
    (await invasiveness()(episodeOf(turns), truth)).total

  test('is the share of a burden that was spared', async () => {
    expect(await judge(ask())).toBe(1)
    expect(await judge(hard(3))).toBeCloseTo(2 / 3, 12)
    expect(await judge(hard(3), hard(3), hard(3))).toBe(0)
    expect(await judge(hard(3), hard(3), hard(3), hard(3))).toBe(0)
    expect((await invasiveness({ budget: 6 })(episodeOf([hard(3)]), truth)).total).toBe(0.5)
  })

  test('what is not said to hurt does not', async () => {
    expect(await judge(hard(undefined))).toBe(1)
  })

  test('a budget that is none is refused', () => {
    expect(() => invasiveness({ budget: 0 })).toThrow('Expected `budget`')
  })
})

test.each([moneySavings, timeSavings, invasiveness])(
  'multiplied by the diagnosis, nothing is paid for a wrong one',
  async (make) => {
    const reward = multiply(diagnosisAccuracy(), make())
    const said = (diagnosis: string) =>
      reward(episodeOf([diagnose(diagnosis)]), truth).then(({ total }) => total)
    expect(await said('gout')).toBe(0)
    expect(await said('flu')).toBe(1)
  },
)
