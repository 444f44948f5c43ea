/**
 * The training batch: token segments with masks, sampler log-probs and advantages, and an explicit loss.
 *
 * A batch holds everything a gradient step needs, so every backend makes the same step. No backend's default
 * loss, clip bound or normaliser is ever used.
 */
import type { Role } from './episode.js'

/** One contiguous stream of token ids that one policy read and drew, in order. */
export interface TokenSegment {
  /** The segment's episode; segments of one episode count once in a rollout mean. */
  readonly rolloutId: string
  readonly groupId: string
  /** Who drew. @default 'doctor' */
  readonly role?: Role
  /** Name of the policy that drew. */
  readonly policy?: string
  /** The prompt and all later tokens. */
  readonly tokens: Int32Array
  /** Number of leading tokens that are only read; at least 1. */
  readonly promptLength: number
  /** For `tokens[promptLength + t]`: 1 where the policy drew it, 0 where the world wrote it. */
  readonly mask: Uint8Array
  /** The sampler's log-prob, natural logarithm, same length as `mask`; 0 where masked. */
  readonly logprobs: Float32Array
  /**
   * The trainer's log-prob under the old weights of the ratio, same length as `mask`. Without it the ratio uses the
   * sampler's log-prob, and an importance correction has nothing to correct.
   */
  readonly oldLogprobs?: Float32Array
  /** Log-prob under the reference policy, same length as `mask`; for a loss with a KL penalty. */
  readonly refLogprobs?: Float32Array
  /** Advantage per token, same length as `mask`; 0 where masked. */
  readonly advantages: Float32Array
  /** Policy version that drew each token, same length as `mask`; -1 where masked. */
  readonly policyVersions: Int32Array
  readonly temperature: number
  readonly logprobMode: 'scaled' | 'raw'
  readonly stopReason: 'stop' | 'length'
}

/** Reductions of per-token losses to one number. */
export const normaliserKinds = [
  'token-mean',
  'seq-mean',
  'seq-mean-token-sum',
  'rollout-mean',
  'dr-grpo',
  'sum',
] as const
/** Name of a loss reduction; see {@link makeNormaliser}. */
export type NormaliserKind = (typeof normaliserKinds)[number]

/** Multiplier of each segment's token losses, computed on the whole batch before any splitting. */
export interface Normaliser {
  readonly kind: NormaliserKind
  readonly perSegment: Float64Array
  /** Drawn tokens of the whole batch, for an entropy bonus that is a mean over tokens. */
  readonly drawnTokens?: number
}

/** Clip bounds of a probability ratio: from 1 - low to 1 + high. */
export interface ClipBounds {
  readonly low: number
  readonly high: number
}

/**
 * Loss of one token: r = p / p_old, A its advantage, p_old from `oldLogprobs`, or else from the sampler.
 * Each has an exact d loss / d log p; sg(·) is stop-gradient.
 */
export type Objective =
  /** -A log p (Williams 1992). */
  | { readonly kind: 'policy-gradient' }
  /** -rA: importance sampling without a clip, which every Tinker server supports. */
  | { readonly kind: 'importance-sampling' }
  /** -A log p with A as a token weight: likelihood, for supervised fine-tuning. */
  | { readonly kind: 'cross-entropy' }
  /**
   * -min(rA, clip(r)A) (Schulman et al. 2017; separate bounds: DAPO, Yu et al. 2025); with `dual` and A < 0 at most
   * -dual A (Ye et al. 2020; dual > 1).
   */
  | ({ readonly kind: 'ppo-clip'; readonly dual?: number } & ClipBounds)
  /** -sg(clip(r)) A log p (MiniMax-M1, 2025): no token loses its gradient. */
  | ({ readonly kind: 'cispo' } & ClipBounds)
  /**
   * PPO's clip with s = exp(mean of log r over the segment's drawn tokens) in place of r (GSPO, Zheng et al. 2025,
   * in its token form: d s / d log p of each token is s); `dual` as for ppo-clip.
   */
  | ({ readonly kind: 'gspo'; readonly dual?: number } & ClipBounds)
  /** -σ(τ(r - 1)) 4/τ A, τ by the sign of A (SAPO, Gao et al. 2025): soft clipping. */
  | { readonly kind: 'sapo'; readonly tauPositive: number; readonly tauNegative: number }

