/**
 * Asynchronous rollouts: groups played ahead of the steps that lease them, so a slow consultation does not hold up a
 * step. Results depend on timing: a run that plays ahead is not reproducible.
 */
import { setMaxListeners } from 'node:events'
import pLimit from 'p-limit'
import type { Agent } from '../../agent.js'
import { drawVersions } from '../../episode.js'
import { Fault } from '../../error.js'
import type { GroupMember, PlayOptions } from './group-rollouts.js'
import { noRolloutFault, playMember, rolloutJobs } from './group-rollouts.js'
import { openRolloutSource, type RolloutSource } from './rollout-source.js'

/** Options of {@link openGroupSource}. */
export interface GroupSourceOptions {
  readonly play: PlayOptions
  /** The newest policy; called as each consultation begins. */
  readonly sampler: () => Agent
  readonly name: string
  readonly firstStep: number
  /** Groups begun before, which are not played again. @default those of the steps before `firstStep` */
  readonly begun?: number | undefined
  readonly groupsPerStep: number
  readonly groupSize: number
  readonly concurrency: number
  /** Maximum age of a group's oldest token when a step leases it, in versions; older groups are dropped. */
  readonly maxStaleness: number
  /** Versions per step; bounds how far ahead groups can be played without being too old when leased. */
  readonly versionsPerStep: number
}

/** Played members of one group, and the faults of the others. */
export interface PlayedGroup {
  readonly step: number
  readonly place: number
  readonly members: readonly GroupMember[]
  readonly faults: readonly Fault[]
}

/** Oldest policy version among a group's tokens; Infinity without tokens. */
const oldestVersion = ({ members }: PlayedGroup): number =>
  Math.min(
    ...members.flatMap(({ episode }) =>
      episode.turns.flatMap((turn) => (turn.draws ?? []).flatMap(drawVersions)),
    ),
  )

/** Opens a source of groups that plays as many steps ahead as the bound on staleness allows. */
export function openGroupSource(options: GroupSourceOptions): RolloutSource<PlayedGroup> {
  const { play, sampler, name, firstStep, begun, groupsPerStep } = options
  const { maxStaleness, versionsPerStep } = options
  const limit = pLimit(options.concurrency)
  /** Plays the members of the n-th group of the run, each when `limit` lets it. */
  const make = async (n: number, stopped: AbortSignal): Promise<PlayedGroup> => {
    const signal = play.signal ? AbortSignal.any([play.signal, stopped]) : stopped
    setMaxListeners(0, signal) // every member may listen
    const [step, place] = [Math.floor(n / groupsPerStep) + 1, n % groupsPerStep]
    const jobs = rolloutJobs(play, { step, places: [place] }, options)
    const played = await Promise.all(
      jobs.map((job) =>
        limit(() => playMember({ ...play, signal }, { agent: sampler(), name }, job)),
      ),
    )
    return {
      step,
      place,
      members: played.flatMap((one) => (Fault.is(one) ? [] : [one])),
      faults: played.filter((one) => Fault.is(one)),
    }
  }
  return openRolloutSource({
    make,
    first: begun ?? (firstStep - 1) * groupsPerStep,
    ahead: groupsPerStep * (1 + Math.floor(maxStaleness / versionsPerStep)),
    oldestVersion,
    maxStaleness,
    isEmpty: ({ members }) => members.length === 0,
    checkEmpty(empty) {
      // A world that is down stays down: the run could learn nothing. Groups are empty for faults.
      const faults = empty.flatMap((group) => group.faults)
      if (empty.length >= groupsPerStep)
        throw noRolloutFault(
          `${empty.length} groups: none of their ${faults.length}`,
          faults[0] as Fault,
        )
    },
  })
}
