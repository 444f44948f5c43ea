/** Dynamic sampling (DAPO): which groups of a step learn, and how many more to draw. */
import type { Group } from '../../group.js'

/** Decision of dynamic sampling over the groups drawn so far. */
export interface ResamplingPlan {
  /** The first `wanted` groups that learn, in the order drawn. */
  readonly kept: readonly Group[]
  /** Groups without a learning signal, each with its reason in `status`. */
  readonly idle: readonly Group[]
  /** Groups that learn, beyond those wanted. */
  readonly surplus: readonly Group[]
  /** Number of groups to draw next; 0 if there are enough, or the bound is reached. */
  readonly draw: number
  /** Whether the bound was reached with too few groups that learn. */
  readonly exhausted: boolean
}

/**
 * Decides how many groups to draw next, by DAPO's dynamic sampling (Yu et al. 2025, arXiv:2503.14476): a step draws
 * groups until `wanted` of them learn, or `most` were drawn.
 * @param groups all groups drawn for the step so far
 */
export function planResampling(
  groups: readonly Group[],
  {
    wanted,
    most = 10 * wanted,
    drawn = groups.length,
  }: {
    readonly wanted: number
    /** Maximum groups per step; DAPO's recipes in verl allow ten batches. @default 10 * wanted */
    readonly most?: number
    /** Number of groups drawn, those that lost every member to faults included. @default groups.length */
    readonly drawn?: number
  },
): ResamplingPlan {
  for (const [name, value, least] of [
    ['wanted', wanted, 1],
    ['most', most, wanted],
    ['drawn', drawn, groups.length],
  ] as const)
    if (!Number.isSafeInteger(value) || value < least)
      throw new RangeError(
        `Expected \`${name}\` to be an integer of at least ${least}, got \`${value}\``,
      )
  const learning = groups.filter(({ status }) => status === 'learns')
  const missing = Math.max(0, wanted - learning.length)
  const draw = Math.min(missing, Math.max(0, most - drawn))
  return {
    kept: learning.slice(0, wanted),
    idle: groups.filter(({ status }) => status !== 'learns'),
    surplus: learning.slice(wanted),
    draw,
    exhausted: missing > 0 && draw === 0,
  }
}
