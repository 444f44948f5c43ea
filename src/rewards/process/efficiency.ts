/** Efficiency reward: the share of the money and of the turns that was left. */
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { remainingShare } from './budget.js'

/**
 * 1 − ½·money/budget − ½·turns/maxTurns. By itself it pays for doing nothing: always multiply it by the diagnosis,
 * `multiply(partialCredit(), efficiency())`.
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
        remainingShare(spent.money, budget.money) / 2 + remainingShare(turns.length, maxTurns) / 2,
        `${spent.money} spent, ${turns.length} of ${maxTurns} turns`,
      ),
  )
