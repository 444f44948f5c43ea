/**
 * The environment interface: Gymnasium's semantics, with constructors that cannot lie.
 *
 * An env runs one episode at a time. `step` before `reset` or after the end throws. A last step is either
 * a termination (the doctor ended it) or a truncation (a limit did), never both, and says why.
 */
import type { DoctorView } from './case.js'
import type { Episode } from './episode.js'
import type { Score } from './reward.js'
import type { Action, Language, Stop, Turn, TurnFacts } from './turn.js'

/** Everything the doctor may know, and nothing else: an agent is a function of it. */
export interface Observation {
  readonly intake: DoctorView
  readonly turns: readonly Turn[]
  readonly turnsLeft: number
  readonly spent: { readonly money: number; readonly minutes: number }
  readonly budget: { readonly money: number; readonly minutes: number }
  readonly language: Language
}

/** What a reset or a step says beside the observation: for recorders and rewards, not for the doctor. */
export interface Info {
  readonly caseId: string
  readonly seed: number
  /** What really happened in the last turn; absent after `reset`. */
  readonly facts?: TurnFacts
  /** Present exactly on the last step. */
  readonly stop?: Stop
  /** The finished episode; present exactly on the last step. */
  readonly episode?: Episode
  /** Its score, on the last step of an env that has a reward. */
  readonly score?: Score
}

export interface ResetOptions<Options = object> {
  /** Decides everything random. @default 0 */
  readonly seed?: number
  readonly options?: Options
}

/** The start of an episode. */
export interface Reset<O = Observation, I = Info> {
  readonly observation: O
  readonly info: I
}

/** One step's five-tuple. */
export interface Step<O = Observation, I = Info> {
  readonly observation: O
  readonly reward: number
  readonly terminated: boolean
  readonly truncated: boolean
  readonly info: I
}

/**
 * An environment of observations `O` and actions `A`; text is an action where the env has a grammar.
 * `await using` closes it at the end of a block.
 */
export interface Env<O = Observation, A = Action | string, I extends object = Info>
  extends AsyncDisposable {
  reset(start?: ResetOptions): Promise<Reset<O, I>>
  step(action: A, options?: { readonly signal?: AbortSignal }): Promise<Step<O, I>>
  /** Gives back what the env holds, at any time and as often as one likes; `[Symbol.asyncDispose]` calls it. */
  close(): Promise<void>
}

/** The episode goes on. */
export const transition = <O, I>(observation: O, info: I, reward = 0): Step<O, I> => ({
  observation,
  reward,
  terminated: false,
  truncated: false,
  info,
})

/** The doctor ended the episode. */
export const termination = <O, I>(
  observation: O,
  info: I & { readonly stop: string },
  reward = 0,
): Step<O, I> => ({ observation, reward, terminated: true, truncated: false, info })

/** A limit ended the episode. */
export const truncation = <O, I>(
  observation: O,
  info: I & { readonly stop: string },
  reward = 0,
): Step<O, I> => ({ observation, reward, terminated: false, truncated: true, info })

/** Whether a step was the last. */
export const ended = (step: Step<unknown, unknown>): boolean => step.terminated || step.truncated
