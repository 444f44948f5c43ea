/** The task that a recipe describes. */
import type { Task, TaskOptions } from '../tasks/task.js'
import { task } from '../tasks/task.js'
import type { Recipe } from './recipe.js'

/** The task that a recipe describes. `beside` holds what a recipe cannot: parts of a program's own, cases that were read already. */
export const taskOf = (
  recipe: Recipe,
  beside: Pick<TaskOptions, 'patient' | 'exams' | 'reward' | 'agents' | 'whole' | 'cases'> = {},
): Promise<Task> => {
  const { file, tier, clinic, heldOut, heldOutShare } = recipe.cases
  const { name, maxTurns, money, minutes, patient, exams } = recipe.env
  return task({
    name,
    language: recipe.language,
    tier,
    seed: recipe.seed,
    heldOut,
    heldOutShare,
    reward: recipe.reward,
    ...(file === undefined ? {} : { file }),
    ...(clinic === undefined ? {} : { clinic }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(money === undefined ? {} : { money }),
    ...(minutes === undefined ? {} : { minutes }),
    ...(patient === undefined ? {} : { patient }),
    ...(exams === undefined ? {} : { exams }),
    ...beside,
  })
}
