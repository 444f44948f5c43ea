/** Trajectories: token segments of a rollout with their origin and reward, as training runs store them. */
import { assertBatch, makeNormaliser, type TokenSegment } from '../../batch.js'
import type { Episode, Role } from '../../episode.js'
import type { Score } from '../../reward.js'
import { episodeSegments } from '../batches/segments.js'

/** Schema name and version in the metadata of every trajectory file that is written. */
export const trajectorySchema = 'bedside-trajectories/2'

/** Schemas that are read; version 1 had no role and no policy: the doctor's, named as the agent. */
export const readableSchemas: readonly string[] = ['bedside-trajectories/1', trajectorySchema]

/** One token segment with its origin and reward: one row of a trajectory file. */
export interface Trajectory {
  readonly segment: TokenSegment
  /** Index among the segments of its rollout, from 0. */
  readonly index: number
  /** Number of segments of its rollout; more than 1 where the token stream was not append-only. */
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

/** Training data that an episode itself does not have. */
export interface EpisodeTrajectoriesOptions {
  readonly groupId: string
  /** Advantage of every drawn token. @default 0 */
  readonly advantage?: number
  /** The training step, from 0. */
  readonly step?: number
  /** The reward of the episode. */
  readonly score?: Score
  /** Whose draws. @default 'doctor' */
  readonly role?: Role
}

/** Trajectories of one episode, in the order of its segments; none for an episode without samples. */
export function episodeTrajectories(
  episode: Episode,
  { groupId, advantage = 0, step, score, role = 'doctor' }: EpisodeTrajectoriesOptions,
): Trajectory[] {
  const { segments } = episodeSegments(episode, advantage, groupId, { role })
  const { caseId, agent, seed } = episode
  return segments.map((segment, index) => ({
    ...{ segment, index, count: segments.length, caseId, agent, seed },
    ...(step === undefined ? {} : { step }),
    ...(score === undefined ? {} : { score }),
  }))
}

/** True for integers that an int32 column holds. */
const isInt32 = (n: number, least: number): boolean =>
  Number.isInteger(n) && n >= least && n < 2 ** 31 && !Object.is(n, -0)

/** A lone surrogate: UTF-8 cannot encode it, so another text would be read back. */
const loneSurrogate = /\p{Surrogate}/u

/** Describes the first invalid field beside the tokens, if any. */
function findInvalidField(one: Trajectory): string | undefined {
  const { segment, index, count, caseId, agent, seed, step, score } = one
  const { rolloutId, groupId, policy = '' } = segment
  const texts = { rolloutId, groupId, policy, caseId, agent }
  for (const [field, text] of Object.entries(texts))
    if (loneSurrogate.test(text)) return `well-formed \`${field}\`, got \`${JSON.stringify(text)}\``
  const badBit = segment.mask.findIndex((bit) => bit > 1)
  if (badBit >= 0)
    return `\`mask\` to hold 0 and 1, got \`${segment.mask[badBit]}\` at token ${badBit}`
  if (!isInt32(segment.promptLength, 1))
    return `\`promptLength\` to be a whole number, got \`${segment.promptLength}\``
  if (!isInt32(count, 1)) return `\`count\` to be a whole number of at least 1, got \`${count}\``
  if (!isInt32(index, 0) || index >= count)
    return `\`index\` to be a whole number below its \`count\` ${count}, got \`${index}\``
  if (!Number.isSafeInteger(seed) || Object.is(seed, -0))
    return `\`seed\` to be a safe integer, got \`${seed}\``
  if (step !== undefined && !isInt32(step, 0))
    return `\`step\` to be a whole number, got \`${step}\``
  if (!Number.isFinite(segment.temperature))
    return `\`temperature\` to be finite, got \`${segment.temperature}\``
  return score && findInvalidScore(score)
}

function findInvalidScore({ total, parts }: Score): string | undefined {
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
  // The rules of a training batch of any loss: stored segments are ones that could be trained on.
  assertBatch({
    step: 0,
    policyVersion: 0,
    segments,
    normaliser: makeNormaliser('sum', segments),
    loss: { kind: 'policy-gradient', entropy: 0 },
    adam: { learningRate: 0 },
  })
  trajectories.forEach((one, i) => {
    const invalid = findInvalidField(one)
    if (invalid)
      throw new RangeError(
        `segments[${i}] of rollout ${one.segment.rolloutId}: expected ${invalid}`,
      )
  })
}
