/** Turn-level credit assignment: rewards, returns and advantages per turn, and their spread over tokens. */
import type { AdvantageEstimator } from '../../group.js'
import { assertFactor } from './token-rewards.js'

/**
 * Turn index of each drawn token of an episode's segments, -1 where masked.
 * @param drawn number of tokens drawn in each turn, in order; 0 for a move that was not sampled
 * @throws RangeError when the masks hold another number of drawn tokens
 */
export function tokenTurns(masks: readonly Uint8Array[], drawn: readonly number[]): Int32Array[] {
  const order = drawn.flatMap((tokens, turn) => new Array<number>(tokens).fill(turn))
  let next = 0
  const turns = masks.map((mask) =>
    Int32Array.from(mask, (one) => (one ? (order[next++] ?? -1) : -1)),
  )
  if (next !== order.length)
    throw new RangeError(
      `Expected the masks to hold the ${order.length} tokens of the turns, got ${next}`,
    )
  return turns
}

/**
 * Token rewards from one reward per turn, put at the last token drawn in the turn.
 * @param turns turn index of each token, as `tokenTurns` gives it
 * @throws RangeError for a nonzero reward of a turn without a token, which would be lost
 */
export function turnRewards(
  turns: readonly Int32Array[],
  rewards: readonly number[],
): Float64Array[] {
  const out = turns.map((row) => new Float64Array(row.length))
  rewards.forEach((reward, turn) => {
    const row = turns.findLastIndex((one) => one.includes(turn))
    if (row >= 0) out[row]![turns[row]!.lastIndexOf(turn)] = reward
    else if (reward !== 0)
      throw new RangeError(
        `Expected turn ${turn} to have tokens for its reward ${reward}, got none`,
      )
  })
  return out
}

/** Gives each drawn token the value of its turn; 0 where masked and for a turn beyond `values`. */
export const spreadTurns = (
  turns: readonly Int32Array[],
  values: readonly number[],
): Float64Array[] =>
  turns.map((row) => Float64Array.from(row, (turn) => (turn < 0 ? 0 : (values[turn] ?? 0))))

/** Return from each turn on, discounted by `gamma` per turn, not per token. */
export function turnReturns(
  rewards: readonly number[],
  { gamma = 1 }: { readonly gamma?: number } = {},
): number[] {
  assertFactor('gamma', gamma)
  let tail = 0
  return rewards
    .map((_, i) => {
      tail = rewards[rewards.length - 1 - i]! + gamma * tail
      return tail
    })
    .reverse()
}

/**
 * Group-relative advantages per turn, from rewards and to advantages indexed `[member][turn]`.
 *
 * `returns` compares the discounted returns of the siblings' k-th turns with one another, in the manner of GTPO
 * (Ding et al. 2025); a turn that only one sibling reached gets 0. `rewards` compares all turns' rewards of the group
 * at once and sums the normalised rewards from each turn on: GRPO with process supervision (Shao et al. 2024, section
 * 4.1.3).
 */
export function turnAdvantages(
  members: readonly (readonly number[])[],
  estimate: AdvantageEstimator,
  {
    compare = 'returns',
    gamma = 1,
  }: {
    /** Quantity compared between siblings. @default 'returns' */
    readonly compare?: 'returns' | 'rewards'
    /** Discount per turn. @default 1 */
    readonly gamma?: number
  } = {},
): number[][] {
  if (compare === 'rewards') {
    const estimated = estimate(members.flat())
    let next = 0
    return members.map((rewards) =>
      turnReturns(
        rewards.map(() => estimated[next++] ?? 0),
        { gamma },
      ),
    )
  }
  const out = members.map((rewards) => turnReturns(rewards, { gamma }))
  const longest = Math.max(0, ...members.map(({ length }) => length))
  for (let turn = 0; turn < longest; turn++) {
    const reached = out.filter(({ length }) => length > turn)
    const estimated = estimate(reached.map((returns) => returns[turn]!))
    reached.forEach((returns, n) => {
      returns[turn] = estimated[n] ?? 0
    })
  }
  return out
}
