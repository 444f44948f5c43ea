/** Groups: episodes of one case and one seed, with their scores and advantages. */
import { type Episode, findDraw, type Role } from './episode.js'
import type { Score } from './reward.js'

/**
 * Role of a member in its group: `learns` enters the statistics and gets an advantage; `counts` enters the statistics
 * only; `out` does neither. Without an advantage it is 0, and the tokens of an `out` member stay out of the batch.
 */
export type Standing = 'learns' | 'counts' | 'out'

/** Sibling episodes of one case and seed, with their scores and advantages. */
export interface Group {
  readonly id: string
  readonly caseId: string
  readonly seed: number
  /** Whose draws learn from the advantages. Episodes with two policies form a group for each. */
  readonly role: Role
  readonly episodes: readonly Episode[]
  readonly scores: readonly Score[]
  /** One number per episode; 0 for an episode that does not learn. */
  readonly advantages: readonly number[]
  /** One per episode. Whether the group as a whole learns is `status`. */
  readonly standings: readonly Standing[]
  /** `learns`, or the reason why the group has no learning signal. */
  readonly status: 'learns' | 'singleton' | 'zero-variance' | 'too-few-scored'
}

/**
 * Advantage estimator of one group: maps the totals of its scored members to one advantage each. If the baseline is the
 * group's own, a singleton or constant group gives zeros.
 */
export type AdvantageEstimator = (totals: readonly number[]) => readonly number[]

/** Names of the advantage estimators, as in recipes. */
export const advantageNames = [
  'dr-grpo',
  'grpo',
  'rloo',
  'max-rl',
  'reinforce-plus-plus',
  'reinforce-plus-plus-baseline',
  'lite-ppo',
  'gdpo',
  'opo',
  'pass-k',
  'remax',
] as const
/** Name of an advantage estimator. */
export type AdvantageName = (typeof advantageNames)[number]

/** Input of a {@link BatchEstimator} for one group: lists of one length, an entry per member that is not `out`. */
export interface ScoredGroup {
  readonly totals: readonly number[]
  /** Values of the reward's parts; a part that does not apply to a member is absent. */
  readonly parts?: readonly Readonly<Record<string, number>>[]
  /** Number of drawn tokens of each member, its weight in statistics over tokens. @default 1 each */
  readonly tokens?: readonly number[]
}

/** Advantage estimator over all groups of a step: one list per group, one number per member. */
export type BatchEstimator = (groups: readonly ScoredGroup[]) => readonly (readonly number[])[]

/** Which members count in a group, and which groups learn. */
export interface GroupPolicy {
  /** Whose draws learn. @default 'doctor' */
  readonly role?: Role
  /** Minimum number of members that count, for a group to learn. @default 2, or 1 with a baseline from elsewhere */
  readonly minScored?: number
  /** Totals no further apart than this are equal. @default 0 */
  readonly tolerance?: number
  /**
   * Treatment of truncated members. `keep` treats them as any other (the default of TRL, verl and slime). `zero` keeps
   * their totals in the group's statistics and gives them advantage 0: DAPO's overlong filtering (Yu et al. 2025) and
   * TRL's `mask_truncated_completions`. `drop` leaves them out of the statistics too. @default 'keep'
   */
  readonly truncated?: 'keep' | 'drop' | 'zero'
  /**
   * Source of the baseline. With `elsewhere` (a greedy rollout, a value model, the batch), a group of one and a group
   * of equal totals learn as well. @default 'siblings'
   */
  readonly baseline?: 'siblings' | 'elsewhere'
}

/**
 * Checks that siblings met the same patient: one case, one seed, one intake, one budget.
 * @throws TypeError naming the first member that differs
 */
export function assertSiblings(episodes: readonly Episode[]): void {
  const first = episodes[0]
  if (!first) return
  const key = (e: Episode) =>
    JSON.stringify([e.caseId, e.seed, e.language, e.intake, e.maxTurns, e.budget])
  const expected = key(first)
  for (const episode of episodes) {
    if (key(episode) !== expected)
      throw new TypeError(
        `Expected siblings of one group to share case, seed, intake and budget: ${first.id} has ${expected}, ${episode.id} has ${key(episode)}`,
      )
  }
}

/** Whether an episode was truncated: by its env, or in a reply of `role` by the token limit. */
export const isTruncated = (episode: Episode, role: Role = 'doctor'): boolean =>
  episode.end === 'truncated' ||
  episode.turns.some(({ draws }) =>
    draws?.some((draw) => draw.role === role && draw.stopReason === 'length'),
  )

/** A member of a group, as far as its advantage depends on it. */
export interface PaidMember {
  /** Names it in an error. */
  readonly id: string
  readonly total: number | null
  readonly truncated: boolean
}

function memberStanding(
  { id, total, truncated: cut }: PaidMember,
  { truncated = 'keep' }: GroupPolicy,
): Standing {
  if (total === null) return 'out'
  if (!Number.isFinite(total))
    throw new RangeError(`Expected \`total\` of ${id} to be finite, got \`${total}\``)
  if (truncated === 'keep' || !cut) return 'learns'
  return truncated === 'drop' ? 'out' : 'counts'
}