/**
 * Importance weight ρ = p_old / p_sampler per token, for a sampler that differs from the trainer (another engine,
 * precision, or older weights). No gradient goes through ρ.
 * `level: 'sequence'` multiplies the ρ of a segment's drawn tokens, `geometric` takes their geometric mean. `truncate` clips ρ into [min, max] (TIS); `mask`
 * drops tokens outside and weighs the rest by ρ (MIS; IcePop with both bounds at token level).
 */
export interface ImportanceCorrection {
  readonly level: 'token' | 'sequence' | 'geometric'
  readonly mode: 'truncate' | 'mask'
  /** @default 0 */
  readonly min?: number
  readonly max: number
  /** Multiplier of the bounded weights; `scaleCorrection` makes their mean over a batch 1. @default 1 */
  readonly scale?: number
}

/**
 * Off-policy sequence mask (DeepSeek-V3.2, 2025): where the mean of log(p_behaviour / p) over a segment's drawn tokens is
 * above `threshold`, its tokens of negative advantage are left out of the objective; a KL penalty stays. `behaviour` is
 * the old policy of the ratio, or the sampler.
 */
export interface OffPolicyMask {
  readonly threshold: number
  /** @default 'sampler' */
  readonly behaviour?: 'old' | 'sampler'
}

/**
 * KL penalty per token from the reference policy, with d = log p - log p_ref (Schulman 2020): k1 is d, k2 is d²/2,
 * k3 is exp(-d) + d - 1. The gradient is that of the estimate itself.
 */
export interface KlPenalty {
  readonly estimator: 'k1' | 'k2' | 'k3'
  readonly coefficient: number
  /** Multiplies each estimate by the token's r, with its gradient: unbiased off policy (DeepSeek-V3.2). @default false */
  readonly ratio?: boolean
}

/** Names of all objectives. */
export const objectiveKinds = [
  'policy-gradient',
  'importance-sampling',
  'cross-entropy',
  'ppo-clip',
  'cispo',
  'gspo',
  'sapo',
] as const satisfies readonly Objective['kind'][]

/** The policy loss with all its constants explicit. */
export type Loss = Objective & {
  /** Weight of the entropy bonus, in nats. */
  readonly entropy: number
  /** Whether the bonus is reduced as the losses are, or is always a mean over all drawn tokens. @default 'normaliser' */
  readonly entropyOver?: 'normaliser' | 'tokens'
  readonly kl?: KlPenalty
  readonly correction?: ImportanceCorrection
  readonly offPolicyMask?: OffPolicyMask
}

/** Settings of the Adam optimiser for one step. */
export interface AdamSettings {
  readonly learningRate: number
  /** @default 0.9 */
  readonly beta1?: number
  /** @default 0.999 */
  readonly beta2?: number
  /** @default 1e-8 */
  readonly epsilon?: number
  /** Euclidean norm that larger gradients are scaled down to. @default Infinity */
  readonly maxGradNorm?: number
  /** Decoupled weight decay (AdamW): each step shrinks the weights by learning rate times this. @default 0 */
  readonly weightDecay?: number
}

/** Training targets of the critic: one array per segment, as long as its mask, 0 where masked. */
export interface CriticTargets {
  readonly returns: readonly Float32Array[]
  /** The critic's values when the advantages were estimated. */
  readonly oldValues: readonly Float32Array[]
  /** Value clip range: predictions further than this from `oldValues` gain nothing. Without it no clip. */
  readonly range?: number
  /** Weight of the value loss beside the policy loss. */
  readonly coefficient: number
  readonly adam: AdamSettings
}

/** Input of one gradient step. */
export interface TrainBatch {
  readonly step: number
  /** The policy version the batch is applied to. */
  readonly policyVersion: number
  /** Most versions a drawn token may lag behind `policyVersion`; without it no limit. */
  readonly maxStaleness?: number
  readonly segments: readonly TokenSegment[]
  readonly normaliser: Normaliser
  readonly loss: Loss
  readonly adam: AdamSettings
  /** For a backend with a critic. */
  readonly critic?: CriticTargets
}

/** Number of tokens in a segment that the policy drew. */
export function countDrawnTokens(segment: Pick<TokenSegment, 'mask'>): number {
  let drawn = 0
  for (let t = 0; t < segment.mask.length; t++) drawn += segment.mask[t]!
  return drawn
}

