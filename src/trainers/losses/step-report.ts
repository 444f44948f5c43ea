/** Adds up what a gradient step did, segment by segment, into the report every backend gives. */
import type { StepReport } from '../../backend.js'
import type { Loss } from '../../batch.js'
import type { LossRow } from './policy.js'
import { segmentLoss } from './policy.js'

/** A segment, read by the weights being trained. */
export interface ReadSegment {
  readonly segment: LossRow & {
    /** The policy version each token was drawn with. */
    readonly policyVersions: ArrayLike<number>
  }
  /** log p of every token after the prompt under these weights; masked ones are not read. */
  readonly logprobs: ArrayLike<number>
  /** Of the policy at each of these tokens, in nats. @default 0 */
  readonly entropies?: ArrayLike<number>
  /** The normaliser's multiplier. */
  readonly weight: number
}

export interface StepTotals {
  /** Counts a segment and gives d loss / d log p of every token, its weight included, the entropy bonus left out. */
  add(read: ReadSegment): Float64Array
  /** @throws RangeError when no drawn token was added */
  report(policyVersion: number, gradNorm: number): StepReport
}

/** Starts the sums over drawn tokens of how far the policy has moved from its sampler. */
function drift() {
  let [tokens, ratio, square, maxRatio, kl] = [0, 0, 0, 0, 0]
  let [current, gap, maxGap] = [0, 0, 0]
  return {
    /** Counts a token; a fresh one was drawn with the version being trained. */
    count(sampled: number, logprob: number, fresh: boolean): void {
      const own = Math.exp(logprob - sampled)
      tokens++
      ratio += own
      square += own * own
      if (own > maxRatio) maxRatio = own
      kl += sampled - logprob
      if (!fresh) return
      const difference = Math.abs(sampled - logprob)
      current++
      gap += difference
      if (difference > maxGap) maxGap = difference
    },
    report: () => ({
      tokens,
      ratio: { mean: ratio / tokens, max: maxRatio },
      kl: kl / tokens,
      logprobGap: { mean: current > 0 ? gap / current : 0, max: maxGap },
      ess: (ratio * ratio) / (tokens * square),
    }),
  }
}

/**
 * Starts a step's sums.
 * @param version the policy version being trained: tokens drawn with it show the sampler-trainer gap
 */
export function stepReport(loss: Loss, version: number): StepTotals {
  const moved = drift()
  let [sum, clipped, dropped, reference, entropies] = [0, 0, 0, 0, 0]
  return {
    add({ segment, logprobs, entropies: spread, weight }) {
      const { mask, logprobs: sampled, policyVersions } = segment
      const made = segmentLoss(loss, segment, logprobs)
      for (let t = 0; t < mask.length; t++) {
        if (mask[t] !== 1) continue
        moved.count(sampled[t]!, logprobs[t]!, policyVersions[t] === version)
        const entropy = spread?.[t] ?? 0
        sum += weight * (made.values[t]! - loss.entropy * entropy)
        entropies += entropy
        clipped += made.clipped[t]!
        reference += made.kl[t]!
        if (made.weights[t] === 0) dropped++
        made.slopes[t]! *= weight
      }
      return made.slopes
    },
    report(policyVersion, gradNorm) {
      const { tokens, ratio, kl, logprobGap, ess } = moved.report()
      if (tokens === 0) throw new RangeError('Expected a batch with drawn tokens, got none')
      return {
        ...{ policyVersion, loss: sum, gradNorm, ratio },
        clipFraction: clipped / tokens,
        droppedFraction: dropped / tokens,
        kl,
        ...(loss.kl ? { klReference: reference / tokens } : {}),
        entropy: entropies / tokens,
        ...{ logprobGap, ess, tokens },
      }
    },
  }
}
