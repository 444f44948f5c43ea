/** Importance corrections for tokens that another engine, precision or version drew. */
import type { ImportanceCorrection } from '../../batch.js'
import type { LossRow } from './policy.js'

/**
 * Truncated importance sampling (Yao et al. 2025, "Your Efficient RL Framework Secretly Brings You Off-Policy RL
 * Training"): ρ at most `max`.
 */
export const tis = (
  level: ImportanceCorrection['level'],
  { max = 2, min = 0 }: { readonly max?: number; readonly min?: number } = {},
): ImportanceCorrection => ({ level, mode: 'truncate', min, max })

/** Masked importance sampling: what has ρ above `max` is left out. */
export const mis = (
  level: ImportanceCorrection['level'],
  { max = 3, min = 0 }: { readonly max?: number; readonly min?: number } = {},
): ImportanceCorrection => ({ level, mode: 'mask', min, max })

/** IcePop (Ling team 2025): tokens with ρ outside of [min, max] are left out, both ways. */
export const icepop = ({
  min = 0.5,
  max = 5,
}: {
  readonly min?: number
  readonly max?: number
} = {}): ImportanceCorrection => ({ level: 'token', mode: 'mask', min, max })

function bounded({ mode, min = 0, max }: ImportanceCorrection, rho: number): number {
  if (mode === 'truncate') return Math.min(Math.max(rho, min), max)
  return rho >= min && rho <= max ? rho : 0
}

/**
 * The weight of every token after the prompt: 1 for drawn ones without a correction or without `oldLogprobs`, 0 for
 * masked ones.
 */
export function correctionWeights(
  correction: ImportanceCorrection | undefined,
  { mask, logprobs, oldLogprobs }: Pick<LossRow, 'mask' | 'logprobs' | 'oldLogprobs'>,
): Float64Array {
  const weights = Float64Array.from(mask)
  if (!correction || !oldLogprobs) return weights
  let sum = 0
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1) sum += oldLogprobs[t]! - logprobs[t]!
  const whole = correction.level === 'sequence' ? bounded(correction, Math.exp(sum)) : undefined
  for (let t = 0; t < mask.length; t++)
    if (mask[t] === 1)
      weights[t] = whole ?? bounded(correction, Math.exp(oldLogprobs[t]! - logprobs[t]!))
  return weights
}
