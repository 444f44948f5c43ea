/** Group rollouts: plays and scores the members of a group, which share case and seed. */
import type { Agent } from '../../agent.js'
import type { Case } from '../../case.js'
import type { Env } from '../../env.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import { type AdvantageEstimator, formGroup, type Group, type GroupPolicy } from '../../group.js'
import { type Reward, type Score, unavailableReason } from '../../reward.js'
import { play } from '../../rollout.js'
import { groupSeeds } from '../../seed.js'
import type { TrainingEmitter } from '../events.js'

/** World options of training rollouts: cases, env, rewards and seed. */
export interface PlayOptions {
  /**
   * The n-th training case; n counts groups from the start of the run, those of dynamic sampling apart, from
   * {@link firstResampled}.
   */
  readonly caseAt: (n: number, step: number) => Case
  readonly makeEnv: (step: number) => Env
  readonly reward: Reward
  /** Accuracy measure, for the learning curves. */
  readonly accuracy: Reward
  /** @default 0 */
  readonly seed?: number
  /** Begins the ids of episodes and groups: unique across runs and attempts where this is. */
  readonly runId: string
  readonly events: TrainingEmitter
  readonly signal?: AbortSignal | undefined
}

/** A played and scored member of a group. */
export interface GroupMember {
  readonly place: number
  readonly truth: Case
  readonly episode: Episode
  readonly score: Score
  /** Accuracy, 0 to 1; null if unknown. */
  readonly right: number | null
}

/** A member of a group that is to be played. */
export interface RolloutJob {
  readonly step: number
  /** Index of the group within the step. */
  readonly place: number
  readonly member: number
  readonly truth: Case
}

/** Id of the group at a place of a step. */
export const groupIdAt = (runId: string, step: number, place: number): string =>
  `${runId}/${step}/${place}`

/**
 * Plays and scores one member; returns the fault if its world failed. Emits `fault-met` for that, and for a score that
 * the world made unavailable.
 */
export async function playMember(
  { makeEnv, reward, accuracy, seed: runSeed = 0, runId, signal, events }: PlayOptions,
  { agent, name }: { readonly agent: Agent; readonly name: string },
  { step, place, member, truth }: RolloutJob,
): Promise<GroupMember | Fault> {
  const at = `step ${step}, group ${place}, member ${member}`
  const played = await play(truth, {
    ...{ agent, agentName: name, step, signal },
    makeEnv: () => makeEnv(step),
    seeds: groupSeeds(runSeed, step, place, member),
    rewards: { reward, accuracy },
    id: `${groupIdAt(runId, step, place)}/${member}`,
  })
  if (Fault.is(played)) {
    events.emit('fault-met', played, at)
    return played
  }
  const { episode, scores } = played
  const trouble = unavailableReason(scores.reward)
  if (trouble !== undefined)
    events.emit('fault-met', new Fault('component-failed', trouble), `${at} (${episode.caseId})`)
  return { place, truth, episode, score: scores.reward, right: scores.accuracy.total }
}

/** Number of the first case that dynamic sampling draws: no step without it comes that far. */
export const firstResampled = 2 ** 31

/** How many groups a step plays, and how many members each. */
interface GroupCounts {
  readonly groupsPerStep: number
  readonly groupSize: number
  /** Most groups of a step under dynamic sampling. */
  readonly resample?: { readonly most: number }
}

/** Number of the case at a place of a step; every place of every step has its own. */
function caseNumber(
  step: number,
  place: number,
  { groupsPerStep, resample: { most } = { most: groupsPerStep } }: GroupCounts,
): number {
  const more = place - groupsPerStep
  return more < 0
    ? (step - 1) * groupsPerStep + place
    : firstResampled + (step - 1) * (most - groupsPerStep) + more
}

/** Jobs of the groups at some places of a step. */
export const rolloutJobs = (
  { caseAt }: PlayOptions,
  at: { readonly step: number; readonly places: readonly number[] },
  counts: GroupCounts,
): RolloutJob[] =>
  at.places.flatMap((place) => {
    const { step } = at
    const truth = caseAt(caseNumber(step, place, counts), step)
    const { groupSize } = counts
    return Array.from({ length: groupSize }, (_, member) => ({ step, place, member, truth }))
  })

/** Makes the fault for rollouts that all failed; `attempt` begins its message, `first` is the first fault. */
export const noRolloutFault = (attempt: string, first: Fault): Fault =>
  new Fault(first.code, `${attempt} consultations could be played: ${first.message}`, {
    cause: first,
  })

/** Forms the group of the members at one place; `undefined` without members. */
export function formMemberGroup(
  id: string,
  members: readonly GroupMember[],
  estimator: AdvantageEstimator,
  policy: GroupPolicy,
): Group | undefined {
  const episodes = members.map(({ episode }) => episode)
  const scores = members.map(({ score }) => score)
  return members.length > 0 ? formGroup(id, episodes, scores, estimator, policy) : undefined
}
