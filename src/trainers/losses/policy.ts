/**
 * Policy losses per token: value and exact derivative by the token's log-prob. Backends that take gradients use these;
 * others get the loss linearised (`linearise.ts`).
 */
import { type KlPenalty, type Loss, type Objective, objectiveKinds } from '../../batch.js'
import { correctionWeights, type LossRow } from './importance-correction.js'

/** Loss of one token and its derivative by the token's log-prob. */
export interface TokenLoss {
  readonly value: number
  readonly slope: number
  /** Whether a bound cut off the gradient; never for a token of advantage 0, which has none. */
  readonly clipped: boolean
}

const clip = (ratio: number, low: number, high: number): number =>
  Math.min(Math.max(ratio, 1 - low), 1 + high)

/** PPO-clip: -min(rA, clip(r)A), for ratio r and advantage A; with `dual`, for A < 0, flat for r > dual too. */
function clippedSurrogate(
  { low, high, dual }: { readonly low: number; readonly high: number; readonly dual?: number },
  ratio: number,
  advantage: number,
): TokenLoss {
  if (advantage < 0 && dual !== undefined && ratio > dual)
    return { value: -dual * advantage, slope: 0, clipped: true }
  const outside = advantage >= 0 ? ratio > 1 + high : ratio < 1 - low
  return outside
    ? { value: -clip(ratio, low, high) * advantage, slope: 0, clipped: advantage !== 0 }
    : { value: -ratio * advantage, slope: -ratio * advantage, clipped: false }
}

/** Logistic function whose exponential cannot overflow. */
const sigmoid = (x: number): number => {
  const e = Math.exp(-Math.abs(x))
  return x >= 0 ? 1 / (1 + e) : e / (1 + e)
}

/**
 * Loss of one drawn token, without entropy bonus, KL penalty and importance correction.
 * @param logprob log p under the weights being trained
 * @param ratio p / p_old, of the token or, for gspo, of its segment
 * @throws RangeError for an objective of another kind
 */
export function tokenLoss(
  objective: Objective,
  logprob: number,
  ratio: number,
  advantage: number,
): TokenLoss {
  switch (objective.kind) {
    case 'policy-gradient':
    case 'cross-entropy':
      return { value: -advantage * logprob, slope: -advantage, clipped: false }
    case 'importance-sampling':
      return { value: -ratio * advantage, slope: -ratio * advantage, clipped: false }
    // For gspo the derivative is by the segment's tokens together: as in its token form, each gets ratio times advantage.
    case 'ppo-clip':
    case 'gspo':
      return clippedSurrogate(objective, ratio, advantage)
    case 'cispo': {
      const bounded = clip(ratio, objective.low, objective.high)
      const slope = -bounded * advantage
      return { value: slope * logprob, slope, clipped: bounded !== ratio && advantage !== 0 }
    }
    case 'sapo': {
      const tau = advantage > 0 ? objective.tauPositive : objective.tauNegative
      const gate = sigmoid(tau * (ratio - 1))
      const slope = -4 * gate * (1 - gate) * ratio * advantage
      return { value: (-4 / tau) * gate * advantage, slope, clipped: false }
    }
    default: {
      const { kind }: { readonly kind: unknown } = objective
      throw new RangeError(`Expected a loss of kind ${objectiveKinds.join(', ')}, got \`${kind}\``)
    }
  }
}

/**
 * Estimates the KL divergence from the reference policy, with its derivative by log p (k1, k2 or k3).
 * @param distance log p - log p_ref
 */
export function klEstimate(
  estimator: KlPenalty['estimator'],
  distance: number,
): { readonly value: number; readonly slope: number } {
  if (estimator === 'k1') return { value: distance, slope: 1 }
  if (estimator === 'k2') return { value: (distance * distance) / 2, slope: distance }
  const inverse = Math.exp(-distance)
  return { value: inverse + distance - 1, slope: 1 - inverse }
}

/** The KL estimate of a penalty: as it is, or times the token's ratio, of which it is then a function too. */
function klTerm(
  { estimator, ratio: weighs = false }: KlPenalty,
  distance: number,
  ratio: number,
): { readonly value: number; readonly slope: number } {
  const { value, slope } = klEstimate(estimator, distance)
  return weighs ? { value: ratio * value, slope: ratio * (value + slope) } : { value, slope }
}

