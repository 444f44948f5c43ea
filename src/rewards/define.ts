/**
 * Makes a reward out of a plain function, and holds what it does to its declaration.
 *
 * Whose fault it is decides what happens. *The world's*, when it throws a `Fault`, answers too late, or throws an
 * error of its own or of a library: the part is `unavailable` with the reason, so the sample is masked and counted,
 * and never scored 0. *The programmer's*: what it returns is out of bounds, no number or no score at all rejects with
 * a RangeError or TypeError, which ends the run; an error that JavaScript itself raises in it (a TypeError,
 * ReferenceError, RangeError or SyntaxError without a cause, for `fetch` gives its own one) is rethrown as a `Fault`
 * `component-failed` that names the reward, so that one odd episode is reported and left out, and the run goes on.
 */
import type { GraderView } from '../case.js'
import type { Episode } from '../episode.js'
import { Fault, messageOf } from '../error.js'
import type { Part, Reward, RewardContext, Score } from '../reward.js'
import { notApplicable, ok, unavailable } from '../reward.js'
import { beforeDeadline, checkTimeout } from './deadline.js'
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
  /** Whom it pays. @default the doctor */
  readonly pays?: 'patient'
  /** How long an asynchronous function may take, in ms; `Infinity` where it keeps a deadline itself. @default 600000 */
  readonly timeoutMs?: number
}

/** How long is waited for a function that its author declared, and for a bare one. */
const patience = { declared: 600_000, bare: 60_000 }

const shown = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/** @throws RangeError unless low ≤ high, neither NaN */
export function checkBounds(what: string, [low, high]: readonly [number, number]): void {
  if (!(low <= high))
    throw new RangeError(`Expected bounds of \`${what}\` with low ≤ high, got [${low}, ${high}]`)
}

const statuses: ReadonlySet<unknown> = new Set<Part['status']>([
  'ok',
  'unavailable',
  'not-applicable',
])

const contractErrors = new WeakSet<object>()

/** Marks an error about what a function returned: it ends the run, however many rewards it was returned through. */
export function broken<E extends Error>(error: E): E {
  contractErrors.add(error)
  return error
}

/** The score a function's return value means. */
function read(name: string, given: unknown): Score {
  if (typeof given === 'number') return scoreOf(name, ok(given))
  if (given === null) return scoreOf(name, notApplicable)
  if (typeof given === 'object') {
    // Narrowed by the tag each of the two types alone has.
    if ('status' in given && statuses.has(given.status)) return scoreOf(name, given as Part)
    if ('total' in given && 'parts' in given) return given as Score
  }
  throw broken(
    new TypeError(
      `Expected reward \`${name}\` to return a number, null, a part or a score, got ${shown(given)}`,
    ),
  )
}

function checkScore(
  { total, parts, turns }: Score,
  name: string,
  [low, high]: readonly [number, number],
  length: number,
): void {
  const wrong = (what: string, got: unknown) =>
    broken(new RangeError(`Expected ${what}, got ${shown(got)}`))
  if (total !== null && !(Number.isFinite(total) && total >= low && total <= high))
    throw wrong(`reward \`${name}\` to be finite and within [${low}, ${high}]`, total)
  for (const key in parts) {
    const part = parts[key]
    if (part?.status === 'ok' && !Number.isFinite(part.value))
      throw wrong(`part \`${key}\` of reward \`${name}\` to be finite`, part.value)
  }
  if (turns && !(turns.length === length && turns.every(Number.isFinite)))
    throw wrong(`\`turns\` of reward \`${name}\` to be ${length} finite numbers`, turns)
}

const isPromise = (given: unknown): given is PromiseLike<Scored> =>
  typeof given === 'object' && given !== null && 'then' in given

const ownErrors = [TypeError, ReferenceError, RangeError, SyntaxError]

/** Whether an error tells of a mistake in the code that threw it, and not of the world that code asked. */
const isMistake = (error: unknown): boolean =>
  ownErrors.some((kind) => error instanceof kind && error.cause === undefined)

/** What a function that threw amounts to. @throws what is nobody's fault but the caller's or the programmer's */
function afterError(name: string, error: unknown, { signal }: RewardContext): Score {
  if (signal?.aborted || (error instanceof Error && contractErrors.has(error))) throw error
  if (Fault.is(error)) {
    if (error.code === 'aborted') throw error
    return scoreOf(name, unavailable(error.message))
  }
  const message = `reward ${name}: ${messageOf(error)}`
  if (isMistake(error)) throw new Fault('component-failed', message, { cause: error })
  return scoreOf(name, unavailable(message))
}

/**
 * Makes a {@link Reward}. Nothing that goes wrong in the function ever becomes a number; what it becomes is told
 * above. An aborted call rejects at once with the signal's reason.
 * @throws RangeError for bounds or a time that are none; the reward itself rejects with one for a value that is not
 * finite or out of bounds, and with a TypeError for what is no score
 */
export function defineReward(
  {
    name,
    bounds = [-Infinity, Infinity],
    source = 'the user',
    parity,
    pays,
    timeoutMs = patience.declared,
  }: RewardDeclaration,
  fn: RewardFunction,
): Reward {
  checkBounds(name, bounds)
  checkTimeout(name, timeoutMs)
  const what = `reward ${name}`
  const run = async (
    episode: Episode,
    truth: GraderView,
    context: RewardContext = {},
  ): Promise<Score> => {
    let given: Scored
    try {
      const answer = fn(episode, truth, context)
      // Most rewards answer at once, thousands of times a second: they need no timer.
      given = isPromise(answer)
        ? await beforeDeadline(answer, { what, timeoutMs, signal: context.signal })
        : answer
    } catch (error) {
      return afterError(name, error, context)
    }
    const score = read(name, given)
    checkScore(score, name, bounds, episode.turns.length)
    return score
  }
  const declared = { rewardName: name, bounds, source }
  return Object.assign(run, declared, parity ? { parity } : {}, pays ? { pays } : {})
}

const isReward = (fn: Reward | RewardFunction): fn is Reward => 'rewardName' in fn

/**
 * Any function as a reward: one that is already a reward stays itself, a bare one is unbounded and has a minute.
 * @param name of the part a bare function makes @default the function's own name, or `reward`
 */
export const asReward = (fn: Reward | RewardFunction, name?: string): Reward =>
  isReward(fn)
    ? fn
    : defineReward({ name: name ?? (fn.name || 'reward'), timeoutMs: patience.bare }, fn)

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
  }: Required<Omit<RewardDeclaration, 'parity' | 'pays' | 'timeoutMs'>> & {
    readonly weights?: Reward['weights'] | undefined
  },
): Reward {
  checkBounds(name, bounds)
  const declared = { rewardName: name, bounds, source }
  return Object.assign(score, weights ? { ...declared, weights } : declared)
}
