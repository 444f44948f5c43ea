/** What training runs keep of a rollout: its token segments, where they come from, and what they earned. */
import type { TokenSegment } from '../../batch.js'
import { assertBatch, normalise } from '../../batch.js'
import type { Episode } from '../../episode.js'
import type { Score } from '../../reward.js'
import { episodeSegments } from '../batches/segments.js'

/** The name and version in the metadata of every file of trajectories; a reader refuses any other. */
export const trajectorySchema = 'bedside-trajectories/1'

/** One token segment with its origin and its reward: one row of a file. */
export interface Trajectory {
  readonly segment: TokenSegment
  /** Place among the segments of its rollout, from 0. */
  readonly index: number
  /** How many segments its rollout has; more than 1 where the token stream was not append-only. */
  readonly count: number
  readonly caseId: string
  readonly agent: string
  /** The env's seed: the same for all siblings of a group; a safe integer. */
  readonly seed: number
  /** The training step, from 0 to 2³¹ - 1. */
  readonly step?: number
  /** The reward of the whole rollout. */
  readonly score?: Score
}

export interface EpisodeTrajectoriesOptions {
  readonly groupId: string
  /** Of every drawn token. @default 0 */
  readonly advantage?: number
  readonly step?: number
  readonly score?: Score
}

/** The trajectories of one episode, in the order of its segments; none for one without samples. */
export function episodeTrajectories(
  episode: Episode,
  { groupId, advantage = 0, step, score }: EpisodeTrajectoriesOptions,
): Trajectory[] {
  const { segments } = episodeSegments(episode, advantage, groupId)
  return segments.map((segment, index) => ({
    segment,
    index,
    count: segments.length,
    caseId: episode.caseId,
    agent: episode.agent,
    seed: episode.seed,
    ...(step === undefined ? {} : { step }),
    ...(score === undefined ? {} : { score }),
  }))
}

/** True for whole numbers a column of 32 bits holds. */
const fits = (n: number, least: number): boolean =>
  Number.isInteger(n) && n >= least && n < 2 ** 31 && !Object.is(n, -0)

/** UTF-8 has no place for half of a surrogate pair, and would give back another text. */
const halved = /\p{Surrogate}/u

/** What is wrong with what stands beside the tokens, if anything. */
function wrongField(one: Trajectory): string | undefined {
  const { segment, index, count, caseId, agent, seed, step, score } = one
  const texts = { rolloutId: segment.rolloutId, groupId: segment.groupId, caseId, agent }
  for (const [field, text] of Object.entries(texts))
    if (halved.test(text)) return `well-formed \`${field}\`, got \`${JSON.stringify(text)}\``
  const drawnOrNot = segment.mask.findIndex((bit) => bit > 1)
  if (drawnOrNot >= 0)
    return `\`mask\` to hold 0 and 1, got \`${segment.mask[drawnOrNot]}\` at token ${drawnOrNot}`
  if (!fits(segment.promptLength, 1))
    return `\`promptLength\` to be a whole number, got \`${segment.promptLength}\``
  if (!fits(count, 1)) return `\`count\` to be a whole number of at least 1, got \`${count}\``
  if (!fits(index, 0) || index >= count)
    return `\`index\` to be a whole number below its \`count\` ${count}, got \`${index}\``
  if (!Number.isSafeInteger(seed) || Object.is(seed, -0))
    return `\`seed\` to be a safe integer, got \`${seed}\``
  if (step !== undefined && !fits(step, 0)) return `\`step\` to be a whole number, got \`${step}\``
  if (!Number.isFinite(segment.temperature))
    return `\`temperature\` to be finite, got \`${segment.temperature}\``
  return score && wrongScore(score)
}

function wrongScore({ total, parts }: Score): string | undefined {
  if (total !== null && !Number.isFinite(total)) return `a finite \`total\`, got \`${total}\``
  for (const [name, part] of Object.entries(parts))
    if (part.status === 'ok' && !Number.isFinite(part.value))
      return `a finite value of the part \`${name}\`, got \`${part.value}\``
  return undefined
}

/**
 * Checks trajectories before any of them is written.
 * @throws RangeError naming the segment and the field: lengths that differ, numbers that are not finite,
 *   a mask of other values than 0 and 1, texts that UTF-8 cannot hold
 */
export function assertTrajectories(trajectories: readonly Trajectory[]): void {
  if (trajectories.length === 0) return
  const segments = trajectories.map(({ segment }) => segment)
  // The rules of a training batch, whatever its loss: what is kept is what could be trained on.
  assertBatch({
    step: 0,
    policyVersion: 0,
    segments,
    normaliser: normalise('sum', segments),
    loss: { kind: 'policy-gradient', entropy: 0 },
    adam: { learningRate: 0 },
  })
  trajectories.forEach((one, i) => {
    const wrong = wrongField(one)
    if (wrong)
      throw new RangeError(`segments[${i}] of rollout ${one.segment.rolloutId}: expected ${wrong}`)
  })
}
