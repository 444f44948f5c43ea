/** Token-level credit assignment: per-token rewards, KL penalties and discounted returns. */
import type { KlPenalty } from '../../batch.js'
import type { TokenNumbers } from './whiten.js'

/** Rewards of one segment's tokens, along its mask; only a drawn token can have one. */
export interface TokenRow {
  /** 0 where masked. */
  readonly rewards: TokenNumbers
  /** 1 where the policy drew the token. */
  readonly mask: Uint8Array
  /** Return after the last token: a bootstrapped value, or the return of the episode's next segment. @default 0 */
  readonly after?: number
}

/**
 * Checks one row, and `more` values along the same mask.
 * @throws RangeError naming the field and the token: lengths that differ, a number that is not finite at a drawn
 * token, a reward at a masked one
 */
export function assertRow(
  { rewards, mask, after = 0 }: TokenRow,
  more: Readonly<Record<string, TokenNumbers>> = {},
): void {
  if (!Number.isFinite(after))
    throw new RangeError(`Expected \`after\` to be finite, got \`${after}\``)
  for (const [name, values] of Object.entries({ rewards, ...more })) {
    if (values.length !== mask.length)
      throw new RangeError(
        `Expected \`${name}\` to be as long as the mask (${mask.length}), got ${values.length}`,
      )
    const wrong = values.findIndex((value, t) => mask[t] === 1 && !Number.isFinite(value))
    if (wrong >= 0)
      throw new RangeError(
        `Expected \`${name}\` to be finite where drawn, got \`${values[wrong]}\` at token ${wrong}`,
      )
  }
  const lost = rewards.findIndex((reward, t) => mask[t] === 0 && reward !== 0)
  if (lost >= 0)
    throw new RangeError(
      `Expected \`rewards\` to be 0 where masked, got \`${rewards[lost]}\` at token ${lost}: it would be lost`,
    )
}

/** Checks a discount or trace factor. @throws RangeError for a value outside [0, 1] */
export function assertFactor(name: string, value: number): void {
  if (!(value >= 0 && value <= 1))
    throw new RangeError(`Expected \`${name}\` to be in [0, 1], got \`${value}\``)
}

/**
 * Puts the total of a consultation at its last drawn token.
 * @throws RangeError when no token was drawn
 */
export function terminalReward(mask: Uint8Array, total: number): Float64Array {
  const last = mask.lastIndexOf(1)
  if (last < 0) throw new RangeError('Expected a drawn token to carry the total, got none')
  const out = new Float64Array(mask.length)
  out[last] = total
  return out
}

/** Return from each drawn token on, discounted by `gamma` per drawn token; masked tokens are 0 and not discounted. */
export function discountedReturns(
  row: TokenRow,
  { gamma = 1 }: { readonly gamma?: number } = {},
): Float64Array {
  assertFactor('gamma', gamma)
  assertRow(row)
  const { rewards, mask, after = 0 } = row
  const out = new Float64Array(mask.length)
  let tail = after
  for (let t = mask.length - 1; t >= 0; t--) {
    if (!mask[t]) continue
    tail = rewards[t]! + gamma * tail
    out[t] = tail
  }
  return out
}

/** verl's bounds for k3: |d| is at most `exponent`, the estimate at most `estimate`. */
const k3Bounds = { exponent: 20, estimate: 10 }

function estimateKl(estimator: KlPenalty['estimator'], d: number): number {
  if (estimator === 'k1') return d
  if (estimator === 'k2') return d ** 2 / 2
  const bounded = Math.min(Math.max(d, -k3Bounds.exponent), k3Bounds.exponent)
  return Math.min(Math.exp(-bounded) + bounded - 1, k3Bounds.estimate)
}

/**
 * Rewards minus the KL penalty of each drawn token, with d = log p - log p_ref (Schulman 2020): k1 is d, k2 is d²/2,
 * k3 is exp(-d) + d - 1, with d within ±20 and k3 at most 10 as in verl. InstructGPT's shaping (Ouyang et al. 2022) is
 * k1 (HuatuoGPT-o1: coefficient 0.03).
 */
export function klPenalisedRewards(
  {
    rewards,
    mask,
    logprobs,
    refLogprobs,
  }: TokenRow & { readonly logprobs: TokenNumbers; readonly refLogprobs: TokenNumbers },
  { estimator, coefficient }: KlPenalty,
): Float64Array {
  assertRow({ rewards, mask }, { logprobs, refLogprobs })
  return Float64Array.from(mask, (drawn, t) =>
    drawn ? rewards[t]! - coefficient * estimateKl(estimator, logprobs[t]! - refLogprobs[t]!) : 0,
  )
}
