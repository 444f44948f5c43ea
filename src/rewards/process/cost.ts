/** How much of the money was left. */
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { checkBudget, saved } from './saved.js'

export interface CostOptions {
  /** Money units at which nothing is left, above 0. @default the episode's budget; without end, nothing costs */
  readonly budget?: number
}

/**
 * 1 − money/budget, from what was charged: by canonical examination, a panel at its own price, a result that is still
 * valid at none, an order that nobody knows at a fee. By itself it pays for ordering nothing: only ever use it
 * multiplied by the diagnosis, `product(partialCredit(), cost())`.
 * @throws RangeError for a budget that is not above 0
 */
export function cost({ budget }: CostOptions = {}): Reward {
  checkBudget('budget', budget)
  return defineReward(
    { name: 'cost', bounds: [0, 1], source: 'share of the money left, after SDBench and HAEnv' },
    (episode) => {
      const most = budget ?? episode.budget.money
      return ok(saved(episode.spent.money, most), `${episode.spent.money} of ${most}`)
    },
  )
}
