/** Playing groups of consultations: members of one case and one seed, by one policy, scored. */
import type { Agent } from '../../agent.js'
import type { Case } from '../../case.js'
import { graderView } from '../../case.js'
import type { Env } from '../../env.js'
import type { Episode } from '../../episode.js'
import { Fault, ofOneWorld } from '../../error.js'
import type { AdvantageEstimator, Group, GroupPolicy } from '../../group.js'
import { formGroup } from '../../group.js'
import type { Reward, Score } from '../../reward.js'
import { troubleOf } from '../../reward.js'
import { rollout } from '../../rollout.js'
import { fork } from '../../seed.js'
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
export interface Member {
  readonly place: number
  readonly episode: Episode
  readonly score: Score
  readonly right: number | null
}

/** One member of one group, to be played. */
export interface Job {
  readonly step: number
  /** Of the group within the step. */
  readonly place: number
  readonly member: number
  readonly truth: Case
}

/** Plays and scores one member of one group; gives the fault when its world failed. A score that the world made unavailable is told as one. */
export async function playMember(
  { makeEnv, reward, accuracy, seed = 0, signal, events }: PlayOptions,
  { agent, name }: { readonly agent: Agent; readonly name: string },
  { step, place, member, truth }: Job,
): Promise<Member | Fault> {
  signal?.throwIfAborted()
  const groupSeed = fork(seed, 'group', step, place)
  const at = `step ${step}, group ${place}, member ${member}`
  await using env = makeEnv(step)
  try {
    const episode = await rollout(env, agent, {
      seed: groupSeed,
      agentSeed: fork(groupSeed, 'member', member),
      options: { case: truth },
      agentName: name,
      id: `${step}/${place}/${member}`,
      signal,
    })
    const view = graderView(truth)
    const score = await reward(episode, view, { signal, step })
    const trouble = troubleOf(score)
    if (trouble !== undefined)
      events.emit('fault-met', new Fault('component-failed', trouble), `${at} (${episode.caseId})`)
    return { place, episode, score, right: (await accuracy(episode, view)).total }
  } catch (error) {
    if (!ofOneWorld(error) || signal?.aborted) throw error
    events.emit('fault-met', error, at)
    return error
  }
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
): Job[] =>
  places.flatMap((place) => {
    const truth = caseAt((step - 1) * groupsPerStep + place, step)
    return Array.from({ length: groupSize }, (_, member): Job => ({ step, place, member, truth }))
  })

/** The group of the members at one place; `undefined` where none was left. */
export function groupAt(
  id: string,
  members: readonly Member[],
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
