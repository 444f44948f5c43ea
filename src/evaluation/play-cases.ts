/** Evaluation rollouts: an agent plays each case once or several times, with seeds that every agent shares. */
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
  /** Which consultation of its case it is. @default 0, the first */
  readonly repeat?: number
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
  /** Consultations of each case: with the same patient, and other draws of the agent. @default 1 */
  readonly repeats?: number
  /** Whether a consultation was played before, and is left out. @default none was */
  readonly isDone?: (truth: Case, repeat: number) => boolean
  /** Begins the ids of the episodes, which end in case and seed, and the number of a repeat. @default the agent's name */
  readonly runId?: string
  /** @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called after each case, in completion order. */
  readonly onPlayed?: (played: PlayedCase) => void
}

/** What the id of an episode ends with. */
const idEnd = (caseId: string, runSeed: number): string => `/${caseId}/${runSeed}`

/** Which consultation of its case a saved episode of {@link playCases} is, by its id. */
export function repeatOf({ id, caseId }: Episode, runSeed: number): number {
  const end = idEnd(caseId, runSeed)
  const at = id.lastIndexOf(end)
  const number = at < 0 ? '' : id.slice(at + end.length)
  return /^\/\d+$/.test(number) ? Number(number.slice(1)) : 0
}

/**
 * Plays every case, all once before any is played again. The env's seed depends on `seed` and the case alone, so any two agents meet the same
 * patients. A fault of the world leaves its case without an episode; it is never a score.
 */
export function playCases({
  cases,
  makeEnv,
  agent,
  agentName,
  measures,
  seed: runSeed = 0,
  repeats = 1,
  isDone = () => false,
  runId = agentName,
  concurrency = 8,
  signal,
  onPlayed,
}: PlayCasesOptions): Promise<PlayedCase[]> {
  const jobs = Array.from({ length: repeats }, (_, repeat) =>
    cases.flatMap((truth) => (isDone(truth, repeat) ? [] : [{ truth, repeat }])),
  ).flat()
  const playOne = async (
    { truth, repeat }: (typeof jobs)[number],
    _: number,
    poolSignal: AbortSignal,
  ): Promise<PlayedCase> => {
    const seeds = evaluationSeeds(runSeed, truth.id, repeat)
    const by = { makeEnv, agent, agentName, seeds, signal: poolSignal }
    const id = `${runId}${idEnd(truth.id, runSeed)}${repeat === 0 ? '' : `/${repeat}`}`
    const one = await play(truth, { ...by, rewards: measures, id })
    const which = { truth, ...(repeat === 0 ? {} : { repeat }) }
    const played = Fault.is(one) ? { ...which, fault: one } : { ...which, ...one }
    onPlayed?.(played)
    return played
  }
  return mapPool(jobs, concurrency, playOne, signal)
}
