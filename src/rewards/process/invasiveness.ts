/** How much the patient was spared. */
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { checkBudget, saved } from './saved.js'

export interface InvasivenessOptions {
  /** Points, 0 to 3 an examination, at which nothing is left, above 0. @default 9, as of three of the worst */
  readonly budget?: number
}

/**
 * 1 − points/budget, of what the patient went through for examinations. By itself it pays for ordering nothing: only
 * ever use it multiplied by the diagnosis, `product(partialCredit(), invasiveness())`. A simulator that says nothing of
 * it is taken to have done nothing to the patient.
 * @throws RangeError for a budget that is not above 0
 */
export function invasiveness({ budget = 9 }: InvasivenessOptions = {}): Reward {
  checkBudget('budget', budget)
  return defineReward(
    { name: 'invasiveness', bounds: [0, 1], source: 'this package: share of a burden left' },
    ({ turns }) => {
      const points = turns.reduce((sum, { facts }) => sum + (facts.invasiveness ?? 0), 0)
      return ok(saved(points, budget), `${points} of ${budget} points`)
    },
  )
}
