/** Adds up what a gradient step did, token by token, into the report every backend gives. */
import type { StepReport } from '../backend.js'
import type { TokenLoss } from './losses.js'

export interface DrawnToken {
  readonly loss: TokenLoss
  /** log p under the weights being trained. */
  readonly logprob: number
  /** log p under the weights that drew it. */
  readonly sampled: number
  /** The normaliser's multiplier. */
  readonly weight: number
  /** Nats. */
  readonly entropy: number
  /** Weight of the entropy bonus. */
  readonly bonus: number
  /** Drawn with the very version being trained, so that both log-probs should agree. */
  readonly current: boolean
}

export interface Tally {
  add(token: DrawnToken): void
  /** @throws RangeError when no token was added */
  report(policyVersion: number, gradNorm: number): StepReport
}

export function tally(): Tally {
  let tokens = 0
  let loss = 0
  let ratio = 0
  let square = 0
  let maxRatio = 0
  let clipped = 0
  let kl = 0
  let entropy = 0
  let current = 0
  let gap = 0
  let maxGap = 0
  return {
    add(token) {
      const one = token.loss
      tokens++
      loss += token.weight * (one.value - token.bonus * token.entropy)
      ratio += one.ratio
      square += one.ratio * one.ratio
      if (one.ratio > maxRatio) maxRatio = one.ratio
      if (one.clipped) clipped++
      kl += token.sampled - token.logprob
      entropy += token.entropy
      if (!token.current) return
      const difference = Math.abs(token.sampled - token.logprob)
      current++
      gap += difference
      if (difference > maxGap) maxGap = difference
    },
    report(policyVersion, gradNorm) {
      if (tokens === 0) throw new RangeError('Expected a batch with drawn tokens, got none')
      return {
        policyVersion,
        loss,
        gradNorm,
        ratio: { mean: ratio / tokens, max: maxRatio },
        clipFraction: clipped / tokens,
        kl: kl / tokens,
        entropy: entropy / tokens,
        logprobGap: { mean: current > 0 ? gap / current : 0, max: maxGap },
        ess: (ratio * ratio) / (tokens * square),
        tokens,
      }
    },
  }
}
