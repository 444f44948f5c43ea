/** The accuracy reward that fits saved episodes, by the recipe of their run. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Reward } from '../../reward.js'
import { formularyOf } from '../../rewards/outcome/formulary.js'
import { diagnosisAccuracy } from '../../rewards/outcome/partial-credit.js'
import { verifiedAnswer } from '../../rewards/outcome/verified-answer.js'
import { readStoredRecipe } from '../../runs/directory.js'
import type { Recipe } from '../../runs/recipe.js'
import { isFolder } from './run-folder.js'

/** Reads the recipe of a run directory, loading nothing that it names; undefined for any other path. */
export const readRunRecipe = async (path: string): Promise<Recipe | undefined> =>
  isFolder(path) && existsSync(join(path, 'config.yaml')) ? readStoredRecipe(path) : undefined

/** Accuracy of a recipe's episodes: the verified answer for a `question` env, else the diagnosis. */
export const accuracyReward = (recipe: Recipe | undefined): Reward =>
  recipe?.env.name === 'question'
    ? verifiedAnswer({ formulary: formularyOf(loadKnowledge()) })
    : diagnosisAccuracy()
