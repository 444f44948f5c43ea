/** A run by a job: what its functions share, the files in its directory, and its numbers. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Task } from '../../tasks/task.js'
import type { TrainingEmitter } from '../../trainers/events.js'
import type { Jobs } from '../../trainers/jobs/job.js'
import type { RunDirectory } from '../open-directory.js'
import { lastStep } from '../report.js'
import type { JobLimits, JobRecipe } from './job-recipe.js'
import { metricsLines, readRecord, readSteps } from './metrics.js'

/** How the server of a job is to be started. */
export interface JobServerPlan {
  readonly recipe: string
  readonly tokenizer: string
  readonly host: string
  readonly port: number
  readonly workers: number
  readonly tokenFile: string
  readonly record: string
}

/** Options of {@link trainJob}. */
export interface TrainJobOptions {
  readonly out: string
  readonly events: TrainingEmitter
  readonly signal: AbortSignal
  /** Where the trainer runs. */
  readonly jobs: Jobs
  /** Interpreter of a stand-in on a CPU in the trainer's place. @default none: the trainer itself */
  readonly standIn?: string | undefined
  /** Starts the server; it is started again when it dies, until it is closed. */
  readonly serve: (plan: JobServerPlan) => Promise<AsyncDisposable>
}

/** Files of a run by a job, in its directory. */
export const jobFilesIn = (out: string) => ({
  kept: join(out, 'job.json'),
  steps: join(out, 'trainer-metrics.jsonl'),
  record: join(out, 'consultations.jsonl'),
  log: join(out, 'trainer.log'),
  token: join(out, 'server-token'),
})

/** Text of a file; none where there is no file. */
export const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

/** State shared by the functions of one run. */
export interface JobRun {
  readonly job: JobRecipe
  readonly limits: JobLimits
  readonly task: Task
  readonly directory: RunDirectory
  readonly options: TrainJobOptions
}

/** Reads what trainer and server have written, into `metrics.jsonl`; tells the steps that are new. */
export async function collect({ directory, options, job }: JobRun): Promise<void> {
  const at = jobFilesIn(options.out)
  const steps = readSteps(await textOf(at.steps))
  const before = lastStep(directory, 0)
  const lines = metricsLines(steps, readRecord(await textOf(at.record)), job.training.steps)
  if (JSON.stringify(lines) === JSON.stringify(directory.metrics)) return
  await directory.rewrite(lines)
  for (const line of lines) {
    if (line.type === 'step' && line.step > before) options.events.emit('step-end', line)
    if (line.type === 'held-out' && line.step >= before)
      options.events.emit('held-out-scored', line)
  }
}
