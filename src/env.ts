/**
 * The environment interface with Gymnasium semantics, and the constructors of its steps.
 *
 * An env runs one episode at a time. `step` before `reset` or after the end throws. The last step is either a
 * termination (the doctor ended the episode) or a truncation (a limit did), never both, and gives the reason.
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

/** Side information of a reset or step, for recorders and rewards; the doctor never sees it. */
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
  /** Keys all randomness of the episode. @default 0 */
  readonly seed?: number
  readonly options?: Options
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
  /** Starts a new episode. */
  reset(start?: ResetOptions): Promise<Reset<O, I>>
  /** Takes one action. @throws before `reset` and after the end of the episode */
  step(action: A, options?: { readonly signal?: AbortSignal }): Promise<Step<O, I>>
  /** Releases the env's resources; safe at any time and more than once. `[Symbol.asyncDispose]` calls it. */
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
