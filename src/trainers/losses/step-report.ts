/** Sums a gradient step's losses and statistics, segment by segment, into the report of every backend. */
import type { StepReport } from '../../backend.js'
import type { Loss } from '../../batch.js'
import type { LossRow } from './importance-correction.js'
import { segmentLoss } from './policy.js'

/** A segment with its log-probs and entropies under the weights being trained. */
export interface ReadSegment {
  readonly segment: LossRow & {
    /** Policy version that drew each token. */
    readonly policyVersions: ArrayLike<number>
  }
  /** log p of every token after the prompt under these weights; masked ones are not read. */
  readonly logprobs: ArrayLike<number>
  /** Entropy of the policy at each of these tokens, in nats. @default 0 */
  readonly entropies?: ArrayLike<number>
  /** The normaliser's multiplier. */
  readonly weight: number
  /** Multiplier of the entropies, with the bonus's own weight (`entropyWeight`). @default `weight` times `loss.entropy` */
  readonly bonus?: number
}

/** Running sums of a gradient step. */
export interface StepTotals {
  /** Adds a segment; returns d loss / d log p of every token, `weight` included, the entropy bonus left out. */
  add(read: ReadSegment): Float64Array
  /** Returns the step's report. @throws RangeError if no drawn token was added */
  report(policyVersion: number, gradNorm: number): StepReport
}

/** Makes empty sums, over drawn tokens, of the policy's distance from its sampler. */
function samplerDrift() {
  let [tokens, ratio, square, maxRatio, kl] = [0, 0, 0, 0, 0]
  let [current, gap, maxGap] = [0, 0, 0]
  return {
    /** Adds a token; a fresh one was drawn with the version being trained. */
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
 * Makes empty sums for a gradient step.
 * @param version policy version being trained: tokens drawn with it measure the sampler-trainer gap
 */
export function stepReport(loss: Loss, version: number): StepTotals {
  const drift = samplerDrift()
  let [sum, clipped, dropped, reference, entropies] = [0, 0, 0, 0, 0]
  return {
    add({ segment, logprobs, entropies: spread, weight, bonus = weight * loss.entropy }) {
      const { mask, logprobs: sampled, policyVersions } = segment
      const made = segmentLoss(loss, segment, logprobs)
      for (let t = 0; t < mask.length; t++) {
        if (mask[t] !== 1) continue
        drift.count(sampled[t]!, logprobs[t]!, policyVersions[t] === version)
        const entropy = spread?.[t] ?? 0
        sum += weight * made.values[t]! - bonus * entropy
        entropies += entropy
        clipped += made.clipped[t]!
        reference += made.kl[t]!
        if (made.weights[t] === 0) dropped++
        made.slopes[t]! *= weight
      }
      return made.slopes
    },
    report(policyVersion, gradNorm) {
      const { tokens, ratio, kl, logprobGap, ess } = drift.report()
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
