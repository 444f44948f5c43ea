/** Advantages of rollouts that were played elsewhere: a trainer says what each was paid, and is told what each learns. */
import {
  estimateGroup,
  estimateTogether,
  type GroupEstimate,
  type GroupPolicy,
  type ScoredGroup,
} from '../../group.js'
import { type AdvantageMethod, baselineOf, groupEstimator } from './method.js'

/** What a rollout was paid. */
export interface PaidRollout {
  /** null: the score is not known, and the rollout is left out. */
  readonly total: number | null
  /** Values of the reward's parts; a part that does not apply is absent. */
  readonly parts?: Readonly<Record<string, number>>
  /** Tokens that the policy drew. @default 1 for all */
  readonly tokens?: number
  readonly truncated?: boolean
}

/** What the rollouts of a group learn. */
export interface SampleAdvantages extends Pick<GroupEstimate, 'status' | 'standings'> {
  /** One a rollout; null for one that is left out. */
  readonly advantages: readonly (number | null)[]
}

/** What of a group enters the statistics. */
function scoredOf(rollouts: readonly PaidRollout[], { standings }: GroupEstimate): ScoredGroup {
  const counting = rollouts.flatMap((one, i) =>
    one.total === null || standings[i] === 'out' ? [] : [{ ...one, total: one.total }],
  )
  const weighed = counting.some(({ tokens = 0 }) => tokens > 0)
  return {
    totals: counting.map(({ total }) => total),
    parts: counting.map(({ parts = {} }) => parts),
    ...(weighed ? { tokens: counting.map(({ tokens = 1 }) => tokens) } : {}),
  }
}

/**
 * Estimates the advantages of groups of any size, each of one case and one seed.
 * @throws RangeError for a total that is not finite; TypeError for a method that plays rollouts of its own
 */
export function sampleAdvantages(
  groups: readonly (readonly PaidRollout[])[],
  method: AdvantageMethod,
  policy: Omit<GroupPolicy, 'role' | 'baseline'> = {},
): readonly SampleAdvantages[] {
  if (method.per === 'greedy')
    throw new TypeError('Expected advantages from the rollouts alone, got a method that plays more')
  const how = { ...policy, baseline: baselineOf(method) }
  const estimated = groups.map((rollouts, g) => {
    const members = rollouts.map(({ total, truncated = false }, i) => ({
      id: `groups[${g}][${i}]`,
      ...{ total, truncated },
    }))
    const group = estimateGroup(`groups[${g}]`, members, groupEstimator(method), how)
    return { ...group, rollouts }
  })
  const together =
    method.per === 'batch'
      ? estimateTogether(estimated, method.estimate, (one) => scoredOf(one.rollouts, one))
      : estimated
  return together.map(({ status, standings, advantages }) => ({
    ...{ status, standings },
    advantages: advantages.map((value, i) => (standings[i] === 'out' ? null : value)),
  }))
}
