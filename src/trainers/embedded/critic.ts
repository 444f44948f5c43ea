/** The critic: a linear value model over the policy's own features and its clock, one weight per feature row. */
import type { CriticTargets, TokenSegment, TrainBatch } from '../../batch.js'
import { valueLoss } from '../value-loss.js'
import { deviation } from '../whiten.js'
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

/** @throws RangeError naming the field, the segment and the token */
export function assertTargets(critic: CriticTargets, segments: readonly TokenSegment[]): void {
  const { range = 0, coefficient } = critic
  if (!(range >= 0)) throw new RangeError(`Expected \`critic.range\` to be >= 0, got \`${range}\``)
  if (!Number.isFinite(coefficient) || coefficient < 0)
    throw new RangeError(`Expected \`critic.coefficient\` to be >= 0, got \`${coefficient}\``)
  for (const field of ['returns', 'oldValues'] as const) {
    if (critic[field].length !== segments.length)
      throw new RangeError(
        `Expected \`critic.${field}\` of ${segments.length} segments, got ${critic[field].length}`,
      )
    segments.forEach(({ mask }, s) => {
      const numbers = critic[field][s]!
      if (numbers.length !== mask.length)
        throw new RangeError(
          `Expected \`critic.${field}[${s}]\` of length ${mask.length}, got ${numbers.length}`,
        )
      const wrong = numbers.findIndex((value, t) => mask[t] === 1 && !Number.isFinite(value))
      if (wrong >= 0)
        throw new RangeError(
          `Expected \`critic.${field}[${s}]\` to be finite where drawn, got ${numbers[wrong]} at token ${wrong}`,
        )
    })
  }
}

/**
 * The gradient of a batch's value loss by the critic's weights, and what a step reports of it: the mean loss of a
 * drawn token, neither normalised nor weighed, and 1 - var(returns - values) / var(returns), 0 for equal returns.
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
  readonly report: { readonly loss: number; readonly explained: number }
} {
  const gradient = new Float64Array(rows)
  const returns: number[] = []
  const errors: number[] = []
  let loss = 0
  const range = targets.range === undefined ? {} : { range: targets.range }
  segments.forEach((segment, s) => {
    const reading = read(segment)
    const scale = normaliser.perSegment[s]! * targets.coefficient
    const slopes = valuesAt(weights, reading).map((value, n) => {
      const t = reading.places[n]!
      const target = targets.returns[s]![t]!
      const made = valueLoss(value, target, targets.oldValues[s]![t]!, range)
      returns.push(target)
      errors.push(target - value)
      loss += made.value
      return scale * made.slope
    })
    addSlopes(gradient, reading, slopes)
  })
  if (!gradient.every(Number.isFinite) || !Number.isFinite(loss))
    throw new RangeError(
      `Expected a finite value loss and gradient, got loss ${loss}; nothing was applied`,
    )
  const spread = deviation(returns)
  const explained = spread > 0 ? 1 - (deviation(errors) / spread) ** 2 : 0
  return { gradient, report: { loss: loss / Math.max(1, returns.length), explained } }
}
