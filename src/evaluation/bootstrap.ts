/** Means with 95 % confidence intervals: seeded bootstrap over cases, Wilson score interval at a bound. */
import { resampleSeed, uniformInt } from '../seed.js'

/** A mean and its 95 % confidence interval; null without a value. */
export interface Estimate {
  readonly mean: number | null
  readonly ci95: readonly [low: number, high: number] | null
}

/** Range of values that a measure can take; either end may be infinite. */
export type ValueBounds = readonly [low: number, high: number]

/** Bounds of accuracy and of every other measure that is a share. */
export const unitBounds: ValueBounds = [0, 1]

/** Options of {@link estimate}. */
export interface EstimateOptions {
  /** Number of bootstrap resamples. @default 1000 */
  readonly resamples?: number
  /** Bounds of the values. @default [0, 1] */
  readonly bounds?: ValueBounds
}

/** Square of the standard normal's 97.5 % quantile. */
const z2 = 1.959963984540054 ** 2

/**
 * Wilson score interval (95 %) of `n` values that all equal one end of `bounds`:
 * [low, low + width·z²/(n + z²)] or its mirror image, with width = high − low. A bootstrap of such values would be a
 * single point, which claims certainty. Wilson's variance p(1 − p) is the largest that values within [0, 1] can have,
 * so the interval is conservative for graded measures.
 * @param range smallest and largest of the values
 * @returns undefined if the values are not all at one end, or if an end is infinite
 */
export function intervalAtBound(
  [least, most]: readonly [least: number, most: number],
  n: number,
  [low, high]: ValueBounds,
): Estimate['ci95'] | undefined {
  const width = high - low
  if (n < 1 || least !== most || !(width > 0 && Number.isFinite(width))) return undefined
  const margin = (width * z2) / (n + z2)
  if (least === low) return [low, low + margin]
  return most === high ? [high - margin, high] : undefined
}

/**
 * Estimates the mean of one value per case and its 95 % interval: percentile bootstrap with keyed resamples of the
 * cases. If every value is the same end of `bounds`, the interval is Wilson's ({@link intervalAtBound}).
 * @throws RangeError for a value that is not a number (NaN)
 */
export function estimate(
  values: readonly number[],
  seed = 0,
  { resamples = 1000, bounds = unitBounds }: EstimateOptions = {},
): Estimate {
  const range = values.reduce<readonly [least: number, most: number]>(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  )
  const ci95 = intervalAtBound(range, values.length, bounds)
  if (ci95) return { mean: average(values), ci95 }
  return ratioEstimate(
    values.map((value) => [value, 1]),
    seed,
    resamples,
  )
}

/**
 * Estimates Σ part / Σ whole of one pair per case, with its bootstrap interval over cases; null for Σ whole = 0.
 * @throws RangeError for a value that is not a number (NaN)
 */
export function ratioEstimate(
  pairs: readonly (readonly [part: number, whole: number])[],
  seed = 0,
  resamples = 1000,
): Estimate {
  const wrong = pairs.findIndex((pair) => pair.some(Number.isNaN))
  if (wrong >= 0) throw new RangeError(`Expected value ${wrong} to be a number, got NaN`)
  const ratio = (at: (i: number) => number): number => {
    let [part, whole] = [0, 0]
    for (let i = 0; i < pairs.length; i++) {
      const pair = pairs[at(i)]!
      part += pair[0]
      whole += pair[1]
    }
    return whole === 0 ? Number.NaN : part / whole
  }
  const mean = ratio((i) => i)
  if (Number.isNaN(mean)) return { mean: null, ci95: null }
  const ratios = Float64Array.from({ length: resamples }, (_, r) => {
    const stream = resampleSeed(seed, r)
    return ratio((i) => uniformInt(pairs.length, stream, i))
  })
    // The wholes of a resample may sum to 0.
    .filter((one) => !Number.isNaN(one))
    .sort()
  const at = (p: number): number =>
    ratios[Math.min(ratios.length - 1, Math.floor(p * ratios.length))]!
  return { mean, ci95: ratios.length > 0 ? [at(0.025), at(0.975)] : null }
}

/** Mean of a list; null for an empty one. */
export const average = (values: readonly number[]): number | null =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null
