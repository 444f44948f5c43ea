/** Evaluation rollouts: an agent plays each case once, with seeds that every agent shares. */
import type { AnyAgent } from '../agent.js'
import type { Case } from '../case.js'
import type { Env } from '../env.js'
import type { Episode } from '../episode.js'
import { Fault } from '../error.js'
import { mapPool } from '../platform/concurrency.js'
import type { Reward, Score } from '../reward.js'
import { play } from '../rollout.js'
import { evaluationSeeds } from '../seed.js'

/** Rewards that every evaluation measures, independent of the training reward. */
export type Measures = Readonly<Record<'reward' | 'accuracy' | 'partialCredit' | 'examF1', Reward>>

/** One played case: `episode` and `scores`, or the `fault` of its world. */
export interface PlayedCase {
  readonly truth: Case
  readonly episode?: Episode
  readonly scores?: Readonly<Record<keyof Measures, Score>>
  readonly fault?: Fault
}

/** Options of {@link playCases}. */
export interface PlayCasesOptions {
  readonly cases: readonly Case[]
  readonly makeEnv: () => Env
  readonly agent: AnyAgent
  readonly agentName: string
  readonly measures: Measures
  /** @default 0 */
  readonly seed?: number
  /** Begins the ids of the episodes, which end in case and seed. @default the agent's name */
  readonly runId?: string
  /** @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called after each case, in completion order. */
  readonly onPlayed?: (played: PlayedCase) => void
}

/**
 * Plays every case once. The env's seed depends on `seed` and the case alone, so any two agents meet the same
 * patients. A fault of the world leaves its case without an episode; it is never a score.
 */
export function playCases({
  cases,
  makeEnv,
  agent,
  agentName,
  measures,
  seed: runSeed = 0,
  runId = agentName,
  concurrency = 8,
  signal,
  onPlayed,
}: PlayCasesOptions): Promise<PlayedCase[]> {
  const playOne = async (truth: Case, _: number, poolSignal: AbortSignal): Promise<PlayedCase> => {
    const seeds = evaluationSeeds(runSeed, truth.id)
    const by = { makeEnv, agent, agentName, seeds, signal: poolSignal }
    const id = `${runId}/${truth.id}/${runSeed}`
    const one = await play(truth, { ...by, rewards: measures, id })
    const played = Fault.is(one) ? { truth, fault: one } : { truth, ...one }
    onPlayed?.(played)
    return played
  }
  return mapPool(cases, concurrency, playOne, signal)
}
