/** Demonstrations for supervised fine-tuning: by rejection sampling of saved episodes, or by an agent that plays. */
import type { AnyAgent } from '../../agent.js'
import { type Case, graderView } from '../../case.js'
import type { Env } from '../../env.js'
import { Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import type { Reward } from '../../reward.js'
import { play } from '../../rollout.js'
import { demonstrationSeeds } from '../../seed.js'
import type { SavedEpisode } from '../../storage/episode-files.js'
import { assertCounts } from '../counts.js'
import type { TrainingEmitter } from '../events.js'
import { noRolloutFault } from './group-rollouts.js'

/** Demonstration episodes, and counts of those left out. */
export interface Demonstrations {
  /** In the order they were given or played. */
  readonly kept: readonly SavedEpisode[]
  /** Number of episodes without a required total, or that could not be played. */
  readonly unavailable: number
  /** Number of episodes with a total that were not kept. */
  readonly rejected: number
}

/** Options of rejection sampling. */
export interface RejectionSamplingOptions {
  /** Minimum total of a demonstration. @default -Infinity */
  readonly minReward?: number
  /** Maximum episodes per group, or per case without groups: those with the highest totals. @default all */
  readonly bestOf?: number
}

interface Candidate {
  readonly place: number
  readonly total: number
  readonly saved: SavedEpisode
}

/** Inserts a candidate in order of falling totals, after equal ones, and drops the last beyond `most`. */
function insertCandidate(best: Candidate[], candidate: Candidate, most: number): void {
  // If none is ever dropped, the order does not matter.
  const at = Number.isFinite(most) ? best.findIndex(({ total }) => total < candidate.total) : -1
  best.splice(at < 0 ? best.length : at, 0, candidate)
  if (best.length > most) best.pop()
}

/**
 * Rejection sampling: keeps episodes with a total of at least `minReward`, and of those the best of each group (of one
 * case); among equal totals the earlier ones. Episodes without a total are never kept. Kept episodes are in memory.
 * (STaR, Zelikman et al. 2022; rejection-sampling fine-tuning, Yuan et al. 2023.)
 * @throws RangeError for a `minReward` that is NaN, a total that is not finite, or a `bestOf` below 1
 */
export async function rejectionSample(
  saved: Iterable<SavedEpisode> | AsyncIterable<SavedEpisode>,
  {
    minReward = Number.NEGATIVE_INFINITY,
    bestOf = Number.POSITIVE_INFINITY,
  }: RejectionSamplingOptions = {},
): Promise<Demonstrations> {
  if (Number.isNaN(minReward))
    throw new RangeError(`Expected \`minReward\` to be a number, got \`${minReward}\``)
  if (!(bestOf >= 1) || (Number.isFinite(bestOf) && !Number.isInteger(bestOf)))
    throw new RangeError(`Expected \`bestOf\` to be a positive integer, got \`${bestOf}\``)
  const groups = new Map<string, Candidate[]>()
  let [place, unavailable] = [0, 0]
  for await (const one of saved) {
    const total = one.score?.total ?? null
    place += 1
    if (total === null) unavailable += 1
    else if (!Number.isFinite(total))
      throw new RangeError(`Expected \`total\` of ${one.episode.id} to be finite, got \`${total}\``)
    else if (total >= minReward) {
      const { caseId } = one.episode
      const key = JSON.stringify(one.group === undefined ? [caseId] : [caseId, one.group])
      const best = groups.get(key) ?? []
      groups.set(key, best)
      insertCandidate(best, { place, total, saved: one }, bestOf)
    }
  }
  const kept = [...groups.values()].flat().sort((a, b) => a.place - b.place)
  return {
    kept: kept.map((candidate) => candidate.saved),
    unavailable,
    rejected: place - unavailable - kept.length,
  }
}

/** Options of demonstrations that an agent plays. */
export interface PlayDemonstrationsOptions {
  /** For example the oracle, the recorded doctor of imported dialogues, a teacher model, or the policy itself. */
  readonly agent: AnyAgent
  readonly agentName: string
  readonly cases: readonly Case[]
  readonly makeEnv: () => Env
  /** Scores every episode, for rejection sampling. */
  readonly reward?: Reward
  /** Episodes per case, as siblings of one group; for agents that sample their moves. @default 1 */
  readonly times?: number
  /** @default 0 */
  readonly seed?: number
  /** Episodes under way at once. @default 16 */
  readonly concurrency?: number
  /** Emits `fault-met` for every fault. */
  readonly events?: TrainingEmitter
  readonly signal?: AbortSignal | undefined
}

/** Plays one episode; returns the fault if its world failed. */
async function playOne(
  options: PlayDemonstrationsOptions,
  { place, time, truth }: { readonly place: number; readonly time: number; readonly truth: Case },
): Promise<SavedEpisode | Fault> {
  const { agent, agentName, makeEnv, reward, seed: runSeed = 0, signal, events } = options
  const played = await play(truth, {
    ...{ agent, agentName, makeEnv, signal },
    seeds: demonstrationSeeds(runSeed, place, time),
    rewards: reward ? { reward } : {},
    id: `${agentName}/${place}/${time}`,
  })
  if (Fault.is(played)) {
    events?.emit('fault-met', played, `demonstration ${place} of ${agentName}, time ${time}`)
    return played
  }
  const { episode, scores } = played
  return {
    ...{ episode, truth: graderView(truth) },
    ...(scores.reward ? { score: scores.reward } : {}),
    group: `${agentName}/${place}`,
  }
}

/**
 * Plays every case `times` times with an agent. The episodes of a case depend on its place, the seed and the agent
 * alone. Consultations whose world failed are left out and counted.
 * @throws Fault if every consultation failed; RangeError for `times` below 1
 */
export async function playDemonstrations(
  options: PlayDemonstrationsOptions,
): Promise<Demonstrations> {
  const { cases, times = 1, concurrency = 16, agentName, signal } = options
  assertCounts({ times })
  const jobs = cases.flatMap((truth, place) =>
    Array.from({ length: times }, (_, time) => ({ place, time, truth })),
  )
  const played = await mapPool(
    jobs,
    concurrency,
    (job, _, poolSignal) => playOne({ ...options, signal: poolSignal }, job),
    signal,
  )
  const kept = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const [first] = played
  if (kept.length === 0 && Fault.is(first))
    throw noRolloutFault(`${agentName}: none of ${jobs.length}`, first)
  return { kept, unavailable: played.length - kept.length, rejected: 0 }
}
