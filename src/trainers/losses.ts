/** Policy losses per token: the value, and its derivative by the token's log-prob. */
import type { Loss } from '../batch.js'

export interface TokenLoss {
  readonly value: number
  /** d value / d log p, so that any backend can turn it into a gradient of logits. */
  readonly slope: number
  /** p / p_sampler. */
  readonly ratio: number
  readonly clipped: boolean
}

/**
 * The loss of one drawn token, entropy apart.
 * @param logprob log p under the weights being trained
 * @param sampled log p under the weights that drew it
 */
export function tokenLoss(
  loss: Loss,
  logprob: number,
  sampled: number,
  advantage: number,
): TokenLoss {
  const ratio = Math.exp(logprob - sampled)
  if (loss.kind === 'policy-gradient')
    return { value: -advantage * logprob, slope: -advantage, ratio, clipped: false }
  // The surrogate is -min(rA, clip(r)A): it is flat where clipping lowers the objective's gain.
  const bounded = Math.min(Math.max(ratio, 1 - loss.low), 1 + loss.high)
  const clipped = advantage >= 0 ? ratio > 1 + loss.high : ratio < 1 - loss.low
  return clipped
    ? { value: -bounded * advantage, slope: 0, ratio, clipped }
    : { value: -ratio * advantage, slope: -ratio * advantage, ratio, clipped }
}
