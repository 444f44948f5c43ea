/** Means with their 95 % intervals: a seeded case bootstrap, or Wilson's where all values are at one bound. */
import { resampleSeed, uniformInt } from '../seed.js'

/** A mean and its 95 % interval; null where nothing was measured. */
export interface Estimate {
  readonly mean: number | null
  readonly ci95: readonly [low: number, high: number] | null
}

/** The least and the greatest value a measure can have; an end may be infinite. */
export type ValueBounds = readonly [low: number, high: number]

/** The bounds of accuracy, and of every measure that is a share. */
export const unitBounds: ValueBounds = [0, 1]

export interface EstimateOptions {
  /** @default 1000 */
  readonly resamples?: number
  /** Of the values. @default [0, 1] */
  readonly bounds?: ValueBounds
}

/** Square of the standard normal's 97.5 % quantile. */
const z2 = 1.959963984540054 ** 2

/**
 * The Wilson score interval (95 %) of `n` values that all equal one end of their bounds, as a share of the bounds'
 * width: [low, low + width·z²/(n + z²)] or its mirror image. Resampling such values gives a point, which claims
 * certainty. Wilson's variance p(1 − p) is the greatest that values within [0, 1] can have, so the interval is
 * conservative for graded measures.
 * @returns undefined where the values are not all at one end, or where that end or the other is infinite
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
 * Mean and 95 % interval of one value a case: percentile bootstrap, `resamples` keyed resamples of the cases. Where
 * every value is the same end of `bounds`, Wilson's interval instead (`intervalAtBound`).
 */
export const estimate = (
  values: readonly number[],
  seed = 0,
  options: EstimateOptions = {},
): Estimate =>
  clusterEstimate(
    values.map((value) => [value]),
    seed,
    options,
  )

/** Like `estimate`, of several values a case: cases are resampled with all their values; Wilson's n counts cases. */
export function clusterEstimate(
  clusters: readonly (readonly number[])[],
  seed = 0,
  { resamples = 1000, bounds = unitBounds }: EstimateOptions = {},
): Estimate {
  const cases = clusters.filter((values) => values.length > 0)
  const n = cases.length
  const all = cases.flat()
  if (all.length === 0) return { mean: null, ci95: null }
  const atBound = intervalAtBound(rangeOf(all), n, bounds)
  if (atBound) return { mean: meanOf(all), ci95: atBound }
  const sums = cases.map((values) => values.reduce((sum, value) => sum + value, 0))
  const means = new Float64Array(resamples)
  for (let r = 0; r < resamples; r++) {
    const stream = resampleSeed(seed, r)
    let sum = 0
    let count = 0
    for (let i = 0; i < n; i++) {
      const drawn = uniformInt(n, stream, i)
      sum += sums[drawn]!
      count += cases[drawn]!.length
    }
    means[r] = sum / count
  }
  means.sort()
  const at = (p: number): number => means[Math.min(resamples - 1, Math.floor(p * resamples))]!
  return { mean: meanOf(all), ci95: [at(0.025), at(0.975)] }
}

const rangeOf = (values: readonly number[]): readonly [least: number, most: number] =>
  values.reduce(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  )

/** Σ of the first numbers over Σ of the second ones, a pair a case; with its interval, cases resampled. */
export function ratioEstimate(
  pairs: readonly (readonly [part: number, whole: number])[],
  seed = 0,
  resamples = 1000,
): Estimate {
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
    // A resample may hold nothing to divide by.
    .filter((one) => !Number.isNaN(one))
    .sort()
  const at = (p: number): number =>
    ratios[Math.min(ratios.length - 1, Math.floor(p * ratios.length))]!
  return { mean, ci95: ratios.length > 0 ? [at(0.025), at(0.975)] : null }
}

/** The plain mean of a list that is not empty. */
export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