/**
 * Makes the normaliser (per-segment multipliers) of a whole batch.
 * `token-mean` divides by all drawn tokens; `seq-mean` averages tokens within a segment, then segments with drawn
 * tokens; `seq-mean-token-sum` sums tokens within a segment, then averages such segments; `rollout-mean` averages tokens within a rollout, then rollouts;
 * `dr-grpo` divides by rollouts times a fixed `maxTokens` (Liu et al. 2025); `sum` divides by nothing.
 * @throws RangeError for dr-grpo without `maxTokens`
 */
export function makeNormaliser(
  kind: NormaliserKind,
  segments: readonly Pick<TokenSegment, 'mask' | 'rolloutId'>[],
  { maxTokens }: { readonly maxTokens?: number } = {},
): Normaliser {
  const perSegment = new Float64Array(segments.length)
  const byRollout = new Map<string, number>()
  let all = 0
  let drawing = 0
  const counts = segments.map(countDrawnTokens)
  segments.forEach((segment, i) => {
    const drawn = counts[i]!
    all += drawn
    if (drawn > 0) drawing++
    byRollout.set(segment.rolloutId, (byRollout.get(segment.rolloutId) ?? 0) + drawn)
  })
  if (kind === 'dr-grpo' && !(maxTokens !== undefined && maxTokens > 0))
    throw new RangeError(`Expected \`maxTokens\` to be a positive number, got \`${maxTokens}\``)
  segments.forEach((segment, i) => {
    const own = byRollout.get(segment.rolloutId) ?? 0
    if (kind === 'sum') perSegment[i] = 1
    else if (kind === 'token-mean') perSegment[i] = all > 0 ? 1 / all : 0
    else if (kind === 'seq-mean') perSegment[i] = counts[i]! > 0 ? 1 / (counts[i]! * drawing) : 0
    else if (kind === 'seq-mean-token-sum') perSegment[i] = counts[i]! > 0 ? 1 / drawing : 0
    else if (kind === 'rollout-mean') perSegment[i] = own > 0 ? 1 / (own * byRollout.size) : 0
    else perSegment[i] = 1 / (byRollout.size * (maxTokens ?? 1))
  })
  return { kind, perSegment, drawnTokens: all }
}

const floatFields = ['advantages', 'logprobs', 'oldLogprobs', 'refLogprobs'] as const
const tokenFields = ['mask', 'policyVersions', ...floatFields] as const

/** Describes what is wrong with one segment of a batch, if anything. */
function segmentProblem(
  segment: TokenSegment,
  { loss, policyVersion, maxStaleness }: TrainBatch,
): string | undefined {
  const { tokens, promptLength, mask, policyVersions } = segment
  const drawn = tokens.length - promptLength
  if (promptLength < 1) return `expected promptLength >= 1, got ${promptLength}`
  for (const field of tokenFields)
    if (segment[field] !== undefined && segment[field].length !== drawn)
      return `expected ${field} of length ${drawn}, got ${segment[field].length}`
  for (const field of floatFields) {
    const values = segment[field]
    for (let t = 0; values && t < drawn; t++)
      if (!Number.isFinite(values[t]!))
        return `expected finite ${field}, got ${values[t]} at token ${t}`
  }
  if (maxStaleness !== undefined) {
    const oldest = policyVersion - maxStaleness
    for (let t = 0; t < drawn; t++)
      if (mask[t] === 1 && (policyVersions[t]! < oldest || policyVersions[t]! > policyVersion))
        return `expected policyVersions from ${oldest} to ${policyVersion}, got ${policyVersions[t]} at token ${t}`
  }
  return loss.kl && !segment.refLogprobs
    ? 'expected refLogprobs for a loss with a KL penalty, got none'
    : undefined
}

/**
 * Checks a batch before any gradient.
 * @throws RangeError naming the segment and the field
 */
export function assertBatch(batch: TrainBatch): void {
  if (batch.segments.length === 0) throw new RangeError('Expected a batch with segments, got none')
  if (batch.normaliser.perSegment.length !== batch.segments.length)
    throw new RangeError(
      `Expected one normaliser per segment (${batch.segments.length}), got ${batch.normaliser.perSegment.length}`,
    )
  batch.normaliser.perSegment.forEach((multiplier, i) => {
    if (!Number.isFinite(multiplier))
      throw new RangeError(`Expected finite normalisers, got ${multiplier} for segments[${i}]`)
  })
  batch.segments.forEach((segment, i) => {
    const problem = segmentProblem(segment, batch)
    if (problem !== undefined)
      throw new RangeError(`segments[${i}] of rollout ${segment.rolloutId}: ${problem}`)
  })
}
