/** The critic (value head): a linear value model over the policy's features and clock, one weight per feature row. */
import type { CriticTargets, TokenSegment, TrainBatch } from '../../batch.js'
import { type CriticReport, criticTally } from '../losses/critic-targets.js'
import type { AdamState } from './adam.js'
import type { SegmentFeatures } from './segment-features.js'

/** One version of the critic; a row beyond its weights has weight 0. */
export interface Critic {
  readonly weights: Float64Array
  readonly adam: AdamState
}

/** A critic that predicts 0 everywhere. */
export const zeroCritic = (): Critic => ({
  weights: new Float64Array(0),
  adam: { steps: 0, mean: new Float64Array(0), square: new Float64Array(0) },
})

/** Predicted value at every drawn token, in the order of the segment's `positions`. */
export function predictValues(
  weights: Float64Array,
  { rows, clockCount, values, activeCounts, clockIndexes }: SegmentFeatures,
): Float64Array {
  const out = new Float64Array(activeCounts.length)
  const weight = (feature: number): number => weights[rows[feature] ?? -1] ?? 0
  let sum = 0
  let added = 0
  for (let n = 0; n < out.length; n++) {
    for (; added < activeCounts[n]!; added++) sum += values[added]! * weight(clockCount + added)
    out[n] = sum + weight(clockIndexes[n]!)
  }
  return out
}

/** Adds d loss / d weights to `gradient`, given `slopes`: d loss / d value at each drawn token. */
function addGradient(
  gradient: Float64Array,
  { rows, clockCount, values, activeCounts, clockIndexes }: SegmentFeatures,
  slopes: Float64Array,
): void {
  let suffix = 0
  for (let n = slopes.length - 1; n >= 0; n--) {
    gradient[rows[clockIndexes[n]!]!]! += slopes[n]!
    // A feature, once active, is active at every later token: its row gets all slopes from there on.
    suffix += slopes[n]!
    for (let i = n > 0 ? activeCounts[n - 1]! : 0; i < activeCounts[n]!; i++)
      gradient[rows[clockCount + i]!]! += values[i]! * suffix
  }
}

/**
 * Gradient of a batch's value loss with respect to the critic's weights, and the step's critic report.
 * @param rows number of weight rows, one for every feature of the batch
 * @throws RangeError when a value or the gradient is not finite
 */
export function criticGradient(
  { segments, normaliser }: TrainBatch,
  targets: CriticTargets,
  {
    weights,
    rows,
    read,
  }: {
    readonly weights: Float64Array
    readonly rows: number
    readonly read: (segment: TokenSegment) => SegmentFeatures
  },
): { readonly gradient: Float64Array; readonly report: CriticReport } {
  const gradient = new Float64Array(rows)
  const sums = criticTally(targets)
  segments.forEach((segment, s) => {
    const features = read(segment)
    const scale = normaliser.perSegment[s]! * targets.coefficient
    const slopes = predictValues(weights, features).map(
      (value, n) => scale * sums.add(s, features.positions[n]!, value),
    )
    addGradient(gradient, features, slopes)
  })
  const report = sums.report()
  if (!gradient.every(Number.isFinite) || !Number.isFinite(report.loss))
    throw new RangeError(
      `Expected a finite value loss and gradient, got loss ${report.loss}; nothing was applied`,
    )
  return { gradient, report }
}
