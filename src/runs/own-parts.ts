/** Parts that a program passes to `train` in place of those named by the recipe. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AnyAgent } from '../agent.js'
import type { Backend } from '../backend.js'
import type { Env } from '../env.js'
import { Fault } from '../error.js'
import type { ExamSimulator } from '../exam.js'
import type { Patient } from '../patient.js'
import type { RewardFunction } from '../rewards/define.js'
import { readStoredRecipe } from './directory.js'
import type { MakeBackend } from './own-backends.js'
import { type OwnPartName, ownPartNames, type Recipe } from './recipe.js'

/** Objects that replace parts named by a recipe. */
export interface OwnParts {
  /**
   * Factory of envs for training (called with the step) and evaluation (without). An env must play the case of
   * `reset({ options: { case } })` and return `info.episode` with its last step.
   */
  readonly env?: (step?: number) => Env
  readonly patient?: Patient
  /** Exam simulators; the first that knows an order carries it out. */
  readonly exams?: ExamSimulator | readonly ExamSimulator[]
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

/** Checks `parts` against the `own` of the recipe and of the run in `out`. @throws Fault `bad-input`, TypeError */
export async function assertOwnParts(recipe: Recipe, out: string, parts: OwnParts): Promise<void> {
  const begun = existsSync(join(out, 'config.yaml')) ? [await readStoredRecipe(out)] : []
  const given = ownPartNames.filter((part) => parts[part] !== undefined)
  for (const one of [recipe, ...begun])
    assertPartsGiven(one, given, `\`train(recipe, { out: '${out}', … })\``)
  if (parts.env !== undefined && typeof parts.env !== 'function')
    throw new TypeError(`Expected \`env\` to be a function that makes an env, got \`${parts.env}\``)
}

/** The parts that `task` takes, without undefined values. */
export const taskParts = ({
  patient,
  exams,
  reward,
  agents,
}: OwnParts): Pick<OwnParts, 'patient' | 'exams' | 'reward' | 'agents'> => ({
  ...(patient === undefined ? {} : { patient }),
  ...(exams === undefined ? {} : { exams }),
  ...(reward === undefined ? {} : { reward }),
  ...(agents === undefined ? {} : { agents }),
})

/** Adds the names of the given parts to the recipe, as `own`. */
export function recordOwnParts(recipe: Recipe, parts: OwnParts): Recipe {
  const given = ownPartNames.filter((part) => parts[part] !== undefined)
  return given.length === 0 ? recipe : { ...recipe, own: given }
}

/** Wraps an env to check that it plays the case it is reset with. @throws TypeError on `reset` */
export function checkEnvCase(env: Env): Env {
  return {
    async reset(start = {}) {
      const first = await env.reset(start)
      const truth: unknown = start.options && Reflect.get(start.options, 'case')
      const wanted: unknown = truth ? Reflect.get(Object(truth), 'id') : undefined
      if (wanted !== undefined && first.info.caseId !== wanted)
        throw new TypeError(
          `Expected an env that plays the case it is reset with, \`${wanted}\`; got \`${first.info.caseId}\``,
        )
      return first
    },
    step: (action, options) => env.step(action, options),
    close: () => env.close(),
    [Symbol.asyncDispose]: () => env.close(),
  }
}
