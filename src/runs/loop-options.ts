/** What a recipe asks of a training run, put into the loops' own terms: estimators, the optimiser, the course of cases. */
import type { AdamSettings } from '../batch.js'
import type { Case } from '../case.js'
import type { Env } from '../env.js'
import { Fault } from '../error.js'
import type { Task } from '../tasks/task.js'
import type { AdvantageMethod } from '../trainers/advantages/method.js'
import { namedAdvantages } from '../trainers/advantages/method.js'
import { rateAt } from '../trainers/loops/adam-schedule.js'
import type { GrpoOptions } from '../trainers/loops/grpo.js'
import type { OwnParts } from './own-parts.js'
import { ofItsCase } from './own-parts.js'
import type { Recipe } from './recipe.js'
import type { GrpoTraining, Training } from './recipe-training.js'
import { taskOf } from './task-of-recipe.js'

/** The optimiser of a recipe, by step. */
export function adamOf({ adam, steps }: Training): (step: number) => AdamSettings {
  const { learningRate, warmup, decay, ...rest } = adam
  return (step) => ({
    ...rest,
    learningRate: learningRate * rateAt(step, { steps, warmup, decay }),
  })
}

/** How a recipe's advantages are estimated, and who counts in a group. */
export const advantagesOf = ({
  advantages,
  groups,
}: Pick<GrpoTraining, 'advantages' | 'groups'>): Required<Pick<GrpoOptions, 'policy'>> & {
  readonly advantages: AdvantageMethod
} => ({
  advantages: namedAdvantages(advantages),
  policy: groups,
})

/** Where training cases come from as the run goes on: easier tiers first, where the recipe says so. */
export interface Course {
  readonly caseAt: (n: number, step: number) => Case
  readonly makeEnv: (step: number) => Env
  /** Actions a doctor has in the longest of its stages. */
  readonly maxTurns: number
}

/**
 * The course of a recipe's training cases; `task` is its last stage. `own` is given beside the recipe.
 * @throws Fault `bad-input` for stages whose doctors have other moves
 */
export async function courseOf(
  recipe: Recipe,
  task: Task,
  { env, ...own }: Omit<OwnParts, 'backend'> = {},
): Promise<Course> {
  const stages: { readonly last: number; readonly task: Task }[] = []
  let last = 0
  for (const { tier, steps } of recipe.cases.curriculum) {
    last += steps
    const easier = await taskOf({ ...recipe, cases: { ...recipe.cases, tier } }, own)
    if (easier.actionSpace.fingerprint !== task.actionSpace.fingerprint)
      throw new Fault(
        'bad-input',
        `cases.curriculum: expected tiers whose doctors have the same moves, got ${tier} before ${recipe.cases.tier}`,
      )
    stages.push({ last, task: easier })
  }
  const at = (step: number): Task => stages.find((stage) => step <= stage.last)?.task ?? task
  return {
    caseAt: (n, step) => at(step).caseAt(n),
    makeEnv: (step) => (env ? ofItsCase(env(step)) : at(step).makeEnv()),
    maxTurns: Math.max(task.maxTurns, ...stages.map((stage) => stage.task.maxTurns)),
  }
}
