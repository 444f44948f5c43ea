/** How much of the money and the turns was left. */
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { saved } from './saved.js'

/**
 * 1 − ½·money/budget − ½·turns/maxTurns. By itself it pays for doing nothing: only ever use it multiplied
 * by the diagnosis, `product(partialCredit(), efficiency())`.
 */
export const efficiency = (): Reward =>
  defineReward(
    {
      name: 'efficiency',
      bounds: [0, 1],
      source: 'share of the money (SDBench) and of the turns left',
    },
    ({ spent, budget, turns, maxTurns }) =>
      ok(
        saved(spent.money, budget.money) / 2 + saved(turns.length, maxTurns) / 2,
        `${spent.money} spent, ${turns.length} of ${maxTurns} turns`,
      ),
  )
