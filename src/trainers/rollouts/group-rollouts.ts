/** Group rollouts: plays and scores the members of a group, which share case and seed. */
import type { Agent } from '../../agent.js'
import type { Case } from '../../case.js'
import type { Env } from '../../env.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import type { AdvantageEstimator, Group, GroupPolicy } from '../../group.js'
import { formGroup } from '../../group.js'
import type { Reward, Score } from '../../reward.js'
import { unavailableReason } from '../../reward.js'
import { play } from '../../rollout.js'
import { groupSeeds } from '../../seed.js'
import type { TrainingEmitter } from '../events.js'

/** World options of training rollouts: cases, env, rewards and seed. */
export interface PlayOptions {
  /** The n-th training case; n counts groups from the start of the run, groups drawn by resampling not counted. */
  readonly caseAt: (n: number, step: number) => Case
  readonly makeEnv: (step: number) => Env
  readonly reward: Reward
  /** Accuracy measure, for the learning curves. */
  readonly accuracy: Reward
  /** @default 0 */
  readonly seed?: number
  readonly events: TrainingEmitter
  readonly signal?: AbortSignal | undefined
}

/** A played and scored member of a group. */
export interface GroupMember {
  readonly place: number
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

/**
 * Plays and scores one member; returns the fault if its world failed. Emits `fault-met` for that, and for a score that
 * the world made unavailable.
 */
export async function playMember(
  { makeEnv, reward, accuracy, seed: runSeed = 0, signal, events }: PlayOptions,
  { agent, name }: { readonly agent: Agent; readonly name: string },
  { step, place, member, truth }: RolloutJob,
): Promise<GroupMember | Fault> {
  const at = `step ${step}, group ${place}, member ${member}`
  const played = await play(truth, {
    ...{ agent, agentName: name, step, signal },
    makeEnv: () => makeEnv(step),
    seeds: groupSeeds(runSeed, step, place, member),
    rewards: { reward, accuracy },
    id: `${step}/${place}/${member}`,
  })
  if (Fault.is(played)) {
    events.emit('fault-met', played, at)
    return played
  }
  const { episode, scores } = played
  const trouble = unavailableReason(scores.reward)
  if (trouble !== undefined)
    events.emit('fault-met', new Fault('component-failed', trouble), `${at} (${episode.caseId})`)
  return { place, episode, score: scores.reward, right: scores.accuracy.total }
}

/** Jobs of the groups at some places of a step. */
export const rolloutJobs = (
  { caseAt }: PlayOptions,
  {
    step,
    places,
    groupsPerStep,
    groupSize,
  }: {
    readonly step: number
    readonly places: readonly number[]
    readonly groupsPerStep: number
    readonly groupSize: number
  },
): RolloutJob[] =>
  places.flatMap((place) => {
    const truth = caseAt((step - 1) * groupsPerStep + place, step)
    return Array.from(
      { length: groupSize },
      (_, member): RolloutJob => ({ step, place, member, truth }),
    )
  })

/** Makes the fault of a step of which no consultation could be played. @param first the first of the faults */
export const noRolloutFault = (step: number, count: number, first: Fault): Fault =>
  new Fault(
    first.code,
    `step ${step}: none of its ${count} consultations could be played: ${first.message}`,
    { cause: first },
  )

/** Forms the group of the members at one place; `undefined` without members. */
export const formMemberGroup = (
  id: string,
  members: readonly GroupMember[],
  estimator: AdvantageEstimator,
  policy: GroupPolicy,
): Group | undefined =>
  members.length === 0
    ? undefined
    : formGroup(
        id,
        members.map(({ episode }) => episode),
        members.map(({ score }) => score),
        estimator,
        policy,
      )
