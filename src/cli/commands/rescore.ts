/** Saved episodes scored again with any number of rewards: what `rewards score` counts. */

import { Fault, isEpisodeFault } from '../../error.js'
import { correlation } from '../../evaluation/correlation.js'
import type { ScoreSummary, ScoreTally } from '../../evaluation/streaming-summary.js'
import { scoreTally } from '../../evaluation/streaming-summary.js'
import { mapStream } from '../../platform/concurrency.js'
import type { Reward, Score } from '../../reward.js'
import { unavailable, unavailableReason } from '../../reward.js'
import type { EpisodeWriter } from '../../storage/episode-files.js'
import { readLocatedEpisodes } from '../../storage/episode-files.js'

export interface RescoreOptions {
  /** By the name each is to be told by. */
  readonly rewards: ReadonlyMap<string, Reward>
  /** Whether a doctor was right. */
  readonly accuracy: Reward
  readonly seed: number
  /** Episodes being scored at once; only rewards that wait for something gain by it. @default 8 */
  readonly concurrency?: number | undefined
  readonly signal: AbortSignal
  /** Where the episodes go with the score of the one reward; it is left open. */
  readonly writer?: EpisodeWriter | undefined
  /** Called after each episode, with the first that could not be scored. */
  readonly onScored?: (done: number, trouble: string | undefined) => void
}

/** What one reward made of the episodes, and what it goes with. */
export interface Rescored extends ScoreSummary {
  readonly bounds: Reward['bounds']
  /** Pearson's, of totals over episodes; null where one of the two never varied. */
  readonly correlation: {
    readonly accuracy: number | null
    readonly parts: Readonly<Record<string, number | null>>
    readonly rewards: Readonly<Record<string, number | null>>
  }
  /** The first episode that the world's fault left without a score: where it stands, and why. */
  readonly trouble: string | undefined
  /** Whether there were too many cases to resample them one by one. */
  readonly bundled: boolean
}

export interface RescoreReport {
  readonly episodes: number
  readonly byReward: ReadonlyMap<string, Rescored>
}

interface Lane {
  readonly name: string
  readonly reward: Reward
  readonly tally: ScoreTally
  trouble: string | undefined
}

/** A correlation for every two rewards. */
function everyTwo(count: number) {
  const pairs = Array.from({ length: count }, (_, i) => Array.from({ length: i }, correlation))
  return {
    add(totals: readonly (number | null)[]) {
      for (let i = 1; i < count; i++)
        for (let j = 0; j < i; j++) {
          const [x, y] = [totals[i] ?? null, totals[j] ?? null]
          if (x !== null && y !== null) pairs[i]?.[j]?.add(x, y)
        }
    },
    between: (i: number, j: number): number | null =>
      pairs[Math.max(i, j)]?.[Math.min(i, j)]?.value() ?? null,
  }
}

/** The score; what was one world's fault is a score that says so. */
async function scored(reward: Reward, name: string, ...given: Parameters<Reward>): Promise<Score> {
  try {
    return await reward(...given)
  } catch (error) {
    if (!isEpisodeFault(error) || given[2]?.signal?.aborted) throw error
    return { total: null, parts: { [name]: unavailable(error.message) } }
  }
}

function told(lanes: readonly Lane[], pairs: ReturnType<typeof everyTwo>, seed: number) {
  return lanes.map(({ name, reward, tally, trouble }, i): [string, Rescored] => {
    const { total, parts } = tally.withAccuracy()
    const others = lanes.flatMap((other, j) => (i === j ? [] : [[other.name, pairs.between(i, j)]]))
    const own = { accuracy: total, parts, rewards: Object.fromEntries(others) }
    const { bounds } = reward
    return [
      name,
      { ...tally.summary(seed), bounds, correlation: own, trouble, bundled: tally.bundled() },
    ]
  })
}

/**
 * Reads the episodes of a path once and scores each with every reward, a few at a time and counted in their order, so
 * that the report is the same however many those are. A fault of one world leaves its episode without a score, and is
 * told; a reward that breaks its contract ends the work.
 * @throws Fault `bad-input` for a path without episodes, and for what cannot be read
 */
export async function rescore(
  path: string,
  { rewards, accuracy, seed, concurrency = 8, signal, writer, onScored = () => {} }: RescoreOptions,
): Promise<RescoreReport> {
  const lanes: readonly Lane[] = [...rewards].map(([name, reward]) => ({
    ...{ name, reward, tally: scoreTally(reward.bounds), trouble: undefined },
  }))
  const pairs = everyTwo(lanes.length)
  let episodes = 0
  const all = mapStream(readLocatedEpisodes(path), concurrency, async (placed) => {
    signal.throwIfAborted()
    const { episode, truth } = placed.saved
    const right = (await accuracy(episode, truth)).total
    const scores = await Promise.all(
      lanes.map(({ reward, name }) => scored(reward, name, episode, truth, { signal })),
    )
    return { ...placed, right, scores }
  })
  for await (const { saved, where, right, scores } of all) {
    const { episode, truth } = saved
    for (const [i, lane] of lanes.entries()) {
      const score = scores[i] as Score // one a lane
      lane.tally.add(truth.caseId, score, right)
      const reason = lane.trouble === undefined ? unavailableReason(score) : undefined
      if (reason !== undefined) lane.trouble = `${where}: episode ${episode.id}: ${reason}`
    }
    pairs.add(scores.map(({ total }) => total))
    const [score] = scores
    if (writer && score) await writer.write({ ...saved, score })
    episodes += 1
    onScored(episodes, lanes.find(({ trouble }) => trouble)?.trouble)
  }
  if (episodes === 0) throw new Fault('bad-input', `${path}: expected saved episodes, found none`)
  return { episodes, byReward: new Map(told(lanes, pairs, seed)) }
}
