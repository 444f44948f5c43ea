/** The critic's loss: squared error of its values against returns, clipped as PPO does. */

/** A value and its derivative by the prediction, for one token. */
export interface ValueLoss {
  readonly value: number
  readonly slope: number
  /** The gradient was cut off by the bound. */
  readonly clipped: boolean
}

/**
 * ½ max((v - R)², (clip(v, v_old - range, v_old + range) - R)²) (PPO's implementation, as in verl); without `range`
 * ½ (v - R)².
 * @param prediction v, under the weights being trained
 * @param target R, the return
 * @param old v_old, the prediction the rollout was judged by
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
  // Where the held prediction is the worse one it is a constant: pushing the prediction on gains nothing.
  if ((held * held) / 2 <= plain.value) return plain
  return { value: (held * held) / 2, slope: 0, clipped: true }
}
