/** `train`, loaded at its first call: zod, yaml and the trainers take longer to load than a first step takes. */
import type { RecipeInput } from './recipe.js'
import type { TrainingResult } from './train.js'
import type { TrainOptions } from './train-options.js'

/**
 * Trains the run in `out`, or resumes it; a stopped run keeps its finished steps. Parts in the options override the
 * recipe; the recipe's missing keys have defaults. If the process that holds the weights dies, another is started and
 * resumes from the last checkpoint, except where an open backend was passed in.
 * @throws TypeError for an unknown or ill-typed option; Fault `bad-input` for a recipe that cannot be run, and for a
 *   resumed run whose own parts are not given again
 */
export const train = async (input: RecipeInput, options: TrainOptions): Promise<TrainingResult> =>
  (await import('./train.js')).train(input, options)
