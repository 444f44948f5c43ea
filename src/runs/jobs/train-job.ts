/**
 * Trains by a trainer that owns its process: starts the server of the consultations and the job, follows both into the
 * run directory, and goes on with them after a restart of its own.
 */
import { appendFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { Fault } from '../../error.js'
import { pause } from '../../platform/retry.js'
import { writeFileAtomically } from '../../storage/atomic-write.js'
import type { Task } from '../../tasks/task.js'
import { followJob, hasEnded, type JobState } from '../../trainers/jobs/job.js'
import { openChatTokenizer } from '../../trainers/tokens/chat-tokenizer.js'
import { recipeGrammar } from '../backends.js'
import { lastCheckpoint } from '../directory.js'
import { hashInputs } from '../inputs.js'
import { lockRun } from '../lock.js'
import { openTrainingModels } from '../models/training-models.js'
import { openRunDirectory } from '../open-directory.js'
import type { Recipe } from '../recipe.js'
import { lastStep } from '../report.js'
import { openTask } from '../task-of-recipe.js'
import type { TrainingResult } from '../train.js'
import { finishJob } from './finish-job.js'
import { type JobLimits, type JobRecipe, jobRecipe } from './job-recipe.js'
import { collect, type JobRun, jobFilesIn, type TrainJobOptions, textOf } from './job-run.js'
import { assertWeights } from './model-folder.js'
import {
  assertAppendOnly,
  assertRoom,
  contextLengthOf,
  jobCommand,
  jobFiles,
  jobVariables,
  longestOpening,
  standInCommand,
} from './plan.js'

/** What a run knows of its job, in `job.json`. */
const Kept = z.object({ id: z.string(), attempt: z.int(), port: z.int() })
type Kept = z.infer<typeof Kept>

/** Most losses of the trainer in a row without a new step in between. */
const maxLosses = 3
/** Lines that are shown of a job that failed. */
const shownLines = 30

/** A port that is free now; a job knows it, so that later attempts take it again. */
const freePort = (host: string): Promise<number> =>
  new Promise((done, failed) => {
    const server = createServer().once('error', failed)
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** Checks and measures all that can be without the trainer. @throws Fault `bad-input` */
export async function jobLimits(job: JobRecipe, task: Task, out: string): Promise<JobLimits> {
  // First: of a folder that is not there it says how to get one.
  const contextLength = await contextLengthOf(job)
  const tokenizer = await openChatTokenizer(job.model)
  // Of one reply there is no history to write anew.
  if (task.maxTurns > 1) await assertAppendOnly(job)
  const limits = {
    out: resolve(out),
    contextLength,
    promptLength: await longestOpening(task, tokenizer, recipeGrammar(job.recipe)),
    maxTurns: task.maxTurns,
    validated: Math.min(job.training.evaluateCases, task.heldOut.length),
  }
  assertRoom(job, limits)
  return limits
}

/** Milliseconds between two looks at what was written. */
const everyMs = 1000

/** Collects until `done`. */
async function collecting(run: JobRun, done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    await collect(run)
    await pause(everyMs, done)
  }
}

async function keep(out: string, kept: Kept): Promise<void> {
  await writeFileAtomically(jobFilesIn(out).kept, `${JSON.stringify(kept)}\n`)
}

/** What an earlier attempt has written down. */
async function keptOf(out: string): Promise<Kept | undefined> {
  const text = await textOf(jobFilesIn(out).kept)
  return text === '' ? undefined : Kept.parse(JSON.parse(text))
}

async function submit(run: JobRun, { id, port }: Kept): Promise<void> {
  const { job, limits, options } = run
  const { host, url } = job.cluster.server
  const at = jobFilesIn(resolve(options.out))
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const places = {
    url: url ?? `http://${shown}:${port}`,
    tokenFile: at.token,
    metrics: at.steps,
  }
  const { standIn } = options
  const begun = await options.jobs.submit({
    id,
    command: standIn === undefined ? jobCommand(job, limits) : standInCommand(job, limits, standIn),
    env: jobVariables(job, limits, places),
    files: await jobFiles(job, limits),
  })
  const what =
    standIn === undefined
      ? job.backend
      : `a stand-in for ${job.backend} (no GPU, no ${job.backend} trainer)`
  options.events.emit(
    'backend-status',
    `${options.jobs.place}: ${begun ? 'started' : 'goes on with'} ${what} as job ${id}`,
  )
}

/** Follows a job to its end; its lines go to `trainer.log`. */
async function followToEnd(run: JobRun, id: string) {
  const { options } = run
  const { log } = jobFilesIn(options.out)
  const last: string[] = []
  let written = Promise.resolve()
  const onLine = (line: string): void => {
    last.push(line)
    if (last.length > shownLines) last.shift()
    written = written.then(() => appendFile(log, `${line}\n`))
  }
  // The log is told from its beginning.
  await writeFileAtomically(log, '')
  const state = await followJob(options.jobs, id, { onLine, signal: options.signal })
  await written
  return { state, last }
}

const failure = ({ jobs }: TrainJobOptions, id: string, state: JobState, last: readonly string[]) =>
  new Fault(
    'backend-lost',
    `${jobs.place}: the job ${id} ${state.status}${state.message ? `: ${state.message}` : ''}; its last lines:\n  ${last.join('\n  ') || '(none)'}`,
  )

/** Runs jobs until one succeeds: one that fails is followed by another, which goes on from its checkpoint. */
async function runJobs(run: JobRun, first: Kept): Promise<void> {
  const { options, directory } = run
  const { jobs, events, out } = options
  let kept = first
  let reached = lastStep(directory, 0)
  for (let lost = 0; ; ) {
    const known = await jobs.state(kept.id)
    // One that had ended before this process began is not asked again.
    if (known && hasEnded(known) && known.status !== 'succeeded') kept = next(kept)
    await keep(out, kept)
    await submit(run, kept)
    const { state, last } = await followToEnd(run, kept.id)
    await collect(run)
    if (state.status === 'succeeded') return
    const error = failure(options, kept.id, state, last)
    const done = lastStep(directory, 0)
    lost = done > reached ? 1 : lost + 1
    reached = Math.max(reached, done)
    // Without a single step it would fail again.
    if (state.status === 'stopped' || reached === 0 || lost > maxLosses) throw error
    events.emit('backend-status', `${error.message}\ngoing on after step ${reached} with another`)
    kept = next(kept)
  }
}

const next = ({ id, attempt, port }: Kept): Kept => ({
  ...{ attempt: attempt + 1, port },
  id: `${id.replace(/-\d+$/, '')}-${attempt + 1}`,
})

/** Runs server and jobs side by side. Ctrl-C stops the job; a killed process leaves it for the next attempt. */
async function runToEnd(run: JobRun): Promise<void> {
  const { job, options, directory } = run
  const { out, jobs, signal, serve } = options
  const { host, port, workers } = job.cluster.server
  const before = await keptOf(out)
  const kept = before ?? {
    ...{ id: `bedside-${directory.runId.replace(/\W+/g, '-')}`, attempt: 1 },
    port: port === 0 ? await freePort(host) : port,
  }
  const at = jobFilesIn(out)
  await using _server = await serve({
    recipe: join(out, 'config.yaml'),
    ...{ tokenizer: job.model, host, port: kept.port, workers },
    ...{ tokenFile: at.token, record: at.record },
  })
  const done = new AbortController()
  const reading = collecting(run, done.signal)
  try {
    await runJobs(run, kept)
  } catch (error) {
    if (signal.aborted) {
      const { id } = (await keptOf(out)) ?? kept
      await jobs.stop(id)
    }
    throw error
  } finally {
    done.abort()
    await reading
  }
}

/**
 * Trains the run in `out`, or goes on with it: its job is found again by its id.
 * @throws Fault `bad-input` for what cannot be run, before anything starts; `backend-lost` for a trainer that fails
 */
export async function trainJob(recipe: Recipe, options: TrainJobOptions): Promise<TrainingResult> {
  const { out, jobs, events } = options
  const started = performance.now()
  const job = jobRecipe(recipe, (path) => resolve(path))
  await using models = await openTrainingModels(recipe, out)
  const { task } = await openTask(recipe, models.parts)
  const limits = await jobLimits(job, task, out)
  await assertWeights(job.model)
  await jobs.check()
  await using lock = await lockRun(out)
  if (lock.takenOver !== undefined) events.emit('backend-status', lock.takenOver)
  const whole = { ...recipe, inputs: [...(await hashInputs(recipe))] }
  const directory = await openRunDirectory(out, whole)
  const run = { job, limits, task, directory, options }
  await collect(run)
  if ((await lastCheckpoint(out)) < job.training.steps) await runToEnd(run)
  await collect(run)
  return finishJob(run, (performance.now() - started) / 1000)
}
