/** Dynamic sampling: which groups of a step teach nothing, and how many more are worth drawing. */
import type { Group } from '../../group.js'

export interface Resampling {
  /** The first `wanted` groups that teach, in the order drawn. */
  readonly kept: readonly Group[]
  /** Groups that teach nothing, each with its reason in `status`. */
  readonly idle: readonly Group[]
  /** Groups that teach beyond those wanted. */
  readonly surplus: readonly Group[]
  /** How many groups to draw next; 0 when there are enough, or the bound is reached. */
  readonly draw: number
  /** Whether the bound was reached with too few groups that teach. */
  readonly exhausted: boolean
}

/**
 * DAPO's dynamic sampling (Yu et al. 2025, arXiv:2503.14476): a step goes on drawing groups until `wanted` of them
 * teach something, `most` were drawn, or both.
 * @param groups all groups drawn for the step so far
 */
export function shouldResample(
  groups: readonly Group[],
  {
    wanted,
    most = 10 * wanted,
    drawn = groups.length,
  }: {
    readonly wanted: number
    /** The most groups a step may draw; DAPO's recipes in verl allow ten batches. @default 10 * wanted */
    readonly most?: number
    /** How many were drawn, with those that faults left without a member. @default groups.length */
    readonly drawn?: number
  },
): Resampling {
  for (const [name, value, least] of [
    ['wanted', wanted, 1],
    ['most', most, wanted],
    ['drawn', drawn, groups.length],
  ] as const)
    if (!Number.isSafeInteger(value) || value < least)
      throw new RangeError(
        `Expected \`${name}\` to be an integer of at least ${least}, got \`${value}\``,
      )
  const teaching = groups.filter(({ status }) => status === 'learns')
  const missing = Math.max(0, wanted - teaching.length)
  const draw = Math.min(missing, Math.max(0, most - drawn))
  return {
    kept: teaching.slice(0, wanted),
    idle: groups.filter(({ status }) => status !== 'learns'),
    surplus: teaching.slice(wanted),
    draw,
    exhausted: missing > 0 && draw === 0,
  }
}
