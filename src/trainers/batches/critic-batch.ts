/** Training examples for a policy with a critic: token rewards, GAE advantages, returns and old values. */
import type { Learner } from '../../backend.js'
import { countDrawnTokens, type KlPenalty, type Loss, type TokenSegment } from '../../batch.js'
import { gae } from '../advantages/gae.js'
import { assertFactor, klPenalisedRewards, terminalReward } from '../advantages/token-rewards.js'
import type { GroupMember } from '../rollouts/group-rollouts.js'
import { attachLogprobs } from './group-batch.js'
import { episodeSegments } from './segments.js'

/** How rewards and advantages of a policy with a critic are computed. */
export interface CriticOptions {
  /** A backend with a critic. */
  readonly backend: Learner
  readonly loss: Loss
  /**
   * KL penalty subtracted from the reward of every drawn token (HuatuoGPT-o1: k1 with 0.03). In a reward only k1 has
   * the gradient of the KL divergence: k2 and k3 are never negative, a cost of every token, and can drive a policy
   * into short episodes. @default none
   */
  readonly rewardKl?: KlPenalty
  /** Discount per drawn token. @default 1 */
  readonly gamma?: number
  /** GAE lambda: 0 relies on the critic, 1 on the rewards alone. @default 0.95 */
  readonly lambda?: number
}

/** One episode to train on: segments with advantages and, for the critic, returns and old values along their masks. */
export interface CriticExample {
  readonly segments: readonly TokenSegment[]
  /** Regression targets of the critic. */
  readonly returns: readonly Float32Array[]
  /** The critic's predictions when the advantages were estimated. */
  readonly oldValues: readonly Float32Array[]
}

/**
 * Checks options before any episode is played.
 * @throws TypeError for a backend without a critic, or without `logprobs` where they are needed; RangeError for
 *   `gamma` or `lambda` outside [0, 1]
 */
export function assertCriticOptions({
  backend,
  loss,
  rewardKl,
  gamma = 1,
  lambda = 1,
}: CriticOptions) {
  if (!backend.capabilities.critic || !backend.values)
    throw new TypeError(`Expected a backend with a critic, got ${backend.name} without one`)
  if ((rewardKl || loss.kl || loss.correction) && !backend.logprobs)
    throw new TypeError(
      `Expected a backend with \`logprobs\` for a KL penalty or a correction, got ${backend.name}`,
    )
  assertFactor('gamma', gamma)
  assertFactor('lambda', lambda)
}

/** Joins values of an episode's segments into one row: between segments nothing was drawn, and no time passed. */
const concatenate = (parts: readonly ArrayLike<number>[]): Float64Array =>
  Float64Array.from(parts.flatMap((part) => Array.from(part)))

/** Splits a row over an episode into its segments. */
function splitBySegment(row: Float64Array, segments: readonly TokenSegment[]): Float32Array[] {
  let at = 0
  return segments.map(({ mask }) => {
    at += mask.length
    return Float32Array.from(row.subarray(at - mask.length, at))
  })
}

/** Mask and rewards of one episode: the total at its last drawn token, minus the KL penalty of each. */
function rewardRow(
  total: number,
  segments: readonly TokenSegment[],
  references: readonly Float32Array[] | undefined,
  rewardKl: KlPenalty | undefined,
) {
  const mask = Uint8Array.from(concatenate(segments.map((segment) => segment.mask)))
  const rewards = terminalReward(mask, total)
  if (!rewardKl || !references) return { mask, rewards }
  const logprobs = concatenate(segments.map((segment) => segment.oldLogprobs ?? segment.logprobs))
  const row = { mask, rewards, logprobs, refLogprobs: concatenate(references) }
  return { mask, rewards: klPenalisedRewards(row, rewardKl) }
}

/**
 * Builds one example of every episode that has a total and a drawn token, with the current critic and reference
 * policy. Advantages are whitened over all drawn tokens.
 * @throws what `assertCriticOptions` throws
 */
export async function criticBatch(
  options: CriticOptions,
  members: readonly Pick<GroupMember, 'episode' | 'score'>[],
): Promise<CriticExample[]> {
  assertCriticOptions(options)
  const { backend, loss, rewardKl, gamma = 1, lambda = 0.95 } = options
  const scored = members.flatMap(({ episode, score: { total } }) => {
    const { segments } = episodeSegments(episode, 0, episode.id)
    const empty = segments.every((segment) => countDrawnTokens(segment) === 0)
    return total === null || empty ? [] : [{ total, segments }]
  })
  const drawn = scored.flatMap(({ segments }) => segments)
  if (drawn.length === 0) return []
  const all = await attachLogprobs(backend, loss, drawn)
  const values = (await backend.values?.(all)) ?? []
  const references = rewardKl && (await backend.logprobs?.(all, { reference: true }))
  let to = 0
  const rows = scored.map(({ total, segments: { length } }) => {
    const from = to
    to += length
    const [segments, oldValues] = [all.slice(from, to), values.slice(from, to)]
    const row = rewardRow(total, segments, references?.slice(from, to), rewardKl)
    return { ...row, segments, oldValues, values: concatenate(oldValues) }
  })
  const estimates = gae(rows, { gamma, lambda })
  return rows.map(({ segments, oldValues }, i): CriticExample => {
    const advantages = splitBySegment(estimates[i]!.advantages, segments)
    const trained = segments.map((segment, s) => ({ ...segment, advantages: advantages[s]! }))
    const returns = splitBySegment(estimates[i]!.returns, segments)
    return { segments: trained, returns, oldValues }
  })
}
