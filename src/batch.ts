/**
 * The training batch: token segments with masks, sampler log-probs and advantages, and an explicit loss.
 *
 * Everything a gradient step needs is in it, so that every backend makes the same one. No backend's
 * default loss, clip bound or normaliser is ever used.
 */

/** One contiguous stream of token ids: what one policy read and drew, in order. */
export interface TokenSegment {
  /** The episode it comes from; segments of one episode count once in a rollout mean. */
  readonly rolloutId: string
  readonly groupId: string
  /** Prompt and everything after. */
  readonly tokens: Int32Array
  /** Leading tokens that are only read; at least 1. */
  readonly promptLength: number
  /** For `tokens[promptLength + t]`: 1 where the policy drew it, 0 where the world wrote it. */
  readonly mask: Uint8Array
  /** Sampler's log-prob, natural logarithm, same length as `mask`; 0 where masked. */
  readonly logprobs: Float32Array
  /** Advantage per token, same length as `mask`; 0 where masked. */
  readonly advantages: Float32Array
  /** The policy version each token was drawn with, same length as `mask`; -1 where masked. */
  readonly policyVersions: Int32Array
  readonly temperature: number
  readonly logprobMode: 'scaled' | 'raw'
  readonly stopReason: 'stop' | 'length'
}

/** How per-token losses become one number. */
export const normaliserKinds = ['token-mean', 'rollout-mean', 'dr-grpo', 'sum'] as const
export type NormaliserKind = (typeof normaliserKinds)[number]

/** The multiplier of each segment's token losses, computed on the whole batch before any splitting. */
export interface Normaliser {
  readonly kind: NormaliserKind
  readonly perSegment: Float64Array
}

/** The policy loss, explicit to the last constant. */
export type Loss =
  /** -A log p (Williams 1992). */
  | { readonly kind: 'policy-gradient'; readonly entropy: number }
  /** -min(rA, clip(r, 1-low, 1+high)A) with r = p/p_sampler (Schulman et al. 2017; separate bounds, DAPO). */
  | {
      readonly kind: 'ppo-clip'
      readonly low: number
      readonly high: number
      readonly entropy: number
    }

export interface AdamSettings {
  readonly learningRate: number
  /** @default 0.9 */
  readonly beta1?: number
  /** @default 0.999 */
  readonly beta2?: number
  /** @default 1e-8 */
  readonly epsilon?: number
  /** Gradients of a larger Euclidean norm are scaled down to it. @default Infinity */
  readonly maxGradNorm?: number
}

export interface TrainBatch {
  readonly step: number
  /** The policy version the batch is meant to be applied to. */
  readonly policyVersion: number
  readonly segments: readonly TokenSegment[]
  readonly normaliser: Normaliser
  readonly loss: Loss
  readonly adam: AdamSettings
}

/** How many tokens of a segment the policy drew. */
export function drawnTokens(segment: TokenSegment): number {
  let drawn = 0
  for (let t = 0; t < segment.mask.length; t++) drawn += segment.mask[t]!
  return drawn
}

/**
 * The multipliers of a normaliser over the whole batch.
 * `token-mean` divides by all drawn tokens; `rollout-mean` averages tokens within a rollout, then rollouts;
 * `dr-grpo` divides by rollouts times a fixed `maxTokens` (Liu et al. 2025); `sum` divides by nothing.
 * @throws RangeError for dr-grpo without `maxTokens`
 */
export function normalise(
  kind: NormaliserKind,
  segments: readonly TokenSegment[],
  { maxTokens }: { readonly maxTokens?: number } = {},
): Normaliser {
  const perSegment = new Float64Array(segments.length)
  const byRollout = new Map<string, number>()
  let all = 0
  for (const segment of segments) {
    const drawn = drawnTokens(segment)
    all += drawn
    byRollout.set(segment.rolloutId, (byRollout.get(segment.rolloutId) ?? 0) + drawn)
  }
  if (kind === 'dr-grpo' && !(maxTokens !== undefined && maxTokens > 0))
    throw new RangeError(`Expected \`maxTokens\` to be a positive number, got \`${maxTokens}\``)
  segments.forEach((segment, i) => {
    const own = byRollout.get(segment.rolloutId) ?? 0
    if (kind === 'sum') perSegment[i] = 1
    else if (kind === 'token-mean') perSegment[i] = all > 0 ? 1 / all : 0
    else if (kind === 'rollout-mean') perSegment[i] = own > 0 ? 1 / (own * byRollout.size) : 0
    else perSegment[i] = 1 / (byRollout.size * (maxTokens ?? 1))
  })
  return { kind, perSegment }
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
    const drawn = segment.tokens.length - segment.promptLength
    const where = `segments[${i}] of rollout ${segment.rolloutId}`
    if (segment.promptLength < 1)
      throw new RangeError(`${where}: expected promptLength >= 1, got ${segment.promptLength}`)
    for (const field of ['mask', 'logprobs', 'advantages', 'policyVersions'] as const)
      if (segment[field].length !== drawn)
        throw new RangeError(
          `${where}: expected ${field} of length ${drawn}, got ${segment[field].length}`,
        )
    for (let t = 0; t < drawn; t++)
      if (!Number.isFinite(segment.advantages[t]!) || !Number.isFinite(segment.logprobs[t]!))
        throw new RangeError(
          `${where}: expected finite numbers at token ${t}, got advantage ${segment.advantages[t]} and log-prob ${segment.logprobs[t]}`,
        )
  })
}
