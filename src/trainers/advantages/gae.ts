/** Per-token advantage estimators: GAE, which uses a value model, and REINFORCE++, which does not. */
import { assertFactor, assertRow, discountedReturns, type TokenRow } from './token-rewards.js'
import { type TokenNumbers, whitenTokens } from './whiten.js'

/** Advantages and returns of one segment, along its mask; 0 where masked. */
export interface TokenAdvantages {
  readonly advantages: Float64Array
  /** Regression targets of the value model; never whitened. */
  readonly returns: Float64Array
}

/** A row with the value model's predictions; those at masked tokens are ignored. */
export interface ValueRow extends TokenRow {
  readonly values: TokenNumbers
}

function gaeRow(row: ValueRow, gamma: number, lambda: number): TokenAdvantages {
  assertRow(row, { values: row.values })
  const { rewards, mask, values, after = 0 } = row
  const advantages = new Float64Array(mask.length)
  const returns = new Float64Array(mask.length)
  let nextValue = after
  let advantage = 0
  for (let t = mask.length - 1; t >= 0; t--) {
    if (!mask[t]) continue
    advantage = rewards[t]! + gamma * nextValue - values[t]! + gamma * lambda * advantage
    advantages[t] = advantage
    returns[t] = advantage + values[t]!
    nextValue = values[t]!
  }
  return { advantages, returns }
}

/** Whitens advantages over the drawn tokens of all rows and leaves the returns as they are. */
function whitenAdvantages(
  rows: readonly TokenRow[],
  raw: readonly TokenAdvantages[],
): TokenAdvantages[] {
  const white = whitenTokens(
    raw.map(({ advantages }, i) => ({ values: advantages, mask: rows[i]!.mask })),
  )
  return raw.map(({ returns }, i) => ({ advantages: white[i]!, returns }))
}

/**
 * Generalised advantage estimation (Schulman et al. 2015, arXiv:1506.02438) over the drawn tokens of each segment.
 * Masked tokens in between are skipped, without a discount. The defaults are those of HuatuoGPT-o1's PPO; verl's
 * lambda is 1.
 * @throws RangeError as `assertRow` does, and for `gamma` or `lambda` outside [0, 1]
 */
export function gae(
  rows: readonly ValueRow[],
  {
    gamma = 1,
    lambda = 0.95,
    whiten = true,
  }: {
    /** Discount per drawn token. @default 1 */
    readonly gamma?: number
    /** GAE lambda: 0 relies on the value model, 1 on the rewards alone. @default 0.95 */
    readonly lambda?: number
    /** Whether advantages are whitened over the drawn tokens of all rows, as verl and TRL do. @default true */
    readonly whiten?: boolean
  } = {},
): readonly TokenAdvantages[] {
  assertFactor('gamma', gamma)
  assertFactor('lambda', lambda)
  const raw = rows.map((row) => gaeRow(row, gamma, lambda))
  return whiten ? whitenAdvantages(rows, raw) : raw
}

/**
 * REINFORCE++ (Hu et al. 2025, arXiv:2501.03262): returns per drawn token, whitened over all drawn tokens of the batch
 * with 1e-8 added to the variance, as verl does. Its KL penalty belongs in the rewards: see `klPenalisedRewards`.
 */
export function reinforcePlusPlus(
  rows: readonly TokenRow[],
  { gamma = 1 }: { readonly gamma?: number } = {},
): readonly TokenAdvantages[] {
  const raw = rows.map((row) => {
    const returns = discountedReturns(row, { gamma })
    return { advantages: returns, returns }
  })
  return whitenAdvantages(rows, raw)
}
