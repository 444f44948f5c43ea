/** Scores saved episodes again with any number of rewards, for `rewards score`. */
import { Fault, isEpisodeFault } from '../../error.js'
import { correlation } from '../../evaluation/accuracy-correlation.js'
import type { ScoreSummary, ScoreTally } from '../../evaluation/streaming-summary.js'
import { scoreTally } from '../../evaluation/streaming-summary.js'
import { mapStream } from '../../platform/concurrency.js'
import { type Reward, type Score, unavailable, unavailableReason } from '../../reward.js'
import { guardUnread } from '../../rewards/unread-facts.js'
import {
  type EpisodeWriter,
  type ReadOtherRow,
  readLocatedEpisodes,
} from '../../storage/episode-files.js'

/** Options of {@link rescore}. */
export interface RescoreOptions {
  /** Rewards by the name to report them under. */
  readonly rewards: ReadonlyMap<string, Reward>
  /** The reward that measures accuracy. */
  readonly accuracy: Reward
  /** Seed of the bootstrap intervals. */
  readonly seed: number
  /** Episodes scored at once; speeds up only rewards that wait, as for a judge. @default 8 */
  readonly concurrency?: number | undefined
  readonly signal: AbortSignal
  /** Receives the episodes with the score of the first reward; not closed here. */
  readonly writer?: EpisodeWriter | undefined
  /** Reads rows that are no saved episodes. */
  readonly readOther?: ReadOtherRow
  /** Called after each episode. `trouble` describes the first episode that could not be scored. */
  readonly onScored?: (done: number, trouble: string | undefined) => void
}

/** One reward over the episodes: summary and correlations. */
export interface RescoredReward extends ScoreSummary {
  readonly bounds: Reward['bounds']
  /** Pearson correlation of totals over episodes; null when either has no variance. */
  readonly correlation: {
    readonly accuracy: number | null
    readonly parts: Readonly<Record<string, number | null>>
    readonly rewards: Readonly<Record<string, number | null>>
  }
  /** The first episode left unscored by a world's fault: its location and the reason. */
  readonly trouble: string | undefined
  /** True when there were too many cases to resample singly, so bundles of cases were. */
  readonly bundled: boolean
}

/** Result of {@link rescore}. */
export interface RescoreReport {
  readonly episodes: number
  readonly byReward: ReadonlyMap<string, RescoredReward>
}

/** Running tally of one reward. */
interface Lane {
  readonly name: string
  readonly reward: Reward
  readonly tally: ScoreTally
  trouble: string | undefined
}

/** Streaming correlations of every pair of rewards. */
function correlateAll(count: number) {
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

/** Scores an episode; a world's fault gives an unavailable score. */
async function tryScore(
  reward: Reward,
  name: string,
  ...given: Parameters<Reward>
): Promise<Score> {
  try {
    return await reward(...given)
  } catch (error) {
    if (!isEpisodeFault(error) || given[2]?.signal?.aborted) throw error
    return { total: null, parts: { [name]: unavailable(error.message) } }
  }
}

function summarize(lanes: readonly Lane[], pairs: ReturnType<typeof correlateAll>, seed: number) {
  return lanes.map(({ name, reward, tally, trouble }, i): [string, RescoredReward] => {
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

async function* readAll(paths: readonly string[], readOther: ReadOtherRow | undefined) {
  for (const path of paths) yield* readLocatedEpisodes(path, readOther)
}

/**
 * Reads the episodes of the paths once and scores each with every reward. Scores are counted in file order, so
 * `concurrency` does not change the report. A world's fault leaves its episode unscored and is reported; a reward that
 * breaks its contract throws.
 * @throws Fault `bad-input` for a path without episodes, or one that cannot be read
 */
export async function rescore(
  paths: readonly string[],
  options: RescoreOptions,
): Promise<RescoreReport> {
  const { rewards, accuracy, seed, concurrency = 8, signal, writer, onScored = () => {} } = options
  const lanes: readonly Lane[] = [...rewards].map(([name, reward]) => ({
    ...{ name, reward, tally: scoreTally(reward.bounds), trouble: undefined },
  }))
  const pairs = correlateAll(lanes.length)
  let episodes = 0
  const all = mapStream(readAll(paths, options.readOther), concurrency, async (placed) => {
    signal.throwIfAborted()
    const { truth } = placed.saved
    const episode = guardUnread(placed.saved.episode)
    const right = (await accuracy(episode, truth)).total
    const scores = await Promise.all(
      lanes.map(({ reward, name }) => tryScore(reward, name, episode, truth, { signal })),
    )
    return { ...placed, right, scores }
  })
  for await (const { saved, where, right, scores } of all) {
    const { episode, truth } = saved
    for (const [i, lane] of lanes.entries()) {
      const score = scores[i] as Score // one per lane
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
  if (episodes === 0)
    throw new Fault('bad-input', `${paths.join(', ')}: expected saved episodes, found none`)
  return { episodes, byReward: new Map(summarize(lanes, pairs, seed)) }
}
