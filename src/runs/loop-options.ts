/** Translates a recipe into options of the training loops: advantages, optimiser schedule, case curriculum. */
import type { AdamSettings } from '../batch.js'
import type { Case } from '../case.js'
import type { Env } from '../env.js'
import { Fault } from '../error.js'
import type { Task } from '../tasks/task.js'
import { type AdvantageMethod, namedAdvantages } from '../trainers/advantages/method.js'
import { learningRateFactor } from '../trainers/batches/adam-schedule.js'
import type { GrpoOptions } from '../trainers/loops/grpo.js'
import { checkEnvCase, type OwnParts } from './own-parts.js'
import type { Recipe } from './recipe.js'
import type { GrpoTraining, Training } from './recipe-training.js'
import { taskOf } from './task-of-recipe.js'

/** Adam settings of a recipe by step, with learning-rate warm-up and decay applied. */
export function adamSchedule({ adam, steps }: Training): (step: number) => AdamSettings {
  const { learningRate, warmup, decay, ...rest } = adam
  return (step) => ({
    ...rest,
    learningRate: learningRate * learningRateFactor(step, { steps, warmup, decay }),
  })
}

/** GRPO options of a recipe: the advantage estimator, and which episodes count in a group. */
export const advantageOptions = ({
  advantages,
  groups,
}: Pick<GrpoTraining, 'advantages' | 'groups'>): Required<Pick<GrpoOptions, 'policy'>> & {
  readonly advantages: AdvantageMethod
} => ({
  advantages: namedAdvantages(advantages),
  policy: groups,
})

/** Source of training cases and envs by step: easier tiers first, where the recipe has a curriculum. */
export interface Curriculum {
  /** The n-th training case, of the tier of `step`. */
  readonly caseAt: (n: number, step: number) => Case
  readonly makeEnv: (step: number) => Env
  /** Most actions of an episode, over all stages. */
  readonly maxTurns: number
}

/**
 * Builds the curriculum of a recipe; `task` is its last stage.
 * @throws Fault `bad-input` for stages whose action spaces differ
 */
export async function createCurriculum(
  recipe: Recipe,
  task: Task,
  { env, ...own }: Omit<OwnParts, 'backend'> = {},
): Promise<Curriculum> {
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
    makeEnv: (step) => (env ? checkEnvCase(env(step)) : at(step).makeEnv()),
    maxTurns: Math.max(task.maxTurns, ...stages.map((stage) => stage.task.maxTurns)),
  }
}
