/** One reckoning for all who hold a reward. */
import type { Reward, Score } from '../../reward.js'
import { composite } from '../define.js'

/**
 * The same reward, reckoned once where several combinators hold it and score one episode together: the last score is
 * kept until another episode, truth or context comes. Only for rewards that give the same score again.
 */
export function shared(reward: Reward): Reward {
  let last: { readonly asked: readonly unknown[]; readonly score: Promise<Score> } | undefined
  const { rewardName: name, bounds, source, weights } = reward
  return composite(
    (...asked) => {
      if (!last || last.asked.some((value, i) => value !== asked[i]))
        last = { asked, score: reward(...asked) }
      return last.score
    },
    { name, bounds, source, weights },
  )
}
