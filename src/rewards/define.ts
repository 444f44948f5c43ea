/** Makes a reward out of a plain function, and holds what it returns to its declaration. */
import type { GraderView } from '../case.js'
import type { Episode } from '../episode.js'
import { Fault, messageOf } from '../error.js'
import type { Part, Reward, RewardContext, Score } from '../reward.js'
import { notApplicable, ok, unavailable } from '../reward.js'
import { scoreOf } from './score.js'

/** What a reward function may return; a number is the total, null says that it does not apply. */
export type Scored = number | null | Part | Score

/** The least a researcher writes: a function of the episode and the grader's view, sync or async. */
export type RewardFunction = (
  episode: Episode,
  truth: GraderView,
  context: RewardContext,
) => Scored | PromiseLike<Scored>

/** What a reward says about itself. */
export interface RewardDeclaration {
  /** The name of its part in a score. */
  readonly name: string
  /** @default unbounded */
  readonly bounds?: readonly [low: number, high: number]
  /** The paper or system the formula comes from. @default 'the user' */
  readonly source?: string
  /** A published formula as released, faults included. @default false */
  readonly parity?: boolean
}

const shown = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/** @throws RangeError unless low ≤ high, neither NaN */
export function checkBounds(what: string, [low, high]: readonly [number, number]): void {
  if (!(low <= high))
    throw new RangeError(`Expected bounds of \`${what}\` with low ≤ high, got [${low}, ${high}]`)
}

/** The score a function's return value means. */
function read(name: string, given: unknown): Score {
  if (typeof given === 'number') return scoreOf(name, ok(given))
  if (given === null) return scoreOf(name, notApplicable)
  if (typeof given === 'object') {
    // Narrowed by the tag each of the two types alone has.
    if ('status' in given) return scoreOf(name, given as Part)
    if ('total' in given && 'parts' in given) return given as Score
  }
  throw new TypeError(
    `Expected reward \`${name}\` to return a number, null, a part or a score, got ${shown(given)}`,
  )
}

function checkScore(name: string, { total, parts }: Score, low: number, high: number): void {
  if (total !== null && !(Number.isFinite(total) && total >= low && total <= high))
    throw new RangeError(
      `Expected reward \`${name}\` to be finite and within [${low}, ${high}], got ${shown(total)}`,
    )
  for (const key in parts) {
    const part = parts[key]
    if (part?.status === 'ok' && !Number.isFinite(part.value))
      throw new RangeError(
        `Expected part \`${key}\` of reward \`${name}\` to be finite, got ${shown(part.value)}`,
      )
  }
}

/**
 * Makes a {@link Reward}. A `Fault` that the function throws (a judge is down) becomes an unavailable part;
 * anything else it throws is a mistake in it and is rethrown as a `Fault` `component-failed` with its name.
 * Neither ever becomes a number. An aborted call rethrows.
 * @throws RangeError for bounds that are none; the reward itself rejects with one for a value that is not
 * finite or out of bounds, and with a TypeError for what is no score
 */
export function defineReward(
  { name, bounds = [-Infinity, Infinity], source = 'the user', parity }: RewardDeclaration,
  fn: RewardFunction,
): Reward {
  checkBounds(name, bounds)
  const [low, high] = bounds
  const run = async (
    episode: Episode,
    truth: GraderView,
    context: RewardContext = {},
  ): Promise<Score> => {
    let given: Scored
    try {
      given = await fn(episode, truth, context)
    } catch (error) {
      if (context.signal?.aborted) throw error
      if (!Fault.is(error))
        throw new Fault('component-failed', `reward ${name}: ${messageOf(error)}`, { cause: error })
      if (error.code === 'aborted') throw error
      return scoreOf(name, unavailable(error.message))
    }
    const score = read(name, given)
    checkScore(name, score, low, high)
    return score
  }
  const declared = { rewardName: name, bounds, source }
  return Object.assign(run, parity ? { ...declared, parity } : declared)
}

const isReward = (fn: Reward | RewardFunction): fn is Reward => 'rewardName' in fn

/**
 * Any function as a reward: one that is already a reward stays itself, a bare one is unbounded.
 * @param name of the part a bare function makes @default the function's own name, or `reward`
 */
export const asReward = (fn: Reward | RewardFunction, name?: string): Reward =>
  isReward(fn) ? fn : defineReward({ name: name ?? (fn.name || 'reward') }, fn)

/** The bare work of a reward, without what it says about itself. */
export type Scoring = (
  episode: Episode,
  truth: GraderView,
  context?: RewardContext,
) => Promise<Score>

/** A combinator's reward: within its bounds by construction, so nothing is checked again. */
export function composite(
  score: Scoring,
  {
    name,
    bounds,
    source,
    weights,
  }: Required<Omit<RewardDeclaration, 'parity'>> & {
    readonly weights?: Reward['weights'] | undefined
  },
): Reward {
  checkBounds(name, bounds)
  const declared = { rewardName: name, bounds, source }
  return Object.assign(score, weights ? { ...declared, weights } : declared)
}
