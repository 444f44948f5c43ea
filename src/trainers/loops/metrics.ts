/** What a step of training tells of what was played for it. */

import type { Group } from '../../group.js'
import type { StepMetrics } from '../events.js'
import type { GroupMember } from '../rollouts/group-rollouts.js'

/** What was played for one step. */
export interface Played {
  readonly members: readonly GroupMember[]
  readonly groups: readonly Group[]
  /** Groups that were drawn, and those of them that lost every member. */
  readonly drawn: number
  readonly lost: number
  /** Members that faults took. */
  readonly faults: number
  /** Members, and groups, that were too old. */
  readonly stale: number
  readonly staleGroups: number
}

/** null of nothing. */
export const mean = (values: readonly number[]): number | null =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null

/** What a step's metrics say of what was played. */
export function metricsOf(
  { members, groups, drawn, ...counts }: Played,
  forks: number,
): Pick<StepMetrics, 'reward' | 'accuracy' | 'turns' | 'groups' | 'samples'> {
  const totals = members.flatMap(({ score }) => score.total ?? [])
  const count = (status: Group['status']): number =>
    groups.filter((group) => group.status === status).length
  const [singleton, tooFewScored] = [count('singleton'), count('too-few-scored')]
  const { lost, faults, stale, staleGroups } = counts
  return {
    reward: mean(totals),
    accuracy: mean(members.flatMap(({ right }) => right ?? [])),
    turns: mean(members.map(({ episode }) => episode.turns.length)),
    groups: {
      drawn,
      formed: groups.length,
      zeroVariance: count('zero-variance'),
      dropped: lost + staleGroups + singleton + tooFewScored,
      reasons: { lost, stale: staleGroups, singleton, tooFewScored },
    },
    samples: {
      used: groups.reduce(
        (sum, { status, standings }) =>
          status === 'learns' ? sum + standings.filter((one) => one === 'learns').length : sum,
        0,
      ),
      unavailable: faults + members.length - totals.length,
      stale,
      forks,
    },
  }
}

/** Of a step that forms no groups. */
export const noGroups: StepMetrics['groups'] = {
  drawn: 0,
  formed: 0,
  zeroVariance: 0,
  dropped: 0,
  reasons: { lost: 0, stale: 0, singleton: 0, tooFewScored: 0 },
}
