/** Adds up what a gradient step did, token by token, into the report every backend gives. */
import type { StepReport } from '../backend.js'
import type { Loss, TokenSegment } from '../batch.js'
import { tokenLoss } from './losses.js'

export interface DrawnToken {
  readonly segment: TokenSegment
  /** The token is `segment.tokens[segment.promptLength + t]`. */
  readonly t: number
  /** log p under the weights being trained. */
  readonly logprob: number
  /** The normaliser's multiplier. */
  readonly weight: number
  /** Of the policy at this token, in nats. @default 0 */
  readonly entropy?: number
}

export interface Tally {
  /** Counts a drawn token and gives d loss / d log p, its weight included and the entropy bonus left out. */
  add(token: DrawnToken): number
  /** @throws RangeError when no token was added */
  report(policyVersion: number, gradNorm: number): StepReport
}

/**
 * Starts a step's sums.
 * @param version the policy version being trained: tokens drawn with it show the sampler-trainer gap
 */
export function tally(loss: Loss, version: number): Tally {
  let tokens = 0
  let sum = 0
  let ratio = 0
  let square = 0
  let maxRatio = 0
  let clipped = 0
  let kl = 0
  let entropies = 0
  let current = 0
  let gap = 0
  let maxGap = 0
  return {
    add({ segment, t, logprob, weight, entropy = 0 }) {
      const sampled = segment.logprobs[t]!
      const one = tokenLoss(loss, logprob, sampled, segment.advantages[t]!)
      tokens++
      sum += weight * (one.value - loss.entropy * entropy)
      ratio += one.ratio
      square += one.ratio * one.ratio
      if (one.ratio > maxRatio) maxRatio = one.ratio
      if (one.clipped) clipped++
      kl += sampled - logprob
      entropies += entropy
      if (segment.policyVersions[t] === version) {
        const difference = Math.abs(sampled - logprob)
        current++
        gap += difference
        if (difference > maxGap) maxGap = difference
      }
      return weight * one.slope
    },
    report(policyVersion, gradNorm) {
      if (tokens === 0) throw new RangeError('Expected a batch with drawn tokens, got none')
      return {
        policyVersion,
        loss: sum,
        gradNorm,
        ratio: { mean: ratio / tokens, max: maxRatio },
        clipFraction: clipped / tokens,
        kl: kl / tokens,
        entropy: entropies / tokens,
        logprobGap: { mean: current > 0 ? gap / current : 0, max: maxGap },
        ess: (ratio * ratio) / (tokens * square),
        tokens,
      }
    },
  }
}
