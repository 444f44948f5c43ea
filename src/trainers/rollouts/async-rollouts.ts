/**
 * Groups played ahead of the steps that take them, so that a slow consultation never holds up a step. What comes out
 * depends on how long things take: a run with a flow is not the same twice.
 */
import pLimit from 'p-limit'
import type { Agent } from '../../agent.js'
import { Fault } from '../../error.js'
import type { GroupMember, PlayOptions, RolloutJob } from './group-rollouts.js'
import { jobsOf, playMember } from './group-rollouts.js'

export interface RolloutQueueOptions {
  readonly play: PlayOptions
  /** The newest policy, asked for as each consultation begins. */
  readonly sampler: () => Agent
  readonly name: string
  /** The version of the newest policy. */
  readonly version: () => number
  readonly firstStep: number
  readonly groupsPerStep: number
  readonly groupSize: number
  readonly concurrency: number
  /** How many versions old a group's oldest token may be when a step takes it; older ones are dropped. */
  readonly maxStaleness: number
  /** Versions that a step makes: what is played further ahead than they allow would be too old when it is taken. */
  readonly versionsPerStep: number
}

/** The members of one group, as they came back. */
export interface PlayedGroup {
  readonly step: number
  readonly place: number
  readonly members: readonly GroupMember[]
  readonly faults: readonly Fault[]
}

/** What a step takes from a flow. */
export interface TakenGroups {
  /** As many as were asked for, in the order they were begun. */
  readonly groups: readonly PlayedGroup[]
  /** Members of groups that were too old. */
  readonly stale: number
  /** Groups that were too old, and groups that lost every member. */
  readonly staleGroups: number
  readonly lost: readonly PlayedGroup[]
}

export interface RolloutQueue {
  /** Waits for `count` groups that are fresh enough; those under way go on. */
  take(count: number): Promise<TakenGroups>
  /** Stops what is under way. */
  close(): Promise<void>
}

const oldest = ({ members }: PlayedGroup): number =>
  members.reduce(
    (least, { episode }) =>
      episode.turns.reduce(
        (low, { sample }) => (sample ? Math.min(low, sample.policyVersion) : low),
        least,
      ),
    Number.POSITIVE_INFINITY,
  )

/** Plays on as groups are taken, as many steps ahead as the bound on staleness allows. */
// Long because what is ready, what is running and who waits are one state, which every function in it changes.
export function openRolloutQueue(options: RolloutQueueOptions): RolloutQueue {
  const { groupsPerStep, groupSize, maxStaleness, versionsPerStep, version, sampler, name } =
    options
  const stop = new AbortController()
  const signal = options.play.signal
    ? AbortSignal.any([options.play.signal, stop.signal])
    : stop.signal
  const play = { ...options.play, signal }
  const limit = pLimit(options.concurrency)
  const most = groupsPerStep * (1 + Math.floor(maxStaleness / versionsPerStep))
  const ready: PlayedGroup[] = []
  const running = new Set<Promise<void>>()
  let next = (options.firstStep - 1) * groupsPerStep
  let failure: unknown
  let wake: () => void = () => undefined

  const member = (job: RolloutJob): Promise<GroupMember | Fault> =>
    limit(() => playMember(play, { agent: sampler(), name }, job))

  const playGroup = async (n: number): Promise<void> => {
    const step = Math.floor(n / groupsPerStep) + 1
    const place = n % groupsPerStep
    const jobs = jobsOf(play, { step, places: [place], groupsPerStep, groupSize })
    const played = await Promise.all(jobs.map(member))
    ready.push({
      step,
      place,
      members: played.flatMap((one) => (Fault.is(one) ? [] : [one])),
      faults: played.filter((one) => Fault.is(one)),
    })
  }

  const launch = (): void => {
    while (running.size + ready.length < most && failure === undefined) {
      const group: Promise<void> = playGroup(next++)
        .catch((error) => {
          failure ??= error
        })
        .finally(() => {
          running.delete(group)
          wake()
        })
      running.add(group)
    }
  }

  return {
    async take(count) {
      const groups: PlayedGroup[] = []
      const lost: PlayedGroup[] = []
      let [stale, staleGroups] = [0, 0]
      while (groups.length < count) {
        launch()
        if (failure !== undefined) throw failure
        const group = ready.shift()
        if (!group) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        } else if (group.members.length === 0) {
          lost.push(group)
          // A world that is down stays down: going on would make a run of nothing.
          if (lost.length >= groupsPerStep) throw group.faults[0]
        } else if (version() - oldest(group) > maxStaleness) {
          stale += group.members.length
          staleGroups++
        } else groups.push(group)
      }
      launch()
      groups.sort((a, b) => a.step - b.step || a.place - b.place)
      return { groups, stale, staleGroups, lost }
    },
    async close() {
      failure ??= new DOMException('The flow was closed', 'AbortError')
      stop.abort(failure)
      await Promise.all(running)
    },
  }
}
