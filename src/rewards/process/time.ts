/** How much of the time was left. */
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { checkBudget, saved } from './saved.js'

export interface TimeOptions {
  /** Minutes at which nothing is left, above 0. @default the episode's budget; without end, time does not count */
  readonly budget?: number
}

/**
 * 1 − minutes/budget, from questions and the turnaround of examinations. By itself it pays for doing nothing: only ever
 * use it multiplied by the diagnosis, `product(partialCredit(), time())`.
 * @throws RangeError for a budget that is not above 0
 */
export function time({ budget }: TimeOptions = {}): Reward {
  checkBudget('budget', budget)
  return defineReward(
    { name: 'time', bounds: [0, 1], source: 'share of the minutes left, after HAEnv' },
    (episode) => {
      const most = budget ?? episode.budget.minutes
      return ok(saved(episode.spent.minutes, most), `${episode.spent.minutes} of ${most} minutes`)
    },
  )
}
