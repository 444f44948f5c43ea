/** Run folders: the name of a new one, the recipe of one that is there and its accuracy; and tests on paths. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Reward } from '../../reward.js'
import { formularyOf } from '../../rewards/outcome/formulary.js'
import { diagnosisAccuracy } from '../../rewards/outcome/partial-credit.js'
import { verifiedAnswer } from '../../rewards/outcome/verified-answer.js'
import { readStoredRecipe } from '../../runs/directory.js'
import type { Recipe } from '../../runs/recipe.js'

const two = (n: number): string => String(n).padStart(2, '0')

/** Default folder of a new run, `runs/<name>-<yyyymmdd-hhmmss>` in local time, numbered if that exists. */
export function runFolder(name: string, now: Date = new Date()): string {
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`
  const time = `${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`
  const folder = `runs/${name.replace(/[^\w.-]+/g, '-')}-${day}-${time}`
  let free = folder
  for (let n = 2; existsSync(free); n++) free = `${folder}-${n}`
  return free
}

/** True when both paths name one file or folder that exists. */
export function isSamePlace(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** True when a path names a folder that exists. */
export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** True when a path names a run directory. */
export const isRunFolder = (path: string): boolean =>
  isFolder(path) && existsSync(join(path, 'config.yaml'))

/** Reads the recipe of a run directory, loading nothing that it names; undefined for any other path. */
export const readRunRecipe = async (path: string): Promise<Recipe | undefined> =>
  isRunFolder(path) ? readStoredRecipe(path) : undefined

/** Accuracy of a recipe's episodes: the verified answer for a `question` env, else the diagnosis. */
export const accuracyReward = (recipe: Recipe | undefined): Reward =>
  recipe?.env.name === 'question'
    ? verifiedAnswer({ formulary: formularyOf(loadKnowledge()) })
    : diagnosisAccuracy()
