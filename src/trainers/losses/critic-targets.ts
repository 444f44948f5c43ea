/** Critic targets of a batch: validation, value loss sums and the step's report, shared by all backends. */
import type { CriticTargets, TokenSegment } from '../../batch.js'
import { deviation } from '../advantages/whiten.js'

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

/** Checks critic targets against the segments. @throws RangeError naming the field, the segment and the token */
export function assertCriticTargets(
  critic: CriticTargets,
  segments: readonly Pick<TokenSegment, 'mask'>[],
): void {
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

/** Critic statistics of one gradient step. */
export interface CriticReport {
  /** Mean loss per drawn token, without normaliser and coefficient. */
  readonly loss: number
  /** Explained variance: 1 - var(returns - values) / var(returns); 0 for equal returns. */
  readonly explained: number
}

/** Makes empty sums for a critic's gradient step. */
export function criticTally({ returns, oldValues, range }: CriticTargets) {
  const seen: number[] = []
  const errors: number[] = []
  let loss = 0
  const bounds = range === undefined ? {} : { range }
  return {
    /** Adds the value at drawn token `t` of a segment, before the step; returns d loss / d value. */
    add(segment: number, t: number, value: number): number {
      const target = returns[segment]![t]!
      const made = valueLoss(value, target, oldValues[segment]![t]!, bounds)
      seen.push(target)
      errors.push(target - value)
      loss += made.value
      return made.slope
    },
    report(): CriticReport {
      const spread = deviation(seen)
      const explained = spread > 0 ? 1 - (deviation(errors) / spread) ** 2 : 0
      return { loss: loss / Math.max(1, seen.length), explained }
    },
  }
}
