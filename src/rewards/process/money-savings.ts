/** Money reward: the share of the money budget that was left. */
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { checkBudget, remainingShare } from './budget.js'

/** Options of {@link moneySavings}. */
export interface MoneySavingsOptions {
  /** Budget in money units, above 0. @default the episode's budget; if infinite, the reward is 1 */
  readonly budget?: number
}

/**
 * 1 − money/budget of the money charged: by canonical examination, a panel at its own price, a result that is still
 * valid for free, an unknown order at a fee. By itself it pays for ordering nothing: always multiply it by the
 * diagnosis, `multiply(partialCredit(), moneySavings())`.
 * @throws RangeError for a budget that is not above 0
 */
export function moneySavings({ budget }: MoneySavingsOptions = {}): Reward {
  checkBudget('budget', budget)
  return defineReward(
    { name: 'cost', bounds: [0, 1], source: 'share of the money left, after SDBench and HAEnv' },
    (episode) => {
      const most = budget ?? episode.budget.money
      return ok(remainingShare(episode.spent.money, most), `${episode.spent.money} of ${most}`)
    },
  )
}
