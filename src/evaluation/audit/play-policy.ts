/** Audit rollouts: policies play the same cases with the same seeds, and every episode is scored by many rewards. */
import type { Agent } from '../../agent.js'
import { type Case, graderView } from '../../case.js'
import type { Env } from '../../env.js'
import type { Episode } from '../../episode.js'
import { errorMessage, Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import type { Reward, Score } from '../../reward.js'
import { play } from '../../rollout.js'
import { evaluationSeeds } from '../../seed.js'

/** A policy that an audit plays against rewards. */
export interface AuditPolicy {
  readonly name: string
  readonly agent: Agent
  /** Largest gain that is no exploit, as a share of the reward's range. @default the audit's */
  readonly tolerance?: number
  /** The only reward this policy is scored by. @default all */
  readonly against?: Reward
}

/** Options of `audit`. */
export interface AuditOptions {
  readonly cases: readonly Case[]
  /** Makes envs without a reward: episodes are scored separately. */
  readonly makeEnv: () => Env
  readonly rewards: readonly Reward[]
  /** The random doctor. */
  readonly floor: Agent
  /** The strongest doctor, for scale. @default none */
  readonly ceiling?: { readonly name: string; readonly agent: Agent }
  readonly policies: readonly AuditPolicy[]
  /** Largest gain that is no exploit, as a share of the reward's range. @default 0.02 */
  readonly tolerance?: number
  /** @default 0 */
  readonly seed?: number
  /** @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called after each consultation. */
  readonly onPlayed?: (name: string) => void
}

/** An episode and its score by each reward; undefined if the world failed. */
export type AuditedEpisode =
  | { readonly episode: Episode; readonly scores: ReadonlyMap<Reward, Score> }
  | undefined

async function scoreByRewards(
  { name, against }: AuditPolicy,
  episode: Episode,
  truth: Case,
  { rewards, signal }: AuditOptions,
): Promise<AuditedEpisode> {
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

/** Plays a policy on every case, with the seeds of an evaluation; undefined for a case whose world failed. */
export function playPolicy(policy: AuditPolicy, options: AuditOptions): Promise<AuditedEpisode[]> {
  const { cases, makeEnv, seed: runSeed = 0, concurrency = 8, signal, onPlayed } = options
  const { agent, name: agentName } = policy
  const playOne = async (truth: Case, _: number, poolSignal: AbortSignal) => {
    const seeds = evaluationSeeds(runSeed, truth.id)
    const by = { makeEnv, agent, agentName, seeds, signal: poolSignal }
    // Scored separately: a reward that fails ends the audit, a world that fails is left out.
    const one = await play(truth, { ...by, rewards: {} })
    onPlayed?.(agentName)
    if (Fault.is(one)) return undefined
    return scoreByRewards(policy, one.episode, truth, { ...options, signal: poolSignal })
  }
  return mapPool(cases, concurrency, playOne, signal)
}