function groupStatus(
  totals: readonly number[],
  standings: readonly Standing[],
  {
    baseline = 'siblings',
    minScored = baseline === 'siblings' ? 2 : 1,
    tolerance = 0,
  }: GroupPolicy,
): Group['status'] {
  if (!Number.isInteger(minScored) || minScored < 1)
    throw new RangeError(`Expected \`minScored\` to be a positive integer, got \`${minScored}\``)
  if (!(tolerance >= 0))
    throw new RangeError(`Expected \`tolerance\` to be at least 0, got \`${tolerance}\``)
  if (baseline === 'siblings' && totals.length === 1) return 'singleton'
  if (!standings.includes('learns') || totals.length < minScored) return 'too-few-scored'
  if (baseline === 'siblings' && Math.max(...totals) - Math.min(...totals) <= tolerance)
    return 'zero-variance'
  return 'learns'
}

/** Expands the values of the members that are not `out` to one per member; 0 for those that do not learn. */
function placeAdvantages(
  id: string,
  standings: readonly Standing[],
  values: readonly number[],
): number[] {
  const counted = standings.filter((standing) => standing !== 'out').length
  if (values.length !== counted)
    throw new TypeError(
      `Expected the estimator to give ${counted} advantages for group ${id}, got ${values.length}`,
    )
  let n = 0
  return standings.map((standing) => {
    const value = standing === 'out' ? 0 : values[n++]!
    return standing === 'learns' ? value : 0
  })
}

/** What members get in their group. */
export type GroupEstimate = Pick<Group, 'id' | 'advantages' | 'standings' | 'status'>

/**
 * Assigns standings, estimates advantages and sets the group's status, wherever its members were played.
 * @throws RangeError naming a member whose total is not finite
 */
export function estimateGroup(
  id: string,
  members: readonly PaidMember[],
  estimate: AdvantageEstimator,
  policy: GroupPolicy = {},
): GroupEstimate {
  const standings = members.map((member) => memberStanding(member, policy))
  const totals = members.flatMap(({ total }, i) =>
    total === null || standings[i] === 'out' ? [] : [total],
  )
  const status = groupStatus(totals, standings, policy)
  const advantages =
    status === 'learns' ? placeAdvantages(id, standings, estimate(totals)) : members.map(() => 0)
  return { id, advantages, standings, status }
}

/**
 * Forms a group: assigns standings, estimates advantages and sets the group's status.
 * @throws RangeError naming a member whose total is not finite
 */
export function formGroup(
  id: string,
  episodes: readonly Episode[],
  scores: readonly Score[],
  estimate: AdvantageEstimator,
  policy: GroupPolicy = {},
): Group {
  const first = episodes[0]
  if (!first || episodes.length !== scores.length)
    throw new TypeError(
      `Expected as many scores as episodes and at least one, got ${episodes.length} episodes and ${scores.length} scores`,
    )
  assertSiblings(episodes)
  const { role = 'doctor' } = policy
  const members = episodes.map((episode, i) => ({
    id: episode.id,
    total: scores[i]!.total,
    truncated: isTruncated(episode, role),
  }))
  const { caseId, seed } = first
  return { caseId, seed, role, episodes, scores, ...estimateGroup(id, members, estimate, policy) }
}

function scoredGroup({ episodes, scores, standings, role }: Group): ScoredGroup {
  const counting = scores.flatMap((score, i) =>
    score.total === null || standings[i] === 'out'
      ? []
      : [{ total: score.total, parts: score.parts, turns: episodes[i]!.turns }],
  )
  const tokens = counting.map(({ turns }) =>
    turns.reduce((sum, turn) => sum + (findDraw(turn, role)?.tokens.length ?? 0), 0),
  )
  return {
    totals: counting.map(({ total }) => total),
    parts: counting.map(({ parts }) =>
      Object.fromEntries(
        Object.entries(parts).flatMap(([name, part]) =>
          part.status === 'ok' ? [[name, part.value]] : [],
        ),
      ),
    ),
    // Without drawn tokens (scripted agents, for instance) there is no weight.
    ...(tokens.some((drawn) => drawn > 0) ? { tokens } : {}),
  }
}

/**
 * Estimates advantages over all learning groups together; other groups are returned unchanged. Form the groups with
 * `baseline: 'elsewhere'` if the estimator learns from singletons or equal totals too.
 */
export const estimateAcrossGroups = (
  groups: readonly Group[],
  estimate: BatchEstimator,
): readonly Group[] => estimateTogether(groups, estimate, scoredGroup)

/** The same for groups of any kind: `scored` gives the members of one that are not `out`. */
export function estimateTogether<G extends GroupEstimate>(
  groups: readonly G[],
  estimate: BatchEstimator,
  scored: (group: G) => ScoredGroup,
): readonly G[] {
  const learning = groups.filter(({ status }) => status === 'learns')
  if (learning.length === 0) return groups
  const estimated = estimate(learning.map(scored))
  let next = 0
  return groups.map((group) =>
    group.status === 'learns'
      ? {
          ...group,
          advantages: placeAdvantages(group.id, group.standings, estimated[next++] ?? []),
        }
      : group,
  )
}
