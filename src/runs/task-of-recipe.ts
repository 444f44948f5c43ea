/** Builds from a recipe what a run plays in: its task, and the training cases and envs of each step. */
import type { Case } from '../case.js'
import type { Env } from '../env.js'
import { Fault } from '../error.js'
import { withoutUndefined } from '../platform/without-undefined.js'
import { type Task, type TaskOptions, task } from '../tasks/task.js'
import type { OwnParts } from './own-parts.js'
import type { Recipe } from './recipe.js'

/** Builds the task of a recipe. `beside` overrides it with what a recipe cannot hold: objects, cases already read. */
export const taskOf = (
  { cases, env, language, seed, reward }: Recipe,
  beside: Pick<
    TaskOptions,
    | (
        | 'patient'
        | 'referencePatient'
        | 'exams'
        | 'examiners'
        | 'reward'
        | 'judge'
        | 'verifier'
        | 'chats'
      )
    | ('completions' | 'agents' | 'whole' | 'cases' | 'selection')
  > = {},
): Promise<Task> => {
  const { curriculum: _, ...chosen } = cases
  return task({ ...withoutUndefined({ ...chosen, ...env }), language, seed, reward, ...beside })
}

/** How many patients a run sets apart to choose its best checkpoint by: no more than it is scored on in the end. */
export const selectionCount = ({ cases, training }: Recipe): number =>
  Math.min(training.evaluateCases, cases.heldOut)

/** Wraps an env to check that it plays the case it is reset with. @throws TypeError on `reset` */
function checkEnvCase(env: Env): Env {
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

/** Source of training cases and envs by step: easier stages first, where the recipe has a curriculum. */
export interface Curriculum {
  /** The n-th training case, of the tier of `step`. */
  readonly caseAt: (n: number, step: number) => Case
  readonly makeEnv: (step: number) => Env
  /** Most actions of an episode, over all stages. */
  readonly maxTurns: number
}

/**
 * Opens the task of training and evaluation, and the curriculum whose last stage it is, with the parts of a program.
 * @throws Fault `bad-input` for stages whose action spaces differ, or early stopping without a case to stop by
 */
export async function openTask(
  recipe: Recipe,
  {
    env,
    ...parts
  }: Omit<OwnParts, 'backend'> &
    Pick<
      TaskOptions,
      'judge' | 'verifier' | 'chats' | 'completions' | 'examiners' | 'referencePatient'
    > = {},
): Promise<{ readonly task: Task; readonly curriculum: Curriculum }> {
  const last = await taskOf(recipe, { ...parts, selection: selectionCount(recipe) })
  if (recipe.training.earlyStop && last.selection.length === 0)
    throw new Fault(
      'bad-input',
      `training.earlyStop: expected held-out cases to stop by beside those of the final score, got ${last.heldOut.length} held-out in all; \`cases.heldOutShare\` holds out more`,
    )
  const stages: { readonly until: number; readonly task: Task }[] = []
  let until = 0
  for (const { tier = recipe.cases.tier, maxTurns, steps } of recipe.cases.curriculum) {
    until += steps
    const env = { ...recipe.env, ...withoutUndefined({ maxTurns }) }
    const easier = await taskOf({ ...recipe, env, cases: { ...recipe.cases, tier } }, parts)
    if (easier.actionSpace.fingerprint !== last.actionSpace.fingerprint)
      throw new Fault(
        'bad-input',
        `cases.curriculum: expected tiers whose doctors have the same moves, got ${tier} before ${recipe.cases.tier}`,
      )
    stages.push({ until, task: easier })
  }
  const at = (step: number): Task => stages.find((stage) => step <= stage.until)?.task ?? last
  return {
    task: env ? { ...last, makeEnv: () => checkEnvCase(env()) } : last,
    curriculum: {
      caseAt: (n, step) => at(step).caseAt(n),
      makeEnv: (step) => (env ? checkEnvCase(env(step)) : at(step).makeEnv()),
      maxTurns: Math.max(last.maxTurns, ...stages.map((stage) => stage.task.maxTurns)),
    },
  }
}
