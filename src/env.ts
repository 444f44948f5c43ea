/**
 * The environment interface with Gymnasium semantics, and the constructors of its steps.
 *
 * An env runs one episode at a time. `step` before `reset` or after the end throws. The last step is either a
 * termination (the doctor ended the episode) or a truncation (a limit did), never both, and gives the reason.
 *
 * An env is a transaction: a call while another is under way is refused, and a step that is aborted or fails leaves no
 * trace. What the doctor sees ({@link Observation}), what a recorder may keep ({@link Info}) and what a grader may know
 * (`GraderView`) are three types.
 */
import type { DoctorView } from './case.js'
import type { Episode } from './episode.js'
import type { Score } from './reward.js'
import type { Action, Language, Stop, Turn, TurnFacts } from './turn.js'

/** Input of an agent: everything the doctor may know and nothing else. */
export interface Observation {
  readonly intake: DoctorView
  readonly turns: readonly Turn[]
  readonly turnsLeft: number
  readonly spent: { readonly money: number; readonly minutes: number }
  readonly budget: { readonly money: number; readonly minutes: number }
  readonly language: Language
}

/** What a recorder may keep of a reset or step. The doctor never sees it: its ids and facts tell what the case is. */
export interface Info {
  readonly caseId: string
  readonly seed: number
  /** Facts of the last turn; absent after `reset`. */
  readonly facts?: TurnFacts
  /** Present exactly on the last step. */
  readonly stop?: Stop
  /** The finished episode; present exactly on the last step. */
  readonly episode?: Episode
  /** The episode's score, on the last step of an env with a reward. */
  readonly score?: Score
}

/** Argument of {@link Env.reset}. */
export interface ResetOptions<Options = object> {
  /** Keys all randomness of the episode: an unsigned 32-bit integer. @default 0 */
  readonly seed?: number
  readonly options?: Options
  readonly signal?: AbortSignal | undefined
}

/** Options of {@link Env.step}. */
export interface StepOptions {
  /** Ends the wait for a patient, an examination or a reward; the env stays where it was. */
  readonly signal?: AbortSignal | undefined
  /**
   * Number of steps before this one. A step that was taken already is answered as it was then, if the action is the
   * same, and refused if it is another: a caller that lost an answer may ask again. @default the next step
   */
  readonly index?: number | undefined
}

/** Result of `reset`: the first observation of an episode. */
export interface Reset<O = Observation, I = Info> {
  readonly observation: O
  readonly info: I
}

/** Result of `step`: Gymnasium's five-tuple. */
export interface Step<O = Observation, I = Info> {
  readonly observation: O
  readonly reward: number
  readonly terminated: boolean
  readonly truncated: boolean
  readonly info: I
}

/**
 * An environment with observations `O` and actions `A`. Text is an action where the env has a grammar.
 * `await using` closes it at the end of a block.
 */
export interface Env<O = Observation, A = Action | string, I extends object = Info>
  extends AsyncDisposable {
  /** Starts a new episode. @throws while a call is under way, and after `close` */
  reset(start?: ResetOptions): Promise<Reset<O, I>>
  /**
   * Takes one action. A malformed action is an outcome that the doctor sees.
   * @throws before `reset`, after the end of the episode, while a call is under way, and after `close`; a Fault where
   *   the world fails, or the reason of an aborted signal: the env is then where it was before
   */
  step(action: A, options?: StepOptions): Promise<Step<O, I>>
  /**
   * The running episode as plain data, to go on with in another process; absent where an env cannot. It holds the case:
   * keep it from the doctor. @throws before `reset`, after the end, and while a call is under way
   */
  save?(): unknown
  /** Goes on with a saved episode of an env with the same options, as if it had been reset and played here. */
  restore?(saved: unknown): Promise<Reset<O, I>>
  /** Releases the env's resources for good; safe at any time and more than once. `[Symbol.asyncDispose]` calls it. */
  close(): Promise<void>
}

/** Makes a step after which the episode continues. */
export const transition = <O, I>(observation: O, info: I, reward = 0): Step<O, I> => ({
  observation,
  reward,
  terminated: false,
  truncated: false,
  info,
})

/** Makes a last step: the doctor ended the episode. */
export const termination = <O, I>(
  observation: O,
  info: I & { readonly stop: string },
  reward = 0,
): Step<O, I> => ({ observation, reward, terminated: true, truncated: false, info })

/** Makes a last step: a limit ended the episode. */
export const truncation = <O, I>(
  observation: O,
  info: I & { readonly stop: string },
  reward = 0,
): Step<O, I> => ({ observation, reward, terminated: false, truncated: true, info })

/** Whether a step is the last of its episode. */
export const ended = (step: Step<unknown, unknown>): boolean => step.terminated || step.truncated
