/**
 * A run's directory: `config.yaml`, `metrics.jsonl`, `episodes/`, `checkpoints/`, `report.json`.
 *
 * Files are written beside their place and renamed; metrics are appended. What was done is read off the
 * newest checkpoint, so a run that was killed at any moment goes on from there.
 */
import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Backend } from '../backend.js'
import { Fault, rethrowAsFault } from '../error.js'
import { readText } from '../platform/utf8.js'
import { writeFileAtomically } from '../storage/atomic-write.js'
import type { SavedEpisode } from '../storage/episode-files.js'
import { episodeWriter } from '../storage/episode-files.js'
import type { HeldOutMetrics, StepMetrics } from '../trainers/events.js'
import type { Recipe } from './recipe.js'
import type { TrustOptions } from './trust.js'

/** One line of `metrics.jsonl`. */
export type MetricsLine =
  | ({ readonly type: 'step' } & StepMetrics)
  | ({ readonly type: 'held-out' } & HeldOutMetrics)

export interface RunDirectory {
  readonly path: string
  /** The step of the newest checkpoint; 0 when there is none. */
  readonly done: number
  /** Every line logged up to `done`, and since. */
  readonly metrics: readonly MetricsLine[]
  log(line: MetricsLine): Promise<void>
  /** The folder of the checkpoint after `step`. */
  checkpoint(step: number): string
  /** Saves the new checkpoint first and only then removes the older ones; gives its folder. */
  save(backend: Backend, step: number): Promise<string>
  /** The folder of the best checkpoint, which stays. */
  readonly best: string
  saveBest(backend: Backend): Promise<void>
  saveEpisodes(name: string, episodes: Iterable<SavedEpisode>): Promise<void>
  writeReport(report: object): Promise<void>
}

/** The folder of a run's checkpoint after `step`, under `checkpoints/`. */
export const checkpointName = (step: number): string => `step-${String(step).padStart(6, '0')}`

/** The newest checkpoint of a run, by its step; step 0 when there is none. */
export async function lastCheckpoint(out: string): Promise<number> {
  const names = await readdir(join(out, 'checkpoints')).catch(() => [])
  return Math.max(0, ...names.flatMap((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? [])))
}

/** The recipe in a run directory, to read: nothing it names may be loaded. @throws Fault `bad-input` when there is none */
export async function storedRecipe(out: string): Promise<Recipe> {
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
 * Reads a run directory's recipe, of an earlier version too, to run it.
 * @throws Fault `bad-input` when there is none, and when it names a module and `trust` is not given
 */
export async function recipeOfRun(out: string, options: TrustOptions = {}): Promise<Recipe> {
  const recipe = await storedRecipe(out)
  const { assertTrusted } = await import('./trust.js')
  assertTrusted(out, recipe, options)
  return recipe
}

/**
 * Reads a recipe file.
 * @param overrides `path=value` assignments, the value in YAML
 * @throws Fault `bad-input` naming file, line, path, and what was expected
 */
export async function readRecipe(path: string, overrides: readonly string[] = []): Promise<Recipe> {
  const text = await rethrowAsFault('bad-input', path, () => readText(path))
  const { parseRecipe } = await import('./recipe.js')
  return parseRecipe(text, path, overrides)
}

/** The lines up to step `done`; one that was being written when the run was killed is left out. */
async function readMetrics(path: string, done: number): Promise<MetricsLine[]> {
  if (done === 0) return []
  const text = await readFile(path, 'utf8').catch(() => '')
  const lines = text.split('\n').flatMap((line) => {
    try {
      return line ? [JSON.parse(line) as MetricsLine] : [] // written by `log` below
    } catch {
      return []
    }
  })
  return lines.filter(({ step }) => step <= done)
}

/**
 * Makes the folders of a run and its `config.yaml` where there is none.
 * @throws Fault `bad-input` when it holds a run of another recipe
 */
async function claim(path: string, recipe: Recipe): Promise<void> {
  const config = join(path, 'config.yaml')
  const { stringify } = await import('yaml')
  const text = stringify(recipe)
  const there = await readFile(config, 'utf8').catch(() => undefined)
  // As a recipe, not as text: a file of an earlier version lacks what has a default by now, and holds idle keys.
  const begun = there === undefined ? undefined : await storedRecipe(path)
  if (begun !== undefined && stringify(begun) !== text)
    throw new Fault(
      'bad-input',
      `--out ${path}: the directory holds a run of another recipe; choose another, or go on with --resume ${path}`,
    )
  await mkdir(join(path, 'checkpoints'), { recursive: true })
  await mkdir(join(path, 'episodes'), { recursive: true })
  if (there === undefined) await writeFileAtomically(config, text)
}

/**
 * Opens the directory of a recipe's run, new or begun.
 * @throws Fault `bad-input` when it holds a run of another recipe
 */
export async function openRunDirectory(path: string, recipe: Recipe): Promise<RunDirectory> {
  await claim(path, recipe)
  const done = await lastCheckpoint(path)
  const log = join(path, 'metrics.jsonl')
  const metrics = await readMetrics(log, done)
  await writeFileAtomically(log, metrics.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const checkpoint = (step: number) => join(path, 'checkpoints', checkpointName(step))
  return {
    path,
    done,
    metrics,
    checkpoint,
    async log(line) {
      metrics.push(line)
      await appendFile(log, `${JSON.stringify(line)}\n`)
    },
    async save(backend, step) {
      const folder = checkpoint(step)
      await backend.save(folder)
      for (const name of await readdir(join(path, 'checkpoints')))
        if (name !== checkpointName(step) && name !== 'best')
          await rm(join(path, 'checkpoints', name), { recursive: true, force: true })
      return folder
    },
    best: join(path, 'checkpoints', 'best'),
    async saveBest(backend) {
      await backend.save(join(path, 'checkpoints', 'best'))
    },
    async saveEpisodes(name, episodes) {
      const writer = episodeWriter(join(path, 'episodes', `${name}.parquet`))
      for (const episode of episodes) await writer.write(episode)
      await writer.close()
    },
    writeReport: (report) =>
      writeFileAtomically(join(path, 'report.json'), `${JSON.stringify(report, null, 2)}\n`),
  }
}
