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

/**
 * Correction weight of every token after the prompt: 1 for drawn tokens without a correction or without `oldLogprobs`, 0
 * for masked ones.
 */
export function correctionWeights(
  correction: ImportanceCorrection | undefined,
  { mask, logprobs, oldLogprobs }: Pick<LossRow, 'mask' | 'logprobs' | 'oldLogprobs'>,
): Float64Array {
  const weights = Float64Array.from(mask)
  if (!correction || !oldLogprobs) return weights
  let sum = 0
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1) sum += oldLogprobs[t]! - logprobs[t]!
  const whole = correction.level === 'sequence' ? boundRatio(correction, Math.exp(sum)) : undefined
  for (let t = 0; t < mask.length; t++)
    if (mask[t] === 1)
      weights[t] = whole ?? boundRatio(correction, Math.exp(oldLogprobs[t]! - logprobs[t]!))
  return weights
}
