/** Adam (Kingma & Ba 2015) on typed arrays that may grow by rows of zeros. */
import type { AdamSettings } from '../../batch.js'

export interface AdamState {
  readonly steps: number
  readonly mean: Float64Array
  readonly square: Float64Array
}

/** A copy of `values` with room for `length` numbers, the new ones 0. */
export function grown(values: Float64Array, length: number): Float64Array {
  const out = new Float64Array(length)
  out.set(values)
  return out
}

/** The Euclidean norm. */
export function norm(values: Float64Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]! * values[i]!
  return Math.sqrt(sum)
}

/** One step; writes nothing it was given, and returns new weights and state. */
export function adam(
  weights: Float64Array,
  gradient: Float64Array,
  state: AdamState,
  {
    learningRate,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon = 1e-8,
    maxGradNorm = Infinity,
  }: AdamSettings,
): { readonly weights: Float64Array; readonly state: AdamState; readonly gradNorm: number } {
  const gradNorm = norm(gradient)
  const scale = gradNorm > maxGradNorm ? maxGradNorm / gradNorm : 1
  const steps = state.steps + 1
  const out = grown(weights, gradient.length)
  const mean = grown(state.mean, gradient.length)
  const square = grown(state.square, gradient.length)
  const rate = (learningRate * Math.sqrt(1 - beta2 ** steps)) / (1 - beta1 ** steps)
  for (let i = 0; i < gradient.length; i++) {
    const g = gradient[i]! * scale
    const m = beta1 * mean[i]! + (1 - beta1) * g
    const s = beta2 * square[i]! + (1 - beta2) * g * g
    mean[i] = m
    square[i] = s
    out[i] = out[i]! - (rate * m) / (Math.sqrt(s) + epsilon)
  }
  return { weights: out, state: { steps, mean, square }, gradNorm }
}
