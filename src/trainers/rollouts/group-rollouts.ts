/** Playing groups of consultations: members of one case and one seed, by one policy, scored. */
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

/** The world that training consultations happen in. */
export interface PlayOptions {
  /** The n-th training case; n counts groups from the start of the run, whatever is drawn again apart. */
  readonly caseAt: (n: number, step: number) => Case
  readonly makeEnv: (step: number) => Env
  readonly reward: Reward
  /** Measured beside the reward, for the curves. */
  readonly accuracy: Reward
  /** @default 0 */
  readonly seed?: number
  readonly events: TrainingEmitter
  readonly signal?: AbortSignal | undefined
}

/** One member of a group, played and scored. */
export interface GroupMember {
  readonly place: number
  readonly episode: Episode
  readonly score: Score
  readonly right: number | null
}

/** One member of one group, to be played. */
export interface RolloutJob {
  readonly step: number
  /** Of the group within the step. */
  readonly place: number
  readonly member: number
  readonly truth: Case
}

/** Plays and scores one member of one group; gives the fault when its world failed. A score that the world made unavailable is told as one. */
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

/** The jobs of the groups at some places of a step. */
export const jobsOf = (
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

/** The group of the members at one place; `undefined` where none was left. */
export function groupAt(
  id: string,
  members: readonly GroupMember[],
  estimator: AdvantageEstimator,
  policy: GroupPolicy = {},
): Group | undefined {
  if (members.length === 0) return undefined
  return formGroup(
    id,
    members.map(({ episode }) => episode),
    members.map(({ score }) => score),
    estimator,
    policy,
  )
}
