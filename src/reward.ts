/**
 * The reward: an async function of a finished episode and the grader's view, with named parts.
 *
 * A part that could not be computed is `unavailable` and one that has no meaning for the case is
 * `not-applicable`; neither is a 0. A score without a total is left out by whoever trains, and counted.
 */
import type { GraderView } from './case.js'
import type { Episode } from './episode.js'

export type Part =
  | { readonly status: 'ok'; readonly value: number; readonly evidence?: string }
  | { readonly status: 'unavailable'; readonly reason: string }
  | { readonly status: 'not-applicable' }

export interface Score {
  /** Within the reward's bounds; null when a needed part is unavailable or nothing applies. */
  readonly total: number | null
  readonly parts: Readonly<Record<string, Part>>
  /**
   * What each turn of the episode is paid, in order, for credit turn by turn; only of rewards that pay by turn.
   * What is not paid by turn stands at the last one, so that all sum to the total but for what was clipped.
   */
  readonly turns?: readonly number[]
}

export interface RewardContext {
  readonly signal?: AbortSignal | undefined
  /** The training step the episode was played in, from 1; absent where nothing is trained. */
  readonly step?: number | undefined
}

/** Scores a finished episode. Its bounds are declared, and checked when it runs. */
export interface Reward {
  (episode: Episode, truth: GraderView, context?: RewardContext): Promise<Score>
  readonly rewardName: string
  readonly bounds: readonly [low: number, high: number]
  /** The paper or system the formula comes from. */
  readonly source: string
  /** A published system's formula as it was released, faults included. */
  readonly parity?: boolean
  /** Whom it pays, where that is not the doctor. */
  readonly pays?: 'patient'
  /** Of a weighted mean: what share of the total each part weighs. */
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

/** Why a score has no total, where that is the world's fault: the reason of its first unavailable part. */
export function troubleOf({ total, parts }: Score): string | undefined {
  if (total !== null) return undefined
  for (const part of Object.values(parts)) if (part.status === 'unavailable') return part.reason
  return undefined
}

/** A value with what it was judged on. */
export const ok = (value: number, evidence?: string): Part =>
  evidence === undefined ? { status: 'ok', value } : { status: 'ok', value, evidence }

export const notApplicable: Part = Object.freeze({ status: 'not-applicable' })

export const unavailable = (reason: string): Part => ({ status: 'unavailable', reason })
