/** What consultations teach a policy with a critic: rewards by token, advantages, and what to expect. */
import type { Backend } from '../../backend.js'
import type { KlPenalty, Loss, TokenSegment } from '../../batch.js'
import { drawnTokens } from '../../batch.js'
import { gae } from '../advantages/gae.js'
import { assertFactor, klPenalised, terminalReward } from '../advantages/token-rewards.js'
import type { Member } from '../rollouts/group-rollouts.js'
import { completed } from './group-batch.js'
import { episodeSegments } from './segments.js'

/** By whom and how episodes are judged. */
export interface JudgeOptions {
  /** One that has a critic. */
  readonly backend: Backend
  readonly loss: Loss
  /**
   * Taken off the reward of every drawn token (HuatuoGPT-o1: k1 with 0.03). In a reward only k1 has the gradient of
   * the KL divergence: k2 and k3 are costs of every token that are never negative, and can drive a policy away into
   * short episodes. @default none
   */
  readonly rewardKl?: KlPenalty
  /** Discount per drawn token. @default 1 */
  readonly gamma?: number
  /** 0 trusts the critic, 1 the rewards alone. @default 0.95 */
  readonly lambda?: number
}

/** What an episode teaches: its segments with advantages and, for the critic, what to expect at each token. */
export interface CriticExample {
  readonly segments: readonly TokenSegment[]
  readonly returns: readonly Float32Array[]
  readonly oldValues: readonly Float32Array[]
}

/**
 * Refuses what no episode could be judged by.
 * @throws TypeError for a backend without a critic, or without `logprobs` where they are needed; RangeError for
 *   `gamma` or `lambda` outside [0, 1]
 */
export function assertJudge({ backend, loss, rewardKl, gamma = 1, lambda = 1 }: JudgeOptions) {
  if (!backend.capabilities.critic || !backend.values)
    throw new TypeError(`Expected a backend with a critic, got ${backend.name} without one`)
  if ((rewardKl || loss.kl || loss.correction) && !backend.logprobs)
    throw new TypeError(
      `Expected a backend with \`logprobs\` for a KL penalty or a correction, got ${backend.name}`,
    )
  assertFactor('gamma', gamma)
  assertFactor('lambda', lambda)
}

/** An episode's segments as one row: between two of them nothing was drawn, and no time passed. */
const joined = (parts: readonly ArrayLike<number>[]): Float64Array =>
  Float64Array.from(parts.flatMap((part) => Array.from(part)))

/** The row, cut to the segments again. */
function cut(row: Float64Array, segments: readonly TokenSegment[]): Float32Array[] {
  let at = 0
  return segments.map(({ mask }) => {
    at += mask.length
    return Float32Array.from(row.subarray(at - mask.length, at))
  })
}

/** The drawn tokens of one episode with their rewards: the total at the last of them, less the penalty of each. */
function rewarded(
  total: number,
  segments: readonly TokenSegment[],
  references: readonly Float32Array[] | undefined,
  rewardKl: KlPenalty | undefined,
) {
  const mask = Uint8Array.from(joined(segments.map((segment) => segment.mask)))
  const rewards = terminalReward(mask, total)
  if (!rewardKl || !references) return { mask, rewards }
  const logprobs = joined(segments.map((segment) => segment.oldLogprobs ?? segment.logprobs))
  const row = { mask, rewards, logprobs, refLogprobs: joined(references) }
  return { mask, rewards: klPenalised(row, rewardKl) }
}

/**
 * Judges every episode that has a total and a drawn token, by the critic and the reference of this moment;
 * advantages are whitened over all their drawn tokens.
 * @throws what `assertJudge` throws
 */
export async function criticBatch(
  options: JudgeOptions,
  members: readonly Pick<Member, 'episode' | 'score'>[],
): Promise<CriticExample[]> {
  assertJudge(options)
  const { backend, loss, rewardKl, gamma = 1, lambda = 0.95 } = options
  const scored = members.flatMap(({ episode, score: { total } }) => {
    const { segments } = episodeSegments(episode, 0, episode.id)
    const empty = segments.every((segment) => drawnTokens(segment) === 0)
    return total === null || empty ? [] : [{ total, segments }]
  })
  const drawn = scored.flatMap(({ segments }) => segments)
  if (drawn.length === 0) return []
  const all = await completed(backend, loss, drawn)
  const values = (await backend.values?.(all)) ?? []
  const references = rewardKl && (await backend.logprobs?.(all, { reference: true }))
  let to = 0
  const rows = scored.map(({ total, segments: { length } }) => {
    const from = to
    to += length
    const [segments, oldValues] = [all.slice(from, to), values.slice(from, to)]
    const row = rewarded(total, segments, references?.slice(from, to), rewardKl)
    return { ...row, segments, oldValues, values: joined(oldValues) }
  })
  const judged = gae(rows, { gamma, lambda })
  return rows.map(({ segments, oldValues }, i): CriticExample => {
    const advantages = cut(judged[i]!.advantages, segments)
    const taught = segments.map((segment, s) => ({ ...segment, advantages: advantages[s]! }))
    return { segments: taught, returns: cut(judged[i]!.returns, segments), oldValues }
  })
}
