/** The options of `train`, and what each may be. */
import { callable, type OptionRule, type OptionRules, required } from '../envs/options.js'
import type { TrainingEmitter } from '../trainers/events.js'
import type { LoopParts } from './loops.js'
import type { OwnParts } from './own-parts.js'

/** Options of `train`: run directory, callbacks, and parts that replace those named by the recipe. */
export interface TrainOptions extends OwnParts {
  /** Run directory; created if missing, refused if it holds another recipe's run. */
  readonly out: string
  /** Called after each step with its result; returning `'stop'` ends the run there, resumable. */
  readonly onStep?: LoopParts['afterStep']
  /** Emitter that receives the run's events. @default a new one */
  readonly events?: TrainingEmitter
  readonly signal?: AbortSignal | undefined
  /** Resumes with case, demonstration and module files that are no longer as they were. @default false */
  readonly acceptChanges?: boolean
}

/** Checks an option by its `typeof`. */
const typed = (expected: string, ...types: readonly string[]): OptionRule => ({
  expected,
  fits: (value) => types.includes(typeof value),
})

/** Checks of the options of `train`. */
export const trainRules: OptionRules<TrainOptions> = {
  out: required(typed('the path of a run directory', 'string')),
  env: callable,
  patient: typed('a patient, its name or a module', 'function', 'string'),
  exams: typed('an exam simulator, or a list of them', 'function', 'string', 'object'),
  reward: typed('a reward, its name or a module', 'function', 'string'),
  agents: typed('agents by name', 'object'),
  backend: typed('a backend, or a function that opens one', 'object', 'function', 'string'),
  onStep: callable,
  events: typed('an emitter', 'object'),
  signal: typed('an AbortSignal', 'object'),
  acceptChanges: typed('true or false', 'boolean'),
}
