/** The files a run reads, by their hashes: a run goes on only with those it was begun with. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Fault } from '../error.js'
import { recipeModules } from './own-parts.js'
import type { Recipe } from './recipe.js'

/** A file that a run reads, with its hash. */
export type RunInput = NonNullable<Recipe['inputs']>[number]

/** SHA-256 of a file, or of a folder's files and their names; undefined where there is none. */
async function sha256Of(path: string): Promise<string | undefined> {
  const there = await stat(path).catch(() => undefined)
  if (there === undefined) return undefined
  const hash = createHash('sha256')
  if (there.isFile()) for await (const bytes of createReadStream(path)) hash.update(bytes)
  else if (there.isDirectory())
    for (const name of (await readdir(path)).sort())
      hash.update(`${name}\0${await sha256Of(join(path, name))}\n`)
  return hash.digest('hex')
}

/** Hashes the files that a recipe names: cases, demonstrations and modules. Those that do not exist are left out. */
export async function hashInputs(recipe: Recipe): Promise<readonly RunInput[]> {
  const { cases, training } = recipe
  const files = [
    cases.file,
    ...(training.algorithm === 'sft' ? [training.sft.demonstrations] : []),
    ...recipeModules(recipe).map(({ file }) => file),
  ]
  const inputs: RunInput[] = []
  for (const file of new Set(files)) {
    const sha256 = file === undefined ? undefined : await sha256Of(file)
    if (file !== undefined && sha256 !== undefined) inputs.push({ file, sha256 })
  }
  return inputs
}

/** Describes the stored inputs whose files are others now; those that nothing reads any more are not compared. */
export function changedInputs(
  stored: readonly RunInput[],
  now: readonly RunInput[],
): readonly string[] {
  const hashes = new Map(now.map(({ file, sha256 }) => [resolve(file), sha256]))
  return stored.flatMap(({ file, sha256 }) => {
    const got = hashes.get(resolve(file))
    return got === undefined || got === sha256
      ? []
      : [`${file}: expected sha256 ${sha256}, got ${got}`]
  })
}

/** Checks that the files of a stored run are as they were. @throws Fault `bad-input` naming each that is not */
export function assertSameInputs(
  out: string,
  stored: readonly RunInput[],
  now: readonly RunInput[],
): void {
  const changed = changedInputs(stored, now)
  if (changed.length === 0) return
  throw new Fault(
    'bad-input',
    `${out}: this run was begun with other files:\n  ${changed.join('\n  ')}\nPut back the files it was begun with, train into another --out, or go on with the new ones by --accept-changes (in a program: \`acceptChanges\`)`,
  )
}
