/** Adam (Kingma & Ba 2015) with decoupled weight decay (Loshchilov & Hutter 2019), on arrays that may grow. */
import type { AdamSettings } from '../../batch.js'

/** Optimiser state; `adamStep` writes into it. */
export interface AdamState {
  /** Steps taken so far, for bias correction. */
  steps: number
  /** First moments: running mean of each gradient. */
  mean: Float64Array
  /** Second moments: running mean of each squared gradient. */
  square: Float64Array
}

/** Pads `values` with zeros to `length`; returns the array itself where it has that length already. */
export function padWithZeros(values: Float64Array, length: number): Float64Array {
  if (values.length === length) return values
  const out = new Float64Array(length)
  out.set(values)
  return out
}

/** Euclidean norm. */
export function norm(values: Float64Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]! * values[i]!
  return Math.sqrt(sum)
}

/** Takes one Adam step. Returns new weights and leaves the old ones untouched; updates `state` in place. */
export function adamStep(
  weights: Float64Array,
  gradient: Float64Array,
  state: AdamState,
  {
    learningRate,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon = 1e-8,
    maxGradNorm = Number.POSITIVE_INFINITY,
    weightDecay = 0,
  }: AdamSettings,
): Float64Array {
  const gradNorm = norm(gradient)
  const scale = gradNorm > maxGradNorm ? maxGradNorm / gradNorm : 1
  state.steps += 1
  state.mean = padWithZeros(state.mean, gradient.length)
  state.square = padWithZeros(state.square, gradient.length)
  const { steps, mean, square } = state
  const out = new Float64Array(gradient.length)
  const decay = 1 - learningRate * weightDecay
  const rate = (learningRate * Math.sqrt(1 - beta2 ** steps)) / (1 - beta1 ** steps)
  for (let i = 0; i < gradient.length; i++) {
    const g = gradient[i]! * scale
    const m = beta1 * mean[i]! + (1 - beta1) * g
    const s = beta2 * square[i]! + (1 - beta2) * g * g
    mean[i] = m
    square[i] = s
    out[i] = decay * weights[i]! - (rate * m) / (Math.sqrt(s) + epsilon)
  }
  return out
}
