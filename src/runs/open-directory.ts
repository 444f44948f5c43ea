/**
 * Run directory: `config.yaml`, `attempts.jsonl`, `metrics.jsonl`, `episodes/`, `checkpoints/`, `report.json`.
 * Files are written atomically; metrics are appended. A run that was killed resumes from the newest checkpoint, and
 * what it wrote after that checkpoint is dropped.
 */
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Backend } from '../backend.js'
import { Fault } from '../error.js'
import { isLeftover, readableFolder, writeFileAtomically } from '../storage/atomic-write.js'
import { episodeWriter, type SavedEpisode } from '../storage/episode-files.js'
import type { HeldOutMetrics, StepMetrics } from '../trainers/events.js'
import { beginAttempt } from './attempts.js'
import { checkpointName, lastCheckpoint, readStoredRecipe } from './directory.js'
import { changedInputs } from './inputs.js'
import { lockName } from './lock.js'
import type { Recipe } from './recipe.js'
import { storedIn, withAbsolutePaths } from './recipe-paths.js'

/** One line of `metrics.jsonl`. */
export type MetricsLine =
  | ({ readonly type: 'step' } & StepMetrics)
  | ({ readonly type: 'held-out' } & HeldOutMetrics)

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

/** What two recipes are compared by: what is trained, not how missing files are made. Earlier versions lack keys that have a default now, and hold idle keys. */
const comparableText = ({ inputs: _, prepare: __, ...recipe }: Recipe): string =>
  stringify(withAbsolutePaths(recipe))

/**
 * Creates a run's folders, and `config.yaml` where there is none, or where the run's files are others now.
 * @throws Fault `bad-input` when the directory holds a run of another recipe
 */
async function prepareRunDirectory(path: string, recipe: Recipe): Promise<void> {
  const config = join(path, 'config.yaml')
  const begun = existsSync(config) ? await readStoredRecipe(path) : undefined
  if (begun !== undefined && comparableText(begun) !== comparableText(recipe))
    throw new Fault(
      'bad-input',
      `--out ${path}: the directory holds a run of another recipe; choose another, or go on with --resume ${path}`,
    )
  await mkdir(join(path, 'checkpoints'), { recursive: true })
  await mkdir(join(path, 'episodes'), { recursive: true })
  const accepted =
    begun?.inputs !== undefined && changedInputs(begun.inputs, recipe.inputs ?? []).length > 0
  if (begun === undefined || accepted)
    await writeFileAtomically(config, stringify(storedIn(path, recipe)))
}

/** Removes what a run that was killed left behind: files half written, and those of steps after its last checkpoint. */
async function removeLost(path: string, done: number): Promise<void> {
  const best = join(path, 'checkpoints', 'best')
  const there = await readableFolder(best)
  if (there !== best) await rename(there, best)
  for (const part of ['.', 'checkpoints', 'episodes', 'trajectories'])
    for (const name of await readdir(join(path, part)).catch(() => [])) {
      const step = Number(/^step-(\d+)\.parquet$/.exec(name)?.[1] ?? 0)
      // Not those of the lock, which are another's who tries to take it.
      if ((isLeftover(name) && !name.startsWith(lockName)) || step > done)
        await rm(join(path, part, name), { recursive: true, force: true })
    }
}

async function replaceMetrics(log: string, metrics: MetricsLine[], lines: readonly MetricsLine[]) {
  metrics.splice(0, metrics.length, ...lines)
  await writeFileAtomically(log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

async function appendMetrics(log: string, metrics: MetricsLine[], line: MetricsLine) {
  metrics.push(line)
  await appendFile(log, `${JSON.stringify(line)}\n`)
}

async function writeEpisodes(path: string, episodes: Iterable<SavedEpisode>): Promise<void> {
  const writer = episodeWriter(path)
  for (const episode of episodes) await writer.write(episode)
  await writer.close()
}

async function saveCheckpoint(checkpoints: string, backend: Backend, step: number) {
  const folder = join(checkpoints, checkpointName(step))
  await backend.save(folder)
  for (const name of await readdir(checkpoints))
    if (name !== checkpointName(step) && name !== 'best')
      await rm(join(checkpoints, name), { recursive: true, force: true })
  return folder
}

/**
 * Opens the directory of a new or resumed run.
 * @throws Fault `bad-input` when it holds a run of another recipe
 */
export async function openRunDirectory(path: string, recipe: Recipe) {
  await prepareRunDirectory(path, recipe)
  const done = await lastCheckpoint(path)
  await removeLost(path, done)
  const log = join(path, 'metrics.jsonl')
  const metrics = await restoreMetrics(log, done)
  const checkpoints = join(path, 'checkpoints')
  const best = join(checkpoints, 'best')
  return {
    path,
    done,
    /** Begins the ids of this attempt's episodes and groups. */
    runId: await beginAttempt(path, done),
    /** Folder of the best checkpoint, which is never removed. */
    best,
    /** Metrics lines up to step `done`, and those logged since. */
    metrics: metrics as readonly MetricsLine[],
    /** Appends a line to `metrics.jsonl`. */
    log: (line: MetricsLine): Promise<void> => appendMetrics(log, metrics, line),
    /** Replaces all lines of `metrics.jsonl`, where another process says them. */
    rewrite: (lines: readonly MetricsLine[]) => replaceMetrics(log, metrics, lines),
    /** The folder of the checkpoint after `step`. */
    checkpoint: (step: number): string => join(checkpoints, checkpointName(step)),
    /** Saves a checkpoint, then removes older ones except the best; returns its folder. */
    save: (backend: Backend, step: number): Promise<string> =>
      saveCheckpoint(checkpoints, backend, step),
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
