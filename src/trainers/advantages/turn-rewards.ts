/** Credit turn by turn: rewards and advantages of the moves of a consultation, and the tokens they were drawn as. */
import type { AdvantageEstimator } from '../../group.js'
import { assertFactor } from './token-rewards.js'

/**
 * The turn that each token of an episode's segments was drawn in, -1 where masked.
 * @param drawn how many tokens each turn drew, in order; 0 for a move that was not drawn
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
 * One reward per turn, put at the last token drawn in it.
 * @throws RangeError for a reward of a turn without a token, which would be lost
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

/** One number per turn, given to every token drawn in it; 0 where masked and for a turn beyond `values`. */
export const spreadTurns = (
  turns: readonly Int32Array[],
  values: readonly number[],
): Float64Array[] =>
  turns.map((row) => Float64Array.from(row, (turn) => (turn < 0 ? 0 : (values[turn] ?? 0))))

/** Reward from each turn on, discounted by `gamma` per turn, whatever the turns' lengths in tokens. */
export function turnReturns(
  rewards: readonly number[],
  { gamma = 1 }: { readonly gamma?: number } = {},
): number[] {
  assertFactor('gamma', gamma)
  let following = 0
  return rewards
    .map((_, i) => {
      following = rewards[rewards.length - 1 - i]! + gamma * following
      return following
    })
    .reverse()
}

/**
 * Group-relative advantages of turns: rewards by member and turn in, advantages by member and turn out.
 *
 * `returns` compares the discounted returns of the siblings' k-th turns with one another, in the manner of GTPO
 * (Ding et al. 2025); a turn that only one sibling reached gets 0. `rewards` compares all turns' rewards of the group
 * at once and sums what is left from each turn on: GRPO with process supervision (Shao et al. 2024, section 4.1.3).
 */
export function turnAdvantages(
  members: readonly (readonly number[])[],
  estimate: AdvantageEstimator,
  {
    compare = 'returns',
    gamma = 1,
  }: {
    /** @default 'returns' */
    readonly compare?: 'returns' | 'rewards'
    /** @default 1 */
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
    const there = out.filter(({ length }) => length > turn)
    const estimated = estimate(there.map((returns) => returns[turn]!))
    there.forEach((returns, n) => {
      returns[turn] = estimated[n] ?? 0
    })
  }
  return out
}
