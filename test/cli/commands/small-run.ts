/** Runs of seconds by `bedside train`, for its tests. */
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TrainingReport } from '../../../src/runs/report.js'
import { document } from '../terminal.js'

export const trainingFlags = (...settings: readonly string[]): string[] =>
  settings.flatMap((setting) => ['--set', `training.${setting}`])

/** Few cases, one disease group: of any algorithm. */
export const few = [
  ...['--clinic', 'upper-airway', '--cases', '8'],
  ...trainingFlags('evaluateCases=4', 'checkpointEvery=100'),
]

/** A run of seconds: few groups too. */
export const small = [...few, ...trainingFlags('groupsPerStep=4', 'groupSize=4', 'evaluateEvery=2')]

/** A signal that aborts as soon as a step is in the metrics, wherever the program looks next. */
export function abortedAfterStep(metrics: string, step: number): AbortSignal {
  const stop = new AbortController()
  const { signal } = stop
  const look = signal.throwIfAborted.bind(signal)
  signal.throwIfAborted = () => {
    if (
      existsSync(metrics) &&
      readFileSync(metrics, 'utf8').includes(`"type":"step","step":${step},`)
    )
      stop.abort()
    look()
  }
  return signal
}

export const weights = (run: string, step: number): Promise<Buffer> =>
  readFile(join(run, 'checkpoints', `step-${String(step).padStart(6, '0')}`, 'weights.bin'))

/** What a run prints. */
export const reportOf = async (argv: readonly string[]): Promise<TrainingReport> =>
  (await document(argv)) as TrainingReport // with --json it is one
