/** Time reward: the share of the time budget that was left. */
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { checkBudget, remainingShare } from './budget.js'

/** Options of {@link timeSavings}. */
export interface TimeSavingsOptions {
  /** Budget in minutes, above 0. @default the episode's budget; if infinite, the reward is 1 */
  readonly budget?: number
}

/**
 * 1 − minutes/budget, with the minutes of questions and the turnaround of examinations. By itself it pays for doing
 * nothing: always multiply it by the diagnosis, `multiply(partialCredit(), timeSavings())`.
 * @throws RangeError for a budget that is not above 0
 */
export function timeSavings({ budget }: TimeSavingsOptions = {}): Reward {
  checkBudget('budget', budget)
  return defineReward(
    { name: 'time', bounds: [0, 1], source: 'share of the minutes left, after HAEnv' },
    (episode) => {
      const most = budget ?? episode.budget.minutes
      return ok(
        remainingShare(episode.spent.minutes, most),
        `${episode.spent.minutes} of ${most} minutes`,
      )
    },
  )
}
