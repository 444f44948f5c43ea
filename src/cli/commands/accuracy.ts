/** Whether a doctor was right, as the run that a path belongs to would measure it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Reward } from '../../reward.js'
import { diagnosisAccuracy } from '../../rewards/outcome/diagnosis-accuracy.js'
import { formularyOf } from '../../rewards/outcome/formulary.js'
import { verifiedAnswer } from '../../rewards/outcome/verified-answer.js'
import { storedRecipe } from '../../runs/directory.js'
import type { Recipe } from '../../runs/recipe.js'
import { isFolder } from './run-folder.js'

/** The recipe of a run directory, to read: nothing it names may be loaded. Undefined for any other path. */
export const recipeAt = async (path: string): Promise<Recipe | undefined> =>
  isFolder(path) && existsSync(join(path, 'config.yaml')) ? storedRecipe(path) : undefined

/** The verified answer of questions, the diagnosis of everything else. */
export const accuracyFor = (recipe: Recipe | undefined): Reward =>
  recipe?.env.name === 'question'
    ? verifiedAnswer({ formulary: formularyOf(loadKnowledge()) })
    : diagnosisAccuracy()
