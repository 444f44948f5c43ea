/** `playGroup`: plays the siblings of one case and forms a group for each role that learns. */
import type { AnyAgent } from '../../agent.js'
import type { Case } from '../../case.js'
import type { Env } from '../../env.js'
import type { Episode, Role } from '../../episode.js'
import { Fault } from '../../error.js'
import { type AdvantageEstimator, formGroup, type Group, type GroupPolicy } from '../../group.js'
import { mapPool } from '../../platform/concurrency.js'
import type { Reward } from '../../reward.js'
import { play } from '../../rollout.js'
import { fork } from '../../seed.js'
import { drGrpoAdvantages } from '../advantages/per-group.js'
import { assertCounts } from '../counts.js'

/** Options of {@link playGroup}. */
export interface PlayGroupOptions<Roles extends Role> {
  /** Makes the env of one member. `seed` is the member's own, for a patient whose policy draws. */
  readonly makeEnv: (member: { readonly index: number; readonly seed: number }) => Env
  readonly agent: AnyAgent
  /** Name of the doctor. @default 'agent' */
  readonly agentName?: string
  /** The reward of each role that learns; each has a group of its own. */
  readonly rewards: Readonly<Record<Roles, Reward>>
  /** Number of members. */
  readonly size: number
  /** Keys the case's noise, which the members share, and their own draws, in which they differ. */
  readonly seed: number
  /** @default Dr. GRPO */
  readonly estimate?: AdvantageEstimator
  /** Which members count in a group, and which groups learn. */
  readonly policy?: Omit<GroupPolicy, 'role'>
  /** The group's id. @default `caseId/seed` */
  readonly id?: string
  /** Episodes under way at once. @default size */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
}

/** What {@link playGroup} gives. */
export interface PlayedSiblings<Roles extends Role> {
  readonly episodes: readonly Episode[]
  /** The faults of members whose world failed; they are in no group. */
  readonly faults: readonly Fault[]
  /** One group per role; absent where every member failed. */
  readonly groups: { readonly [role in Roles]?: Group }
}

/**
 * Plays `size` siblings of one case and scores each once per role: groups for a loop of one's own.
 * @throws RangeError for a size that is no positive integer; errors that end more than one episode
 */
export async function playGroup<Roles extends Role>(
  truth: Case,
  options: PlayGroupOptions<Roles>,
): Promise<PlayedSiblings<Roles>> {
  const { makeEnv, agent, agentName = 'agent', rewards, size, seed, signal } = options
  const {
    estimate = drGrpoAdvantages(),
    policy,
    id = `${truth.id}/${seed}`,
    concurrency = size,
  } = options
  assertCounts({ size, concurrency })
  const playOne = (_: unknown, index: number, poolSignal: AbortSignal) => {
    const agentSeed = fork(seed, 'member', index)
    return play(truth, {
      ...{ agent, agentName, rewards, signal: poolSignal, id: `${id}/${index}` },
      makeEnv: () => makeEnv({ index, seed: agentSeed }),
      seeds: { envSeed: seed, agentSeed },
    })
  }
  const played = await mapPool(Array(size).fill(undefined), concurrency, playOne, signal)
  const members = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const episodes = members.map(({ episode }) => episode)
  const groups: { [role in Roles]?: Group } = {}
  if (members.length > 0)
    for (const role of Object.keys(rewards) as Roles[]) {
      const scores = members.map((member) => member.scores[role])
      groups[role] = formGroup(`${id}/${role}`, episodes, scores, estimate, { ...policy, role })
    }
  return { episodes, faults: played.filter((one) => Fault.is(one)), groups }
}