/** Loss of one segment before the normaliser: arrays per token, 0 where masked. */
export interface SegmentLoss {
  /** Token losses without the entropy bonus. */
  readonly values: Float64Array
  /** d (sum of values) / d log p. */
  readonly slopes: Float64Array
  /** p / p_old of each token. */
  readonly ratios: Float64Array
  /** Correction weights, 0 where the off-policy mask drops a token; 1 without either. */
  readonly weights: Float64Array
  /** 1 where a bound cut off the gradient. */
  readonly clipped: Uint8Array
  /** KL estimates, times the ratio where the penalty is, without its coefficient; 0 without a penalty. */
  readonly kl: Float64Array
}

/** Mean of log p - log p_old over drawn tokens; 0 without any. Its exponential is GSPO's sequence ratio. */
function meanLogRatio(
  { mask }: Pick<LossRow, 'mask'>,
  logprobs: ArrayLike<number>,
  old: ArrayLike<number>,
): number {
  let sum = 0
  let drawn = 0
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] !== 1) continue
    sum += logprobs[t]! - old[t]!
    drawn++
  }
  return drawn > 0 ? sum / drawn : 0
}

/** Whether the off-policy sequence mask drops this segment's tokens of negative advantage. */
function isOffPolicy(
  { offPolicyMask }: Pick<Loss, 'offPolicyMask'>,
  segment: LossRow,
  logprobs: ArrayLike<number>,
): boolean {
  if (!offPolicyMask) return false
  const { threshold, behaviour = 'sampler' } = offPolicyMask
  const drew = behaviour === 'old' ? (segment.oldLogprobs ?? segment.logprobs) : segment.logprobs
  return -meanLogRatio(segment, logprobs, drew) > threshold
}

/**
 * Computes the loss of one segment's drawn tokens.
 * @param logprobs log p of every token after the prompt under the weights being trained; masked ones are not read
 * @throws RangeError if `logprobs` has another length, or the loss a KL penalty and the segment no `refLogprobs`
 */
export function segmentLoss(
  loss: Loss,
  segment: LossRow,
  logprobs: ArrayLike<number>,
): SegmentLoss {
  const { mask, advantages, refLogprobs } = segment
  const length = mask.length
  if (logprobs.length !== length)
    throw new RangeError(`Expected ${length} logprobs, got ${logprobs.length}`)
  if (loss.kl && !refLogprobs)
    throw new RangeError('Expected a segment with refLogprobs for a KL penalty, got none')
  const old = segment.oldLogprobs ?? segment.logprobs
  const whole = loss.kind === 'gspo' ? Math.exp(meanLogRatio(segment, logprobs, old)) : undefined
  const dropsNegative = isOffPolicy(loss, segment, logprobs)
  const out = {
    ...{ values: new Float64Array(length), slopes: new Float64Array(length) },
    ...{ ratios: new Float64Array(length), weights: correctionWeights(loss.correction, segment) },
    ...{ clipped: new Uint8Array(length), kl: new Float64Array(length) },
  }
  for (let t = 0; t < length; t++) {
    if (mask[t] !== 1) continue
    const logprob = logprobs[t]!
    const ratio = Math.exp(logprob - old[t]!)
    const one = tokenLoss(loss, logprob, whole ?? ratio, advantages[t]!)
    if (dropsNegative && advantages[t]! < 0) out.weights[t] = 0
    const weight = out.weights[t]!
    // A token left out by the correction adds nothing: 0 times an infinite ratio would be NaN.
    out.values[t] = weight === 0 ? 0 : weight * one.value
    out.slopes[t] = weight === 0 ? 0 : weight * one.slope
    out.ratios[t] = ratio
    out.clipped[t] = one.clipped ? 1 : 0
    if (!loss.kl || !refLogprobs) continue
    const penalty = klTerm(loss.kl, logprob - refLogprobs[t]!, ratio)
    out.kl[t] = penalty.value
    out.values[t]! += loss.kl.coefficient * penalty.value
    out.slopes[t]! += loss.kl.coefficient * penalty.slope
  }
  return out
}
