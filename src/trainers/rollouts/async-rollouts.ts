/**
 * Asynchronous rollouts: a queue of groups played ahead of the steps that take them, so a slow consultation does not
 * hold up a step. Results depend on timing: a run with a queue is not reproducible.
 */
import type { LimitFunction } from 'p-limit'
import pLimit from 'p-limit'
import type { Agent } from '../../agent.js'
import { drawVersions } from '../../episode.js'
import { Fault } from '../../error.js'
import type { GroupMember, PlayOptions } from './group-rollouts.js'
import { noRolloutFault, playMember, rolloutJobs } from './group-rollouts.js'

/** Options of {@link openRolloutQueue}. */
export interface RolloutQueueOptions {
  readonly play: PlayOptions
  /** The newest policy; called as each consultation begins. */
  readonly sampler: () => Agent
  readonly name: string
  /** Version of the newest policy. */
  readonly version: () => number
  readonly firstStep: number
  /** Groups begun before, which are not played again. @default those of the steps before `firstStep` */
  readonly begun?: number | undefined
  readonly groupsPerStep: number
  readonly groupSize: number
  readonly concurrency: number
  /** Maximum age of a group's oldest token when a step takes it, in versions; older groups are dropped. */
  readonly maxStaleness: number
  /** Versions per step; bounds how far ahead groups can be played without being too old when taken. */
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

/** Plays the members of the n-th group of the run, each when `limit` lets it. */
async function playGroup(
  options: RolloutQueueOptions,
  limit: LimitFunction,
  n: number,
): Promise<PlayedGroup> {
  const { play, sampler, name, groupsPerStep } = options
  const step = Math.floor(n / groupsPerStep) + 1
  const place = n % groupsPerStep
  const jobs = rolloutJobs(play, { step, places: [place] }, options)
  const played = await Promise.all(
    jobs.map((job) => limit(() => playMember(play, { agent: sampler(), name }, job))),
  )
  return {
    step,
    place,
    members: played.flatMap((one) => (Fault.is(one) ? [] : [one])),
    faults: played.filter((one) => Fault.is(one)),
  }
}

/** Keeps up to `most` groups of the run playing or ready, in order from `firstStep` on. */
function playAhead(options: RolloutQueueOptions, most: number) {
  const limit = pLimit(options.concurrency)
  const ready: PlayedGroup[] = []
  const running = new Set<Promise<unknown>>()
  let next = options.begun ?? (options.firstStep - 1) * options.groupsPerStep
  let failure: unknown
  let wake: () => void = () => undefined

  /** Launches no more groups; returns the first failure. */
  const fail = (error: unknown): unknown => (failure ??= error)
  const launch = (): void => {
    while (running.size + ready.length < most && failure === undefined) {
      const group: Promise<unknown> = playGroup(options, limit, next++)
        .then((played) => ready.push(played), fail)
        .finally(() => {
          running.delete(group)
          wake()
        })
      running.add(group)
    }
  }

  return {
    ...{ launch, fail, begun: () => next },
    /** Waits for the next group that is ready. */
    async shift(): Promise<PlayedGroup> {
      for (;;) {
        launch()
        if (failure !== undefined) throw failure
        const group = ready.shift()
        if (group) return group
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    settled: () => Promise.all(running),
  }
}

const byPlace = (a: PlayedGroup, b: PlayedGroup): number => a.step - b.step || a.place - b.place

/** A world that is down stays down: the run could learn nothing. */
const lostFault = (lost: readonly PlayedGroup[]): Fault => {
  const faults = lost.flatMap((group) => group.faults)
  // Groups are lost to faults.
  return noRolloutFault(`${lost.length} groups: none of their ${faults.length}`, faults[0] as Fault)
}

/** Opens a queue of groups that plays as many steps ahead as the bound on staleness allows. */
export function openRolloutQueue(options: RolloutQueueOptions) {
  const { play, groupsPerStep, maxStaleness, versionsPerStep, version } = options
  const stop = new AbortController()
  const signal = play.signal ? AbortSignal.any([play.signal, stop.signal]) : stop.signal
  const most = groupsPerStep * (1 + Math.floor(maxStaleness / versionsPerStep))
  const ahead = playAhead({ ...options, play: { ...play, signal } }, most)
  return {
    /**
     * Waits for `count` groups that are fresh enough and gives them in the order they were begun, with the numbers of
     * groups and members that were too old, and the groups that lost every member to faults.
     * @throws the error of a failed rollout, or once closed
     */
    async take(count: number) {
      const groups: PlayedGroup[] = []
      const lost: PlayedGroup[] = []
      let [stale, staleGroups] = [0, 0]
      while (groups.length < count) {
        const group = await ahead.shift()
        if (group.members.length === 0) {
          lost.push(group)
          if (lost.length >= groupsPerStep) throw lostFault(lost)
        } else if (version() - oldestVersion(group) > maxStaleness) {
          stale += group.members.length
          staleGroups++
        } else groups.push(group)
      }
      const begun = ahead.begun()
      ahead.launch()
      return { groups: groups.sort(byPlace), stale, staleGroups, lost, begun }
    },
    /** Aborts the running rollouts and waits for them to end. */
    async close(): Promise<void> {
      stop.abort(ahead.fail(new DOMException('The rollout queue was closed', 'AbortError')))
      await ahead.settled()
    },
  }
}

/** Queue of groups played ahead. */
export type RolloutQueue = ReturnType<typeof openRolloutQueue>
