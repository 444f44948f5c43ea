/** Builds a task from a recipe. */
import { type Task, type TaskOptions, task } from '../tasks/task.js'
import type { Recipe } from './recipe.js'

/** Builds the task of a recipe. `beside` overrides it with what a recipe cannot hold: objects, cases already read. */
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
