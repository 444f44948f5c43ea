/** Memoised reward: scored once for all combinators that hold it. */
import type { Reward, Score } from '../../reward.js'
import { composeReward } from '../define.js'

/**
 * The same reward, computed once where several combinators hold it and score one episode: the last score is kept until
 * another episode, truth or context comes. Only for deterministic rewards.
 */
export function memoizeReward(reward: Reward): Reward {
  let last: { readonly asked: readonly unknown[]; readonly score: Promise<Score> } | undefined
  const { rewardName: name, bounds, source, weights } = reward
  return composeReward(
    (...asked) => {
      if (!last || last.asked.some((value, i) => value !== asked[i]))
        last = { asked, score: reward(...asked) }
      return last.score
    },
    { name, bounds, source, weights },
  )
}
