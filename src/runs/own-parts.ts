/**
 * Parts of a user's own: objects that a program passes to `train` in place of those named by the recipe, and modules
 * that a recipe names. Those of a stored run are executed only with `trust`.
 */
import type { AnyAgent } from '../agent.js'
import type { Backend } from '../backend.js'
import type { Env } from '../env.js'
import { Fault } from '../error.js'
import type { AnyExamSimulator } from '../exam.js'
import type { Patient } from '../patient.js'
import type { RewardFunction } from '../rewards/define.js'
import { isModule } from '../tasks/modules.js'
import type { MakeBackend } from './own-backends.js'
import { namedParts, type OwnPartName, ownPartNames, type Recipe } from './recipe.js'
import type { PartKey } from './recipe-paths.js'

/** Objects that replace parts named by a recipe. */
export interface OwnParts {
  /**
   * Factory of envs for training (called with the step) and evaluation (without). An env must play the case of
   * `reset({ options: { case } })` and return `info.episode` with its last step.
   */
  readonly env?: (step?: number) => Env
  readonly patient?: Patient
  /** Exam simulators, asked in order until one has a result. */
  readonly exams?: AnyExamSimulator | readonly AnyExamSimulator[]
  /** A reward, or a bare function. */
  readonly reward?: RewardFunction
  /** Agents by name, for demonstrations (`training.sft.agent`) and in the task of the result. */
  readonly agents?: Readonly<Record<string, AnyAgent>>
  /** An open backend, which its owner closes, or a factory, whose backend the run closes. */
  readonly backend?: Backend | MakeBackend
}

/** Checks that the parts listed in a recipe's `own` are given again. @throws Fault `bad-input` */
export function assertPartsGiven(
  { own = [] }: Recipe,
  given: readonly OwnPartName[],
  hint: string,
): void {
  const missing = own.filter((part) => !given.includes(part))
  if (missing.length === 0) return
  const names = missing.map((part) => `\`${part}\``).join(' and ')
  throw new Fault(
    'bad-input',
    `own: this run was given ${names} by a program, which no recipe can hold; expected the same again (${hint}), got none`,
  )
}

/** The parts among the options that were given, in the order of `ownPartNames`. */
export const givenParts = (options: OwnParts): OwnParts =>
  Object.fromEntries(
    ownPartNames.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )

/** The module files that a recipe names, each with its key. */
export const recipeModules = (
  recipe: Recipe,
): readonly { readonly key: PartKey; readonly file: string }[] =>
  namedParts(recipe).flatMap(({ key, name }) => (isModule(name) ? [{ key, file: name }] : []))

/** Which modules of a stored recipe may be executed. */
export interface TrustOptions {
  /** Whether modules named by the stored recipe may be executed. @default false */
  readonly trust?: boolean
  /** Keys whose parts the caller will load; others are not checked. @default all */
  readonly keys?: readonly PartKey[]
}

/** Refuses modules named by a stored run in `folder` unless `trust` is given. @throws Fault `bad-input` */
export function assertTrustedModules(
  folder: string,
  modules: readonly { readonly key: string; readonly file: string }[],
  trust: boolean,
): void {
  if (trust || modules.length === 0) return
  const named = modules.map(({ key, file }) => `the module ${file} (${key})`).join(' and ')
  throw new Fault(
    'bad-input',
    `${folder}: what is stored here names ${named}; expected --trust, with which it is executed, got none`,
  )
}

/** Refuses a stored recipe that names modules unless `trust` is given. @throws Fault `bad-input` */
export const assertTrusted = (
  folder: string,
  recipe: Recipe,
  { trust = false, keys }: TrustOptions,
): void =>
  assertTrustedModules(
    folder,
    recipeModules(recipe).filter(({ key }) => keys?.includes(key) ?? true),
    trust,
  )
