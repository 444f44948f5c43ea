/** Invasiveness reward: the share of an invasiveness budget that the examinations left. */
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { checkBudget, remainingShare } from './budget.js'

/** Options of {@link invasiveness}. */
export interface InvasivenessOptions {
  /** Budget in points, above 0; an examination has 0 to 3. @default 9, three of the most invasive */
  readonly budget?: number
}

/**
 * 1 − points/budget, with the invasiveness points of all examinations. By itself it pays for ordering nothing: always
 * multiply it by the diagnosis, `multiply(partialCredit(), invasiveness())`. An examination whose simulator reports no
 * invasiveness counts 0.
 * @throws RangeError for a budget that is not above 0
 */
export function invasiveness({ budget = 9 }: InvasivenessOptions = {}): Reward {
  checkBudget('budget', budget)
  return defineReward(
    { name: 'invasiveness', bounds: [0, 1], source: 'this package: share of a burden left' },
    ({ turns }) => {
      const points = turns.reduce((sum, { facts }) => sum + (facts.invasiveness ?? 0), 0)
      return ok(remainingShare(points, budget), `${points} of ${budget} points`)
    },
  )
}
