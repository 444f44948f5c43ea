/** Reads run directories and recipe files, loading the recipe's schema only when it is needed. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { Fault, rethrowAsFault } from '../error.js'
import { packageRoot } from '../platform/package-root.js'
import { readText } from '../platform/utf8.js'
import type { TrustOptions } from './own-parts.js'
import type { Recipe } from './recipe.js'

/** Folder name of the checkpoint after `step`, under `checkpoints/`. */
export const checkpointName = (step: number): string => `step-${String(step).padStart(6, '0')}`

/** Step of the newest checkpoint of the run in `out`; 0 when there is none. */
export async function lastCheckpoint(out: string): Promise<number> {
  const names = await readdir(join(out, 'checkpoints')).catch(() => [])
  return Math.max(0, ...names.flatMap((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? [])))
}

/**
 * Reads a run directory's recipe without loading any module it names; its paths are then relative to the shell's folder.
 * @throws Fault `bad-input` when there is none
 */
export async function readStoredRecipe(out: string): Promise<Recipe> {
  const path = join(out, 'config.yaml')
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Fault(
      'bad-input',
      `--resume ${out}: expected a run directory with config.yaml, found none`,
    )
  })
  const { parseRecipe, StoredRecipe } = await import('./recipe.js')
  // Versions that stored no `inputs` stored paths as they were given: relative to the shell's folder.
  const folder = /^inputs:/m.test(text) ? out : '.'
  return parseRecipe(text, path, [], { schema: StoredRecipe, folder })
}

/**
 * Reads a run directory's recipe in order to run it; recipes of earlier versions are accepted.
 * @throws Fault `bad-input` when there is none, or when it names a module and `trust` is not given
 */
export async function recipeOfRun(out: string, options: TrustOptions = {}): Promise<Recipe> {
  const recipe = await readStoredRecipe(out)
  const { assertTrusted } = await import('./own-parts.js')
  assertTrusted(out, recipe, options)
  return recipe
}

/**
 * Reads a recipe file, of the current folder or else of this package (`examples/demo/recipe.yaml`). Paths in the file
 * are relative to it; those in overrides to the current folder.
 * @param overrides `path=value` assignments, the value in YAML
 * @throws Fault `bad-input` naming file, line, path, and what was expected
 */
export async function readRecipe(path: string, overrides: readonly string[] = []): Promise<Recipe> {
  const shipped = join(packageRoot(), path)
  const found = !existsSync(path) && !isAbsolute(path) && existsSync(shipped) ? shipped : path
  const text = await rethrowAsFault('bad-input', `${path}: expected a recipe (YAML)`, () =>
    readText(found),
  )
  const { parseRecipe } = await import('./recipe.js')
  // The YAML document itself refuses an override whose path runs through a plain value.
  return rethrowAsFault('bad-input', path, () =>
    parseRecipe(text, path, overrides, { folder: dirname(path) }),
  )
}
