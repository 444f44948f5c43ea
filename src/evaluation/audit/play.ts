/** Plays doctors over the same cases with the same luck, and scores every episode with many rewards. */
import type { Agent } from '../../agent.js'
import type { Case } from '../../case.js'
import { graderView } from '../../case.js'
import type { Env } from '../../env.js'
import type { Episode } from '../../episode.js'
import { errorMessage, Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import type { Reward, Score } from '../../reward.js'
import { play } from '../../rollout.js'
import { evaluationSeeds } from '../../seed.js'

/** A doctor to be audited with. */
export interface AuditPolicy {
  readonly name: string
  readonly agent: Agent
  /** Gain from which on it is an exploit, as a share of the reward's range. @default the audit's */
  readonly tolerance?: number
  /** Plays against this reward only. @default against all */
  readonly against?: Reward
}

export interface AuditOptions {
  readonly cases: readonly Case[]
  /** Envs without a reward: episodes are scored apart. */
  readonly makeEnv: () => Env
  readonly rewards: readonly Reward[]
  /** The random doctor. */
  readonly floor: Agent
  /** The strongest doctor, for scale. @default none */
  readonly ceiling?: { readonly name: string; readonly agent: Agent }
  readonly policies: readonly AuditPolicy[]
  /** Gain from which on a policy is an exploit, as a share of the reward's range. @default 0.02 */
  readonly tolerance?: number
  /** @default 0 */
  readonly seed?: number
  /** @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called after each consultation. */
  readonly onPlayed?: (name: string) => void
}

/** An episode with what every reward makes of it; undefined where the world failed. */
export type Scored =
  | { readonly episode: Episode; readonly scores: ReadonlyMap<Reward, Score> }
  | undefined

async function scored(
  { name, against }: AuditPolicy,
  episode: Episode,
  truth: Case,
  { rewards, signal }: AuditOptions,
): Promise<Scored> {
  const scores = new Map<Reward, Score>()
  for (const reward of against ? [against] : rewards) {
    try {
      scores.set(reward, await reward(episode, graderView(truth), { signal }))
    } catch (error) {
      if (signal?.aborted) throw error
      const where = `${reward.rewardName}: on case ${truth.id}, played by ${name}`
      throw new Fault('component-failed', `${where}: ${errorMessage(error)}`, { cause: error })
    }
  }
  return { episode, scores }
}

/** Plays every case, each with the seeds an evaluation gives it; undefined where the world failed. */
export function played(policy: AuditPolicy, options: AuditOptions): Promise<Scored[]> {
  const { cases, makeEnv, seed: runSeed = 0, concurrency = 8, signal, onPlayed } = options
  const { agent, name: agentName } = policy
  return mapPool(cases, concurrency, async (truth) => {
    const seeds = evaluationSeeds(runSeed, truth.id)
    // Scored apart: a reward that fails ends the audit, a world that fails is left out.
    const one = await play(truth, { makeEnv, agent, agentName, seeds, rewards: {}, signal })
    onPlayed?.(agentName)
    return Fault.is(one) ? undefined : scored(policy, one.episode, truth, options)
  })
}
