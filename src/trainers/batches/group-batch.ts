/** Builds a training batch from groups: segments of the members that learn, and the log-probs their loss needs. */
import type { Learner } from '../../backend.js'
import type { Loss, NormaliserKind, TokenSegment, TrainBatch } from '../../batch.js'
import { makeNormaliser } from '../../batch.js'
import type { Group } from '../../group.js'
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

/** Builds the batch of all groups that learn, and counts forked token streams; `undefined` when no group learns. */
export function toTrainBatch(
  groups: readonly Group[],
  step: number,
  policyVersion: number,
  { loss, normaliser, adam, maxTokens }: BatchOptions,
): { readonly batch: TrainBatch; readonly forks: number } | undefined {
  let forks = 0
  const segments = groups
    .filter(({ status }) => status === 'learns')
    .flatMap((group) =>
      group.episodes.flatMap((episode, i) => {
        if (group.standings[i] !== 'learns') return []
        const made = episodeSegments(episode, group.advantages[i] ?? 0, group.id, group)
        forks += made.forks
        return made.segments
      }),
    )
  if (segments.length === 0) return undefined
  const perSegment = makeNormaliser(
    normaliser,
    segments,
    maxTokens === undefined ? {} : { maxTokens },
  )
  const settings = { loss, adam: adamSettingsAt(adam, step) }
  return { batch: { step, policyVersion, segments, normaliser: perSegment, ...settings }, forks }
}

/**
 * Adds the log-probs the loss needs: the reference's for a KL penalty, the trainer's own for a correction.
 * @throws TypeError for a backend without `logprobs` where the loss needs them
 */
export async function attachLogprobs(
  backend: Learner,
  loss: Loss,
  segments: readonly TokenSegment[],
): Promise<readonly TokenSegment[]> {
  if (!loss.kl && !loss.correction) return segments
  if (!backend.logprobs)
    throw new TypeError(
      `Expected a backend with \`logprobs\` for a KL penalty or a correction, got ${backend.name}`,
    )
  const old = loss.correction && (await backend.logprobs(segments))
  const ref = loss.kl && (await backend.logprobs(segments, { reference: true }))
  return segments.map((segment, s) => ({
    ...segment,
    ...(old ? { oldLogprobs: old[s]! } : {}),
    ...(ref ? { refLogprobs: ref[s]! } : {}),
  }))
}
