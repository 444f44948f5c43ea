/** Means with their 95 % case-bootstrap intervals, seeded. */
import { below, fork } from '../seed.js'

/** A mean and its 95 % case-bootstrap interval; null where nothing was measured. */
export interface Estimate {
  readonly mean: number | null
  readonly ci95: readonly [low: number, high: number] | null
}

/** Percentile bootstrap over cases, `resamples` keyed resamples. */
export const estimate = (values: readonly number[], seed = 0, resamples = 1000): Estimate =>
  clusterEstimate(
    values.map((value) => [value]),
    seed,
    resamples,
  )

/** Like `estimate`, of values that come several to a case: cases are resampled, with all that is theirs. */
export function clusterEstimate(
  clusters: readonly (readonly number[])[],
  seed = 0,
  resamples = 1000,
): Estimate {
  const cases = clusters.filter((values) => values.length > 0)
  const n = cases.length
  const all = cases.flat()
  if (all.length === 0) return { mean: null, ci95: null }
  const sums = cases.map((values) => values.reduce((sum, value) => sum + value, 0))
  const means = new Float64Array(resamples)
  for (let r = 0; r < resamples; r++) {
    const stream = fork(seed, 'bootstrap', r)
    let sum = 0
    let count = 0
    for (let i = 0; i < n; i++) {
      const drawn = below(n, stream, i)
      sum += sums[drawn]!
      count += cases[drawn]!.length
    }
    means[r] = sum / count
  }
  means.sort()
  const at = (p: number): number => means[Math.min(resamples - 1, Math.floor(p * resamples))]!
  return { mean: meanOf(all), ci95: [at(0.025), at(0.975)] }
}

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
    const stream = fork(seed, 'bootstrap', r)
    return ratio((i) => below(pairs.length, stream, i))
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
