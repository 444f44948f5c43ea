/** Value loss of a critic: squared error of values against returns, clipped as in PPO. */

/** Value loss of one token and its derivative by the prediction. */
export interface ValueLoss {
  readonly value: number
  readonly slope: number
  /** Whether the clip range cut off the gradient. */
  readonly clipped: boolean
}

/**
 * Clipped value loss ½ max((v - R)², (clip(v, v_old - range, v_old + range) - R)²) (PPO's implementation, as in verl);
 * without `range` ½ (v - R)².
 * @param prediction v, under the weights being trained
 * @param target R, the return
 * @param old v_old, the prediction at rollout time
 */
export function valueLoss(
  prediction: number,
  target: number,
  old: number,
  { range }: { readonly range?: number } = {},
): ValueLoss {
  const error = prediction - target
  const plain = { value: (error * error) / 2, slope: error, clipped: false }
  if (range === undefined) return plain
  const held = Math.min(Math.max(prediction, old - range), old + range) - target
  // The clipped prediction is constant: where its error is the larger one, the gradient is 0.
  if ((held * held) / 2 <= plain.value) return plain
  return { value: (held * held) / 2, slope: 0, clipped: true }
}
