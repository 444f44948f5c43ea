/** What a critic is to learn of a batch, checked, and what a step reports of it: for every backend that has one. */
import type { CriticTargets, TokenSegment } from '../../batch.js'
import { deviation } from '../advantages/whiten.js'
import { valueLoss } from './value.js'

/** @throws RangeError naming the field, the segment and the token */
export function assertTargets(
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

/** What a step did to a critic. */
export interface CriticReport {
  /** The mean loss of a drawn token, neither normalised nor weighed. */
  readonly loss: number
  /** 1 - var(returns - values) / var(returns), 0 for equal returns. */
  readonly explained: number
}

export interface CriticTally {
  /** Counts the value at a drawn token of a segment, before the step; gives d loss / d value. */
  add(segment: number, t: number, value: number): number
  report(): CriticReport
}

/** Starts the sums of a step of the critic. */
export function criticTally({ returns, oldValues, range }: CriticTargets): CriticTally {
  const seen: number[] = []
  const errors: number[] = []
  let loss = 0
  const bounds = range === undefined ? {} : { range }
  return {
    add(segment, t, value) {
      const target = returns[segment]![t]!
      const made = valueLoss(value, target, oldValues[segment]![t]!, bounds)
      seen.push(target)
      errors.push(target - value)
      loss += made.value
      return made.slope
    },
    report() {
      const spread = deviation(seen)
      const explained = spread > 0 ? 1 - (deviation(errors) / spread) ** 2 : 0
      return { loss: loss / Math.max(1, seen.length), explained }
    },
  }
}
