/** Rejection by the distance of trainer and sampler: what is too far off policy is taken out of a batch's masks. */
import type { LossRow } from './importance-correction.js'

/**
 * Hard rejection by the distance of trainer and sampler, before the loss: tokens or segments beyond the bounds are as
 * good as not drawn, in the normaliser too. With x = log(p_old / p_sampler), k1 is -x, k2 is x²/2, k3 is exp(x) - 1 - x;
 * `over` takes each token by itself, or the sum, the mean or the maximum of a segment's drawn tokens. The bounds of k1
 * are of exp(k1), as of a ratio.
 */
export interface Rejection {
  readonly measure: 'k1' | 'k2' | 'k3'
  readonly over: 'token' | 'sum' | 'mean' | 'max'
  /** For k1. @default 0 */
  readonly min?: number
  readonly max: number
}

/** What a rejection reads of a segment. */
export type RejectedRow = Pick<LossRow, 'mask' | 'logprobs' | 'oldLogprobs'>

/** Estimates of the divergence, of x = log(p_old / p_sampler); an estimate of k1 is bounded on both sides. */
const estimates: Readonly<Record<Rejection['measure'], (x: number) => number>> = {
  k1: (x) => -x,
  k2: (x) => (x * x) / 2,
  k3: (x) => Math.exp(x) - 1 - x,
}

const isWithin = ({ measure, min = 0, max }: Rejection, estimate: number): boolean =>
  measure === 'k1' ? estimate >= Math.log(min) && estimate <= Math.log(max) : estimate <= max

const reductions: Readonly<Record<'sum' | 'mean' | 'max', (of: readonly number[]) => number>> = {
  sum: (of) => of.reduce((sum, one) => sum + one, 0),
  mean: (of) => reductions.sum(of) / of.length,
  max: (of) => Math.max(...of),
}

/**
 * Mask of a segment's tokens after a rejection: 0 where a token, or the segment that it is of, is out of bounds. Without
 * `oldLogprobs` nothing is.
 * @throws RangeError for bounds that no estimate meets
 */
export function rejectionMask(
  rejection: Rejection,
  { mask, logprobs, oldLogprobs }: RejectedRow,
): Uint8Array {
  const { measure, over, min = 0, max } = rejection
  if (!(max > 0) || !(min <= max) || (over === 'max' && measure === 'k1'))
    throw new RangeError(
      `Expected a rejection with 0 <= min <= max, and by k2 or k3 for a maximum, got \`${JSON.stringify(rejection)}\``,
    )
  const kept = Uint8Array.from(mask)
  if (!oldLogprobs) return kept
  const at = [...kept.keys()].filter((t) => kept[t] === 1)
  const found = at.map((t) => estimates[measure](oldLogprobs[t]! - logprobs[t]!))
  if (at.length === 0) return kept
  const whole = over === 'token' ? undefined : isWithin(rejection, reductions[over](found))
  at.forEach((t, n) => {
    kept[t] = (whole ?? isWithin(rejection, found[n]!)) ? 1 : 0
  })
  return kept
}

/**
 * Takes tokens and segments that are too far off policy out of the masks (verl's `rollout_rs`). Each rejection reads
 * what was drawn, and a token stays that all of them keep. A normaliser is to be made of the result.
 */
export const rejectOffPolicy = <Row extends RejectedRow>(
  rows: readonly Row[],
  rejections: readonly Rejection[],
): readonly (Row & { readonly mask: Uint8Array })[] =>
  rows.map((row) => {
    const masks = rejections.map((rejection) => rejectionMask(rejection, row))
    const mask = Uint8Array.from(row.mask, (drawn, t) =>
      masks.every((kept) => kept[t] === 1) ? drawn : 0,
    )
    return { ...row, mask }
  })
