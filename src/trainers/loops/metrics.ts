/** Step metrics of the rollouts: rewards, accuracy, group and sample counts. */

import type { Group } from '../../group.js'
import type { StepMetrics } from '../events.js'
import type { GroupMember } from '../rollouts/group-rollouts.js'

/** Rollouts of one training step. */
export interface PlayedStep {
  readonly members: readonly GroupMember[]
  readonly groups: readonly Group[]
  /** Number of groups begun, and of those that lost every member to faults. */
  readonly drawn: number
  readonly lost: number
  /** Number of members lost to faults. */
  readonly faults: number
  /** Number of members, and of groups, whose policy version was too old. */
  readonly stale: number
  readonly staleGroups: number
}

/** Mean of a list; null for an empty one. */
export const mean = (values: readonly number[]): number | null =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null

/** Computes a step's metrics from its rollouts. @param forks breaks in append-only token streams */
export function rolloutMetrics(
  { members, groups, drawn, ...counts }: PlayedStep,
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

/** Group metrics of a step without groups. */
export const noGroups: StepMetrics['groups'] = {
  drawn: 0,
  formed: 0,
  zeroVariance: 0,
  dropped: 0,
  reasons: { lost: 0, stale: 0, singleton: 0, tooFewScored: 0 },
}
