/** The critic (value head): a linear value model over the policy's features and clock, one weight per row. */
import type { CriticTargets, TokenSegment, TrainBatch } from '../../batch.js'
import { type CriticReport, criticTally } from '../losses/critic-targets.js'
import type { AdamState } from './adam.js'
import { zeroAdam } from './adam.js'
import { clockTicks } from './belief.js'
import type { SegmentFeatures } from './segment-features.js'

/** One version of the critic: a row with the weight of each number of turns left, then one row of one weight per feature. */
export interface Critic {
  /** A row beyond these, or one that is not there, has weight 0. Place 0 is the clock, place i + 1 the policy's row i. */
  readonly rows: readonly Float64Array[]
  readonly adam: AdamState
}

/** A critic that predicts 0 everywhere. */
export const zeroCritic = (): Critic => ({ rows: [new Float64Array(clockTicks)], adam: zeroAdam() })

const tick = (turnsLeft: number): number => Math.min(turnsLeft, clockTicks - 1)

/** Predicted value at every drawn token, in the order of the segment's `positions`. */
export function predictValues(
  { rows: weights }: Critic,
  { rows, values, activeCounts, turnsLeft }: SegmentFeatures,
): Float64Array {
  const out = new Float64Array(activeCounts.length)
  let sum = 0
  let added = 0
  for (let n = 0; n < out.length; n++) {
    for (; added < activeCounts[n]!; added++)
      sum += values[added]! * (weights[rows[added]! + 1]?.[0] ?? 0)
    out[n] = sum + weights[0]![tick(turnsLeft[n]!)]!
  }
  return out
}

/** Adds d loss / d weights to `gradient`, given `slopes`: d loss / d value at each drawn token. */
function addGradient(
  gradient: Map<number, Float64Array>,
  { rows, values, activeCounts, turnsLeft }: SegmentFeatures,
  slopes: Float64Array,
): void {
  const rowOf = (row: number, width: number): Float64Array => {
    const found = gradient.get(row) ?? new Float64Array(width)
    gradient.set(row, found)
    return found
  }
  const clock = rowOf(0, clockTicks)
  let suffix = 0
  for (let n = slopes.length - 1; n >= 0; n--) {
    clock[tick(turnsLeft[n]!)]! += slopes[n]!
    // A feature, once active, is active at every later token: its row gets all slopes from there on.
    suffix += slopes[n]!
    for (let i = n > 0 ? activeCounts[n - 1]! : 0; i < activeCounts[n]!; i++)
      rowOf(rows[i]! + 1, 1)[0]! += values[i]! * suffix
  }
}

/**
 * Gradient of a batch's value loss with respect to the critic's rows that it touches, and the step's critic report.
 * @throws RangeError when a value or the gradient is not finite
 */
export function criticGradient(
  { segments, normaliser }: TrainBatch,
  targets: CriticTargets,
  critic: Critic,
  read: (segment: TokenSegment) => SegmentFeatures,
): { readonly gradient: ReadonlyMap<number, Float64Array>; readonly report: CriticReport } {
  const gradient = new Map<number, Float64Array>()
  const sums = criticTally(targets)
  segments.forEach((segment, s) => {
    const features = read(segment)
    const scale = normaliser.perSegment[s]! * targets.coefficient
    const slopes = predictValues(critic, features).map(
      (value, n) => scale * sums.add(s, features.positions[n]!, value),
    )
    addGradient(gradient, features, slopes)
  })
  const report = sums.report()
  const finite = [...gradient.values()].every((row) => row.every(Number.isFinite))
  if (!finite || !Number.isFinite(report.loss))
    throw new RangeError(
      `Expected a finite value loss and gradient, got loss ${report.loss}; nothing was applied`,
    )
  return { gradient, report }
}
