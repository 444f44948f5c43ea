/** Attempts at a run: each start of a process that trains it, in `attempts.jsonl`. They make the ids of episodes unique. */
import { randomUUID } from 'node:crypto'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One line of `attempts.jsonl`. */
interface Attempt {
  /** The run, the same in every attempt. */
  readonly run: string
  /** From 1. */
  readonly attempt: number
  /** In ISO 8601. */
  readonly started: string
  /** Steps that were done before. */
  readonly done: number
}

/** Reads a line; undefined for one that was cut off. */
function readAttempt(line: string): Attempt | undefined {
  try {
    return JSON.parse(line) // written by `beginAttempt` below
  } catch {
    return undefined
  }
}

/**
 * Records a new attempt at the run in `folder`.
 * @returns `RUN.ATTEMPT`, which begins the ids of the attempt's episodes and groups
 */
export async function beginAttempt(folder: string, done: number): Promise<string> {
  const path = join(folder, 'attempts.jsonl')
  const text = await readFile(path, 'utf8').catch(() => '')
  const before = text.split('\n').flatMap((line) => readAttempt(line) ?? [])
  const run = before[0]?.run ?? randomUUID().slice(-12)
  const attempt = Math.max(0, ...before.map((one) => one.attempt)) + 1
  const next: Attempt = { run, attempt, started: new Date().toISOString(), done }
  const cut = text === '' || text.endsWith('\n') ? '' : '\n'
  await appendFile(path, `${cut}${JSON.stringify(next)}\n`)
  return `${run}.${attempt}`
}
