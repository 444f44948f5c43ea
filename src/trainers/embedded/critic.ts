/** The critic: a linear value model over the policy's own features and its clock, one weight per feature row. */
import type { CriticTargets, TokenSegment, TrainBatch } from '../../batch.js'
import type { CriticReport } from '../losses/critic-targets.js'
import { criticTally } from '../losses/critic-targets.js'
import type { AdamState } from './adam.js'
import type { Reading } from './reading.js'

/** One version of the critic; rows beyond its weights are worth 0. */
export interface Critic {
  readonly weights: Float64Array
  readonly adam: AdamState
}

/** A critic that expects 0 everywhere. */
export const freshCritic = (): Critic => ({
  weights: new Float64Array(0),
  adam: { steps: 0, mean: new Float64Array(0), square: new Float64Array(0) },
})

/** The value at every drawn token, one per place of the reading. */
export function valuesAt(weights: Float64Array, reading: Reading): Float64Array {
  const { rows, ticks, values, active, clocks } = reading
  const out = new Float64Array(active.length)
  const worth = (feature: number): number => weights[rows[feature] ?? -1] ?? 0
  let sum = 0
  let absorbed = 0
  for (let n = 0; n < out.length; n++) {
    for (; absorbed < active[n]!; absorbed++) sum += values[absorbed]! * worth(ticks + absorbed)
    out[n] = sum + worth(clocks[n]!)
  }
  return out
}

/** Adds what slopes at the drawn tokens amount to at the weights. */
function addSlopes(gradient: Float64Array, reading: Reading, slopes: Float64Array): void {
  const { rows, ticks, values, active, clocks } = reading
  let pulled = 0
  for (let n = slopes.length - 1; n >= 0; n--) {
    gradient[rows[clocks[n]!]!]! += slopes[n]!
    // A feature, once active, is active at every later token: its row gets all slopes from there on.
    pulled += slopes[n]!
    for (let i = n > 0 ? active[n - 1]! : 0; i < active[n]!; i++)
      gradient[rows[ticks + i]!]! += values[i]! * pulled
  }
}

/**
 * The gradient of a batch's value loss by the critic's weights, and what a step reports of it.
 * @param rows weight rows, one for every feature of the batch
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
    readonly read: (segment: TokenSegment) => Reading
  },
): {
  readonly gradient: Float64Array
  readonly report: CriticReport
} {
  const gradient = new Float64Array(rows)
  const sums = criticTally(targets)
  segments.forEach((segment, s) => {
    const reading = read(segment)
    const scale = normaliser.perSegment[s]! * targets.coefficient
    const slopes = valuesAt(weights, reading).map(
      (value, n) => scale * sums.add(s, reading.places[n]!, value),
    )
    addSlopes(gradient, reading, slopes)
  })
  const report = sums.report()
  if (!gradient.every(Number.isFinite) || !Number.isFinite(report.loss))
    throw new RangeError(
      `Expected a finite value loss and gradient, got loss ${report.loss}; nothing was applied`,
    )
  return { gradient, report }
}
