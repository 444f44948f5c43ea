/** From groups to a batch: the segments of every member that learns, and what the loss needs besides. */
import type { Backend } from '../../backend.js'
import type { Loss, NormaliserKind, TokenSegment, TrainBatch } from '../../batch.js'
import { normalise } from '../../batch.js'
import type { Group } from '../../group.js'
import type { AdamSchedule } from '../loops/adam-schedule.js'
import { settingsAt } from '../loops/adam-schedule.js'
import { episodeSegments } from './segments.js'

/** How a batch is made of groups. */
export interface BatchOptions {
  readonly loss: Loss
  readonly normaliser: NormaliserKind
  readonly adam: AdamSchedule
  /** For the dr-grpo normaliser: the most tokens an episode can draw. */
  readonly maxTokens?: number
}

/** The batch of all groups that teach something; `undefined` when none does. */
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
        const made = episodeSegments(episode, group.advantages[i] ?? 0, group.id)
        forks += made.forks
        return made.segments
      }),
    )
  if (segments.length === 0) return undefined
  const perSegment = normalise(normaliser, segments, maxTokens === undefined ? {} : { maxTokens })
  const settings = { loss, adam: settingsAt(adam, step) }
  return { batch: { step, policyVersion, segments, normaliser: perSegment, ...settings }, forks }
}

/** The segments with what the loss needs besides: the reference's log-probs, and the trainer's own. */
export async function completed(
  backend: Backend,
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
