/** Where demonstrations come from: the best of what was saved, or a doctor who is made to play. */
import type { AnyAgent } from '../../agent.js'
import type { Case } from '../../case.js'
import { graderView } from '../../case.js'
import type { Env } from '../../env.js'
import { Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import type { Reward } from '../../reward.js'
import { play } from '../../rollout.js'
import { demonstrationSeeds } from '../../seed.js'
import type { SavedEpisode } from '../../storage/episode-files.js'
import type { TrainingEmitter } from '../events.js'

/** Episodes worth showing, and how many were not to be had. */
export interface Demonstrations {
  /** In the order they were given or played. */
  readonly kept: readonly SavedEpisode[]
  /** Had no total where one was needed, or could not be played. */
  readonly unavailable: number
  /** Had a total, and others did better. */
  readonly rejected: number
}

export interface RejectionOptions {
  /** The least total of a demonstration. @default -Infinity */
  readonly minReward?: number
  /** Of each group, or of each case where there are no groups, so many at most: those of the highest totals. @default all */
  readonly bestOf?: number
}

interface Candidate {
  readonly place: number
  readonly total: number
  readonly saved: SavedEpisode
}

/** Puts a candidate behind those at least as good, and the one too many out. */
function admit(best: Candidate[], candidate: Candidate, most: number): void {
  // Where nothing is put out, nothing need be compared.
  const at = Number.isFinite(most) ? best.findIndex(({ total }) => total < candidate.total) : -1
  best.splice(at < 0 ? best.length : at, 0, candidate)
  if (best.length > most) best.pop()
}

/**
 * Rejection sampling: episodes with a total of at least `minReward`, and of those the best of each group (of one
 * case); of equal totals the earlier ones. Episodes without a total are never kept. Holds in memory what it keeps.
 * (STaR, Zelikman et al. 2022; rejection-sampling fine-tuning, Yuan et al. 2023.)
 * @throws RangeError for a `minReward` or a total that is no number, or a `bestOf` below 1
 */
export async function rejectionSampled(
  saved: Iterable<SavedEpisode> | AsyncIterable<SavedEpisode>,
  {
    minReward = Number.NEGATIVE_INFINITY,
    bestOf = Number.POSITIVE_INFINITY,
  }: RejectionOptions = {},
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
      admit(best, { place, total, saved: one }, bestOf)
    }
  }
  const kept = [...groups.values()].flat().sort((a, b) => a.place - b.place)
  return {
    kept: kept.map((candidate) => candidate.saved),
    unavailable,
    rejected: place - unavailable - kept.length,
  }
}

export interface FromAgentOptions {
  /** The oracle, the recorded doctor of imported dialogues, a teacher model, or the policy itself. */
  readonly agent: AnyAgent
  readonly agentName: string
  readonly cases: readonly Case[]
  readonly makeEnv: () => Env
  /** Scores every episode, for {@link rejectionSampled}. */
  readonly reward?: Reward
  /** How often each case is played: as siblings of one group, for agents that draw their moves. @default 1 */
  readonly times?: number
  /** @default 0 */
  readonly seed?: number
  /** Episodes under way at once. @default 16 */
  readonly concurrency?: number
  /** Told every fault, as `fault-met`. */
  readonly events?: TrainingEmitter
  readonly signal?: AbortSignal | undefined
}

/** One case, to be played once. */
interface DemonstrationJob {
  readonly place: number
  readonly time: number
  readonly truth: Case
}

/** Plays one case; gives the fault when its world failed. */
async function playOne(
  options: FromAgentOptions,
  { place, time, truth }: DemonstrationJob,
): Promise<SavedEpisode | Fault> {
  const { agent, agentName, makeEnv, reward, seed: runSeed = 0, signal, events } = options
  const played = await play(truth, {
    ...{ agent, agentName, makeEnv, signal },
    seeds: demonstrationSeeds(runSeed, place, time),
    rewards: { ...(reward ? { reward } : {}) },
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
 * Lets a doctor play every case, as many `times` as asked. What comes of a case depends on its place, the seed and
 * the doctor alone. Consultations whose world failed are left out and counted.
 * @throws Fault when every one failed; RangeError for `times` below 1
 */
export async function fromAgent(options: FromAgentOptions): Promise<Demonstrations> {
  const { cases, times = 1, concurrency = 16, agentName } = options
  if (!Number.isSafeInteger(times) || times < 1)
    throw new RangeError(`Expected \`times\` to be a positive integer, got \`${times}\``)
  const jobs = cases.flatMap((truth, place) =>
    Array.from({ length: times }, (_, time): DemonstrationJob => ({ place, time, truth })),
  )
  const played = await mapPool(jobs, concurrency, (job) => playOne(options, job))
  const kept = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const [first] = played
  if (kept.length === 0 && Fault.is(first))
    throw new Fault(
      first.code,
      `${agentName}: none of ${jobs.length} consultations could be played: ${first.message}`,
      { cause: first },
    )
  return { kept, unavailable: played.length - kept.length, rejected: 0 }
}
