/**
 * Defines a reward from a plain function, and checks its results against its declaration.
 *
 * Error handling depends on whose fault it is. *The world's*: the function throws a `Fault`, times out, or throws an
 * error of its own or of a library. The part is `unavailable` with the reason, so the sample is masked and counted,
 * never scored 0. *The programmer's*: a result that is out of bounds, not finite or not a score rejects with a
 * RangeError or TypeError and ends the run. An error raised by JavaScript itself (TypeError, ReferenceError, RangeError
 * or SyntaxError without a `cause`; those of `fetch` have one) is rethrown as a `Fault` `component-failed` that names
 * the reward, so that one odd episode is reported and left out, and the run goes on.
 */
import type { GraderView } from '../case.js'
import type { Episode } from '../episode.js'
import { errorMessage, Fault, isEpisodeFault } from '../error.js'
import type { Part, Reward, RewardContext, Score } from '../reward.js'
import { notApplicable, ok, unavailable } from '../reward.js'
import { checkTimeout, raceDeadline } from './deadline.js'
import { partScore } from './score.js'

/** Return value of a reward function. A number is the total; null means not applicable. */
export type RewardResult = number | null | Part | Score

/** A scoring function as a researcher writes it: of the episode and the grader's view, sync or async. */
export type RewardFunction = (
  episode: Episode,
  truth: GraderView,
  context: RewardContext,
) => RewardResult | PromiseLike<RewardResult>

/** Arguments of a reward function as one tuple. */
export type RewardArguments = readonly [Episode, GraderView, RewardContext]

/** Name, bounds and provenance of a reward. */
export interface RewardDeclaration {
  /** The name of its part in a score. */
  readonly name: string
  /** @default unbounded */
  readonly bounds?: readonly [low: number, high: number]
  /** The paper or system the formula comes from. @default 'the user' */
  readonly source?: string
  /** Whether it reproduces a published formula as released, bugs included. @default false */
  readonly parity?: boolean
  /** Who is paid. @default the doctor */
  readonly pays?: 'patient'
  /** Timeout of an asynchronous function, in ms; `Infinity` if it keeps a deadline itself. @default 600000 */
  readonly timeoutMs?: number
}

/** Default timeouts, in ms, of a declared reward and of a bare function. */
const defaultTimeoutMs = { declared: 600_000, bare: 60_000 }

const display = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Checks the bounds of `what`. @throws RangeError unless low ≤ high, neither NaN */
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

/** Marks an error as a broken contract (a wrong return value): it ends the run even from inside nested rewards. */
export function markContractError<E extends Error>(error: E): E {
  contractErrors.add(error)
  return error
}

function toScore(name: string, given: unknown): Score {
  if (typeof given === 'number') return partScore(name, ok(given))
  if (given === null) return partScore(name, notApplicable)
  if (typeof given === 'object') {
    // Narrowed by the tag that only one of the two types has.
    if ('status' in given && statuses.has(given.status)) return partScore(name, given as Part)
    if ('total' in given && 'parts' in given) return given as Score
  }
  throw markContractError(
    new TypeError(
      `Expected reward \`${name}\` to return a number, null, a part or a score, got ${display(given)}`,
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
    markContractError(new RangeError(`Expected ${what}, got ${display(got)}`))
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

const isPromise = (given: unknown): given is PromiseLike<RewardResult> =>
  typeof given === 'object' && given !== null && 'then' in given

const languageErrors = [TypeError, ReferenceError, RangeError, SyntaxError]

/** Whether an error comes from a mistake in the reward's code, and not from the world it asked. */
const isProgrammingError = (error: unknown): boolean =>
  languageErrors.some((kind) => error instanceof kind && error.cause === undefined)

/** The score of a reward whose function threw. @throws aborts, broken contracts, and a Fault for a programming error */
function scoreAfterError(name: string, error: unknown, { signal }: RewardContext): Score {
  if (signal?.aborted || (error instanceof Error && contractErrors.has(error))) throw error
  if (Fault.is(error)) {
    if (!isEpisodeFault(error)) throw error
    return partScore(name, unavailable(error.message))
  }
  const message = `reward ${name}: ${errorMessage(error)}`
  if (isProgrammingError(error)) throw new Fault('component-failed', message, { cause: error })
  return partScore(name, unavailable(message))
}

/**
 * Makes a {@link Reward} from a function. An error in the function never becomes a number (see the top of this file).
 * An aborted call rejects at once with the signal's reason.
 * @throws RangeError for invalid bounds or timeout; the reward itself rejects with a RangeError for a value that is not
 * finite or out of bounds, and with a TypeError for a result that is not a score
 */
export function defineReward(
  {
    name,
    bounds = [-Infinity, Infinity],
    source = 'the user',
    parity,
    pays,
    timeoutMs = defaultTimeoutMs.declared,
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
    let given: RewardResult
    try {
      const answer = fn(episode, truth, context)
      // Most rewards answer at once, thousands of times a second: they need no timer.
      given = isPromise(answer)
        ? await raceDeadline(answer, { what, timeoutMs, signal: context.signal })
        : answer
    } catch (error) {
      return scoreAfterError(name, error, context)
    }
    const score = toScore(name, given)
    checkScore(score, name, bounds, episode.turns.length)
    return score
  }
  const declared = { rewardName: name, bounds, source }
  return Object.assign(run, declared, parity ? { parity } : {}, pays ? { pays } : {})
}

/** A reward within [0, 1] by {@link defineReward}. */
export const unitReward = (name: string, source: string, fn: RewardFunction): Reward =>
  defineReward({ name, bounds: [0, 1], source }, fn)

/**
 * Any function as a reward. A reward is returned as it is; a bare function is unbounded and times out after a minute.
 * @param name name of a bare function's part @default the function's own name, or `reward`
 */
export const asReward = (fn: Reward | RewardFunction, name?: string): Reward =>
  'rewardName' in fn
    ? fn
    : defineReward({ name: name ?? (fn.name || 'reward'), timeoutMs: defaultTimeoutMs.bare }, fn)

/** The scoring function of a reward, without its declaration. */
export type ScoreFunction = (
  episode: Episode,
  truth: GraderView,
  context?: RewardContext,
) => Promise<Score>

/** Makes a combinator's reward. Its total is within the bounds by construction, so no result is checked again. */
export function composeReward(
  score: ScoreFunction,
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
