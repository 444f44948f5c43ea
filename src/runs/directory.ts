/**
 * Run directory: `config.yaml`, `metrics.jsonl`, `episodes/`, `checkpoints/`, `report.json`.
 * Files are written atomically; metrics are appended. A run that was killed resumes from the newest checkpoint.
 */
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { Backend } from '../backend.js'
import { Fault, rethrowAsFault } from '../error.js'
import { packageRoot } from '../platform/package-root.js'
import { readText } from '../platform/utf8.js'
import { writeFileAtomically } from '../storage/atomic-write.js'
import { episodeWriter, type SavedEpisode } from '../storage/episode-files.js'
import type { HeldOutMetrics, StepMetrics } from '../trainers/events.js'
import type { TrustOptions } from './own-parts.js'
import type { Recipe } from './recipe.js'

/** One line of `metrics.jsonl`. */
export type MetricsLine =
  | ({ readonly type: 'step' } & StepMetrics)
  | ({ readonly type: 'held-out' } & HeldOutMetrics)

/** Folder name of the checkpoint after `step`, under `checkpoints/`. */
export const checkpointName = (step: number): string => `step-${String(step).padStart(6, '0')}`

/** Step of the newest checkpoint of the run in `out`; 0 when there is none. */
export async function lastCheckpoint(out: string): Promise<number> {
  const names = await readdir(join(out, 'checkpoints')).catch(() => [])
  return Math.max(0, ...names.flatMap((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? [])))
}

/** Reads a run directory's recipe without loading any module it names. @throws Fault `bad-input` when there is none */
export async function readStoredRecipe(out: string): Promise<Recipe> {
  const path = join(out, 'config.yaml')
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Fault(
      'bad-input',
      `--resume ${out}: expected a run directory with config.yaml, found none`,
    )
  })
  const { parseRecipe, StoredRecipe } = await import('./recipe.js')
  return parseRecipe(text, path, [], StoredRecipe)
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
 * Reads a recipe file, of the current folder or else of this package (`examples/demo/recipe.yaml`).
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
  return rethrowAsFault('bad-input', path, () => parseRecipe(text, path, overrides))
}

/** Reads the lines up to step `done`, and drops the others from the file: also one cut off when the run was killed. */
async function restoreMetrics(path: string, done: number): Promise<MetricsLine[]> {
  const text = done === 0 ? '' : await readFile(path, 'utf8').catch(() => '')
  const lines = text.split('\n').flatMap((line) => {
    try {
      return line ? [JSON.parse(line) as MetricsLine] : [] // written by `log` below
    } catch {
      return []
    }
  })
  const kept = lines.filter(({ step }) => step <= done)
  await writeFileAtomically(path, kept.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return kept
}

/**
 * Creates a run's folders, and `config.yaml` where there is none.
 * @throws Fault `bad-input` when the directory holds a run of another recipe
 */
async function prepareRunDirectory(path: string, recipe: Recipe): Promise<void> {
  const config = join(path, 'config.yaml')
  const { stringify } = await import('yaml')
  const text = stringify(recipe)
  const there = await readFile(config, 'utf8').catch(() => undefined)
  // Compared as recipes, not as text: earlier versions lack keys that have a default now, and hold idle keys.
  const begun = there === undefined ? undefined : await readStoredRecipe(path)
  if (begun !== undefined && stringify(begun) !== text)
    throw new Fault(
      'bad-input',
      `--out ${path}: the directory holds a run of another recipe; choose another, or go on with --resume ${path}`,
    )
  await mkdir(join(path, 'checkpoints'), { recursive: true })
  await mkdir(join(path, 'episodes'), { recursive: true })
  if (there === undefined) await writeFileAtomically(config, text)
}

async function writeEpisodes(path: string, episodes: Iterable<SavedEpisode>): Promise<void> {
  const writer = episodeWriter(path)
  for (const episode of episodes) await writer.write(episode)
  await writer.close()
}

/**
 * Opens the directory of a new or resumed run.
 * @throws Fault `bad-input` when it holds a run of another recipe
 */
export async function openRunDirectory(path: string, recipe: Recipe) {
  await prepareRunDirectory(path, recipe)
  const done = await lastCheckpoint(path)
  const log = join(path, 'metrics.jsonl')
  const metrics = await restoreMetrics(log, done)
  const checkpoints = join(path, 'checkpoints')
  const best = join(checkpoints, 'best')
  return {
    path,
    done,
    /** Folder of the best checkpoint, which is never removed. */
    best,
    /** Metrics lines up to step `done`, and those logged since. */
    metrics: metrics as readonly MetricsLine[],
    /** Appends a line to `metrics.jsonl`. */
    async log(line: MetricsLine): Promise<void> {
      metrics.push(line)
      await appendFile(log, `${JSON.stringify(line)}\n`)
    },
    /** The folder of the checkpoint after `step`. */
    checkpoint: (step: number): string => join(checkpoints, checkpointName(step)),
    /** Saves a checkpoint, then removes older ones except the best; returns its folder. */
    async save(backend: Backend, step: number): Promise<string> {
      const folder = join(checkpoints, checkpointName(step))
      await backend.save(folder)
      for (const name of await readdir(checkpoints))
        if (name !== checkpointName(step) && name !== 'best')
          await rm(join(checkpoints, name), { recursive: true, force: true })
      return folder
    },
    /** Replaces the best checkpoint. */
    saveBest: (backend: Backend): Promise<void> => backend.save(best),
    /** Writes `episodes/NAME.parquet`. */
    saveEpisodes: (name: string, episodes: Iterable<SavedEpisode>): Promise<void> =>
      writeEpisodes(join(path, 'episodes', `${name}.parquet`), episodes),
    /** Writes `report.json`. */
    writeReport: (report: object): Promise<void> =>
      writeFileAtomically(join(path, 'report.json'), `${JSON.stringify(report, null, 2)}\n`),
  }
}

/** An open run directory: its metrics so far, and how to log and save. */
export type RunDirectory = Awaited<ReturnType<typeof openRunDirectory>>
