/** Builds a training batch from groups: segments of the members that learn, and the log-probs their loss needs. */
import type { Learner } from '../../backend.js'
import type { Loss, NormaliserKind, TokenSegment, TrainBatch } from '../../batch.js'
import { countDrawnTokens, makeNormaliser } from '../../batch.js'
import type { Group } from '../../group.js'
import { scaleCorrection } from '../losses/importance-correction.js'
import { type Rejection, rejectOffPolicy } from '../losses/rejection.js'
import { type AdamSchedule, adamSettingsAt } from './adam-schedule.js'
import { episodeSegments } from './segments.js'

/** Loss, normaliser and optimiser of a training batch. */
export interface BatchOptions {
  readonly loss: Loss
  readonly normaliser: NormaliserKind
  /** Evaluated at the batch's step. */
  readonly adam: AdamSchedule
  /** For the dr-grpo normaliser: maximum number of tokens an episode can draw. */
  readonly maxTokens?: number
}

/** Advantages of single tokens, by rollout and segment, along the mask. */
export type Credits = ReadonlyMap<string, readonly Float32Array[]>

/** The sum of two credits; each may name rollouts that the other does not. */
export function addCredits(one: Credits = new Map(), other: Credits = new Map()): Credits {
  const sums = new Map(one)
  for (const [id, own] of other) {
    const before = sums.get(id)
    const sum = own.map((row, s) => row.map((value, t) => value + (before?.[s]?.[t] ?? 0)))
    sums.set(id, sum)
  }
  return sums
}

/** The segment with credit added to its advantages. */
function withCredit(segment: TokenSegment, credit: Float32Array | undefined): TokenSegment {
  if (!credit) return segment
  const advantages = segment.advantages.map((advantage, t) => advantage + credit[t]!)
  return { ...segment, advantages }
}

/**
 * Builds the batch of all groups that learn, or have a member with credit, and of the rows beside them; counts forked
 * token streams. `undefined` when no group learns.
 */
export function toTrainBatch(
  groups: readonly Group[],
  step: number,
  policyVersion: number,
  {
    loss,
    normaliser,
    adam,
    maxTokens,
    credits = new Map(),
    rows = [],
  }: BatchOptions & { readonly credits?: Credits; readonly rows?: readonly TokenSegment[] },
): { readonly batch: TrainBatch; readonly forks: number } | undefined {
  let forks = 0
  const own = groups
    .filter(
      ({ status, episodes }) => status === 'learns' || episodes.some(({ id }) => credits.has(id)),
    )
    .flatMap((group) =>
      group.episodes.flatMap((episode, i) => {
        if (group.standings[i] !== 'learns') return []
        const made = episodeSegments(episode, group.advantages[i] ?? 0, group.id, group)
        forks += made.forks
        const credit = credits.get(episode.id)
        return made.segments.map((segment, s) => withCredit(segment, credit?.[s]))
      }),
    )
  if (own.length === 0) return undefined
  const segments = [...own, ...rows]
  const perSegment = makeNormaliser(
    normaliser,
    segments,
    maxTokens === undefined ? {} : { maxTokens },
  )
  const settings = { loss, adam: adamSettingsAt(adam, step) }
  return { batch: { step, policyVersion, segments, normaliser: perSegment, ...settings }, forks }
}

/** What is done about samples that another engine, precision or older weights drew, before the loss. */
export interface OffPolicyOptions {
  /** Rejections by the distance of trainer and sampler; what all of them keep is trained on. */
  readonly reject?: readonly Rejection[]
  /** Whether the weights of `loss.correction` are scaled to a mean of 1 over the batch. @default false */
  readonly scaleWeights?: boolean
}

/**
 * Rejects what is too far off policy, makes the normaliser anew of what is left, and scales the correction's weights.
 * @returns the batch and the share of drawn tokens that were rejected; no batch where nothing is left
 * @throws RangeError for scaled weights without a correction
 */
export function correctOffPolicy(
  batch: TrainBatch,
  { reject = [], scaleWeights = false }: OffPolicyOptions,
  maxTokens?: number,
): { readonly batch: TrainBatch | undefined; readonly rejected: number } {
  const { correction } = batch.loss
  if (scaleWeights && !correction)
    throw new RangeError('Expected `loss.correction`, whose weights are to be scaled, got none')
  const before = batch.segments.reduce((sum, one) => sum + countDrawnTokens(one), 0)
  const segments =
    reject.length === 0
      ? batch.segments
      : rejectOffPolicy(batch.segments, reject).filter((one) => countDrawnTokens(one) > 0)
  const after = segments.reduce((sum, one) => sum + countDrawnTokens(one), 0)
  const rejected = before > 0 ? 1 - after / before : 0
  if (segments.length === 0) return { batch: undefined, rejected }
  const { kind } = batch.normaliser
  const normaliser =
    reject.length === 0
      ? batch.normaliser
      : makeNormaliser(kind, segments, maxTokens === undefined ? {} : { maxTokens })
  const scaled = scaleWeights && correction && scaleCorrection(correction, segments)
  const loss = scaled ? { ...batch.loss, correction: scaled } : batch.loss
  return { batch: { ...batch, segments, normaliser, loss }, rejected }
}

/**
 * Adds the log-probs the loss needs: the reference's for a KL penalty, the trainer's own for a correction, or where
 * `old` asks for them.
 * @throws TypeError for a backend without `logprobs` where the loss needs them
 */
export async function attachLogprobs(
  backend: Learner,
  loss: Loss,
  segments: readonly TokenSegment[],
  { old: asked = false }: { readonly old?: boolean } = {},
): Promise<readonly TokenSegment[]> {
  const corrects = loss.correction !== undefined || asked
  if (!loss.kl && !corrects) return segments
  if (!backend.logprobs)
    throw new TypeError(
      `Expected a backend with \`logprobs\` for a KL penalty or a correction, got ${backend.name}`,
    )
  const old = corrects ? await backend.logprobs(segments) : undefined
  const ref = loss.kl && (await backend.logprobs(segments, { reference: true }))
  return segments.map((segment, s) => ({
    ...segment,
    ...(old ? { oldLogprobs: old[s]! } : {}),
    ...(ref ? { refLogprobs: ref[s]! } : {}),
  }))
}
