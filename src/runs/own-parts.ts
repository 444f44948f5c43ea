/** Parts of a run that a program gives `train` in place of what the recipe names. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AnyAgent } from '../agent.js'
import type { Backend } from '../backend.js'
import type { Env } from '../env.js'
import { Fault } from '../error.js'
import type { ExamSimulator } from '../exam.js'
import type { Patient } from '../patient.js'
import type { RewardFunction } from '../rewards/define.js'
import { storedRecipe } from './directory.js'
import type { MakeBackend } from './own-backends.js'
import type { OwnPartName, Recipe } from './recipe.js'
import { ownPartNames } from './recipe.js'

/** What a program can give a run in place of what its recipe names. */
export interface OwnParts {
  /**
   * Makes the envs of training (with the step) and of evaluation (without). They play the case of
   * `reset({ options: { case } })`, and their last step carries `info.episode`.
   */
  readonly env?: (step?: number) => Env
  readonly patient?: Patient
  /** The first that knows an order carries it out. */
  readonly exams?: ExamSimulator | readonly ExamSimulator[]
  /** A reward, or a bare function. */
  readonly reward?: RewardFunction
  /** Agents by name, for demonstrations (`training.sft.agent`) and in the task of the result. */
  readonly agents?: Readonly<Record<string, AnyAgent>>
  /** A backend, which its owner closes, or what opens one, which the run closes. */
  readonly backend?: Backend | MakeBackend
}

/** @throws Fault `bad-input` where a run was given parts by a program and is not given them now */
export function assertGiven(
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

/** @throws Fault `bad-input` where the run in `out`, or the recipe, was given parts that are not given now */
export async function assertParts(recipe: Recipe, out: string, parts: OwnParts): Promise<void> {
  const begun = existsSync(join(out, 'config.yaml')) ? [await storedRecipe(out)] : []
  const given = ownPartNames.filter((part) => parts[part] !== undefined)
  for (const one of [recipe, ...begun])
    assertGiven(one, given, `\`train(recipe, { out: '${out}', … })\``)
  if (parts.env !== undefined && typeof parts.env !== 'function')
    throw new TypeError(`Expected \`env\` to be a function that makes an env, got \`${parts.env}\``)
}

/** The parts that a task takes. */
export const taskPartsOf = ({
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

/** The recipe with the names of the parts that are given beside it. */
export function withOwn(recipe: Recipe, parts: OwnParts): Recipe {
  const given = ownPartNames.filter((part) => parts[part] !== undefined)
  return given.length === 0 ? recipe : { ...recipe, own: given }
}

/** An env that is held to the case it was asked to play. */
export function ofItsCase(env: Env): Env {
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
