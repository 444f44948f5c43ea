/**
 * Adam (Kingma & Ba 2015) by rows, with decoupled weight decay (Loshchilov & Hutter 2019). A row has one second moment,
 * the running mean of its squared gradient over its columns (Adam-mini, Zhang et al. 2024), and its own step count: only
 * the rows that a batch touches are updated, so a step costs what its batch holds.
 */
import type { AdamSettings } from '../../batch.js'

/** Optimiser state, one entry per row; `adamStep` writes into it. */
export interface AdamState {
  /** Steps that touched each row, for bias correction. */
  readonly steps: number[]
  /** First moments: running mean of each gradient. */
  readonly mean: Float64Array[]
  /** Second moments: running mean of each row's mean squared gradient. */
  readonly square: number[]
}

/** Optimiser state without rows. */
export const zeroAdam = (): AdamState => ({ steps: [], mean: [], square: [] })

/**
 * A row of which a weak gradient moves little: its second moment is the squared norm, and its epsilon is large, so that
 * the step is the learning rate over epsilon times the gradient, and at most the learning rate.
 */
export interface SlowRow {
  readonly row: number
  readonly epsilon: number
}

/** Sum of squares. */
export function sumSquares(values: Float64Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]! * values[i]!
  return sum
}

/** Euclidean norm of all rows. */
export const norm = (rows: readonly Float64Array[]): number =>
  Math.sqrt(rows.reduce((sum, row) => sum + sumSquares(row), 0))

/** Updates the moments of one row; returns its weights after the step. */
function stepRow(
  old: Float64Array,
  slopes: Float64Array,
  state: AdamState,
  row: number,
  {
    learningRate,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon = 1e-8,
    weightDecay = 0,
    scale,
    columns = Math.max(1, old.length),
  }: AdamSettings & { readonly scale: number; readonly columns?: number },
): Float64Array {
  state.mean[row] ??= new Float64Array(old.length)
  const mean = state.mean[row]
  const steps = (state.steps[row] ?? 0) + 1
  const own = (scale * scale * sumSquares(slopes)) / columns
  const square = beta2 * (state.square[row] ?? 0) + (1 - beta2) * own
  state.steps[row] = steps
  state.square[row] = square
  const size = Math.sqrt(square / (1 - beta2 ** steps)) + epsilon
  const rate = learningRate / ((1 - beta1 ** steps) * size)
  const decay = 1 - learningRate * weightDecay
  const fresh = new Float64Array(old.length)
  for (let i = 0; i < old.length; i++) {
    mean[i] = beta1 * mean[i]! + (1 - beta1) * scale * slopes[i]!
    fresh[i] = decay * old[i]! - rate * mean[i]!
  }
  return fresh
}

/**
 * Takes one Adam step on the `touched` rows. Returns new weights, which share the rows that were not touched with the old
 * ones, and updates `state` in place.
 * @param gradient one row per touched row
 */
export function adamStep(
  weights: readonly Float64Array[],
  touched: readonly number[],
  gradient: readonly Float64Array[],
  state: AdamState,
  settings: AdamSettings,
  slow?: SlowRow,
): Float64Array[] {
  const { maxGradNorm = Number.POSITIVE_INFINITY } = settings
  const gradNorm = norm(gradient)
  const scale = gradNorm > maxGradNorm ? maxGradNorm / gradNorm : 1
  const out = [...weights]
  touched.forEach((row, n) => {
    const own = row === slow?.row ? { epsilon: slow.epsilon, columns: 1 } : {}
    out[row] = stepRow(weights[row]!, gradient[n]!, state, row, { ...settings, ...own, scale })
  })
  return out
}
