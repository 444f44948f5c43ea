/**
 * The reward: an async function of a finished episode and the grader's view, with named parts.
 *
 * A part that could not be computed is `unavailable`, a part without meaning for the case is `not-applicable`;
 * neither is a 0. Trainers leave out and count a score without a total.
 */
import type { GraderView } from './case.js'
import type { Episode } from './episode.js'

/** One named part of a score. */
export type Part =
  | { readonly status: 'ok'; readonly value: number; readonly evidence?: string }
  | { readonly status: 'unavailable'; readonly reason: string }
  | { readonly status: 'not-applicable' }

/** Result of a reward: a total and its parts. */
export interface Score {
  /** Within the reward's bounds; null when a needed part is unavailable or nothing applies. */
  readonly total: number | null
  readonly parts: Readonly<Record<string, Part>>
  /**
   * Reward of each turn, in order, for per-turn credit; only from rewards that pay by turn. Reward not tied to a turn
   * is on the last one, so the turns sum to the total, except for clipping.
   */
  readonly turns?: readonly number[]
}

/** Context of a reward call. */
export interface RewardContext {
  readonly signal?: AbortSignal | undefined
  /** Training step of the episode, from 1; absent outside training. */
  readonly step?: number | undefined
}

/** A reward function. Its declared bounds are checked at every call. */
export interface Reward {
  (episode: Episode, truth: GraderView, context?: RewardContext): Promise<Score>
  readonly rewardName: string
  readonly bounds: readonly [low: number, high: number]
  /** The paper or system the formula comes from. */
  readonly source: string
  /** True for a published system's formula as released, bugs included. */
  readonly parity?: boolean
  /** Set where the reward is for the patient instead of the doctor. */
  readonly pays?: 'patient'
  /** For a weighted mean: each part's share of the total. */
  readonly weights?: Readonly<Record<string, number>>
}

/** Rewards by name. */
export type RewardSet = Readonly<Record<string, Reward>>

/** The score of each reward of a set, under its name. */
export type ScoresOf<Rewards extends RewardSet> = { readonly [Name in keyof Rewards]: Score }

/** Scores an episode with every reward of a set, one after another in the set's order. */
export async function scoreEpisode<Rewards extends RewardSet>(
  episode: Episode,
  truth: GraderView,
  rewards: Rewards,
  context?: RewardContext,
): Promise<ScoresOf<Rewards>> {
  const scores: Record<string, Score> = {}
  for (const [name, reward] of Object.entries(rewards))
    scores[name] = await reward(episode, truth, context)
  // A score under the name of every reward, and nothing else.
  return scores as ScoresOf<Rewards>
}

/** Reason of a score's first unavailable part; undefined for a score with a total or without such a part. */
export function unavailableReason({ total, parts }: Score): string | undefined {
  if (total !== null) return undefined
  for (const part of Object.values(parts)) if (part.status === 'unavailable') return part.reason
  return undefined
}

/** Makes a computed part, with the evidence for its value. */
export const ok = (value: number, evidence?: string): Part =>
  evidence === undefined ? { status: 'ok', value } : { status: 'ok', value, evidence }

/** A part without meaning for the case. */
export const notApplicable: Part = Object.freeze({ status: 'not-applicable' })

/** Makes a part that could not be computed. */
export const unavailable = (reason: string): Part => ({ status: 'unavailable', reason })
