/** Importance-sampling corrections for tokens drawn by another engine, precision or policy version. */
import type { ImportanceCorrection } from '../../batch.js'

/** Inputs of a segment's loss, one number per token after the prompt; a `TokenSegment` is one. */
export interface LossRow {
  /** 1 where the policy drew the token. */
  readonly mask: ArrayLike<number>
  /** Sampler's log-prob. */
  readonly logprobs: ArrayLike<number>
  /** log-prob under the old weights of the ratio. @default `logprobs` */
  readonly oldLogprobs?: ArrayLike<number>
  /** log-prob under the reference policy, for a loss with a KL penalty. */
  readonly refLogprobs?: ArrayLike<number>
  readonly advantages: ArrayLike<number>
}

/**
 * Truncated importance sampling (Yao et al. 2025, "Your Efficient RL Framework Secretly Brings You Off-Policy RL
 * Training"): clips the importance ratio ρ = p_old / p_sampler to [min, max].
 */
export const tis = (
  level: ImportanceCorrection['level'],
  { max = 2, min = 0 }: { readonly max?: number; readonly min?: number } = {},
): ImportanceCorrection => ({ level, mode: 'truncate', min, max })

/** Masked importance sampling: leaves out tokens, or sequences, with ρ outside of [min, max]. */
export const mis = (
  level: ImportanceCorrection['level'],
  { max = 3, min = 0 }: { readonly max?: number; readonly min?: number } = {},
): ImportanceCorrection => ({ level, mode: 'mask', min, max })

/** IcePop (Ling team 2025): leaves out tokens with ρ outside of [min, max], on both sides. */
export const icepop = ({
  min = 0.5,
  max = 5,
}: {
  readonly min?: number
  readonly max?: number
} = {}): ImportanceCorrection => ({ level: 'token', mode: 'mask', min, max })

function boundRatio({ mode, min = 0, max }: ImportanceCorrection, rho: number): number {
  if (mode === 'truncate') return Math.min(Math.max(rho, min), max)
  return rho >= min && rho <= max ? rho : 0
}

/** What a correction reads of a segment. */
type CorrectedRow = Pick<LossRow, 'mask' | 'logprobs' | 'oldLogprobs'>

/** Bounded ratio of a segment as a whole; undefined for a correction of tokens. */
function wholeWeight(
  correction: ImportanceCorrection,
  { mask, logprobs, oldLogprobs = logprobs }: CorrectedRow,
): number | undefined {
  const { level } = correction
  if (level === 'token') return undefined
  let [sum, drawn] = [0, 0]
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] !== 1) continue
    sum += oldLogprobs[t]! - logprobs[t]!
    drawn++
  }
  const logRatio = level === 'geometric' ? sum / Math.max(1, drawn) : sum
  return boundRatio(correction, Math.exp(logRatio))
}

/**
 * Correction weight of every token after the prompt: 1 for drawn tokens without a correction or without `oldLogprobs`, 0
 * for masked ones.
 */
export function correctionWeights(
  correction: ImportanceCorrection | undefined,
  row: CorrectedRow,
): Float64Array {
  const { mask, logprobs, oldLogprobs } = row
  const weights = Float64Array.from(mask)
  if (!correction || !oldLogprobs) return weights
  const { scale = 1 } = correction
  const whole = wholeWeight(correction, row)
  for (let t = 0; t < mask.length; t++)
    if (mask[t] === 1)
      weights[t] =
        scale * (whole ?? boundRatio(correction, Math.exp(oldLogprobs[t]! - logprobs[t]!)))
  return weights
}

/** A mean weight below this scales nothing: all has been dropped. */
const leastMean = 1e-8

/**
 * Makes the mean weight of a batch 1 (verl's `rollout_is_batch_normalize`): over drawn tokens, or over segments that drew
 * any where the correction is one of whole segments.
 */
export function scaleCorrection(
  correction: ImportanceCorrection,
  rows: readonly CorrectedRow[],
): ImportanceCorrection {
  const { scale: _, ...plain } = correction
  let [sum, count] = [0, 0]
  for (const row of rows) {
    const weights = correctionWeights(plain, row)
    const drawn = Array.from(row.mask).reduce((all, one) => all + one, 0)
    if (drawn === 0) continue
    const all = weights.reduce((total, weight) => total + weight, 0)
    sum += plain.level === 'token' ? all : all / drawn
    count += plain.level === 'token' ? drawn : 1
  }
  const mean = count > 0 ? sum / count : 0
  return mean > leastMean ? { ...plain, scale: 1 / mean } : plain
}
