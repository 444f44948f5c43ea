/** Finds programs on `PATH` and runs them as child processes, reading their output by line. */
import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { z } from 'zod'

/** Environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

const windows = process.platform === 'win32'

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Absolute paths of a program on `PATH`, all matches in its order. */
export function findOnPath(name: string, env: EnvironmentVariables): string[] {
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean)
  return folders.map((folder) => join(folder, windows ? `${name}.exe` : name)).filter(isExecutable)
}

/** Removes secrets from addresses in a text: credentials and query strings. */
export const redactSecrets = (text: string): string =>
  text.replace(/:\/\/[^/\s@]+@/g, '://***@').replace(/(:\/\/[^\s?]+)\?[^\s)"']*/g, '$1?***')

/** Calls back with each non-empty line of a stream, without colours or secrets; resolves at the stream's end. */
export const forEachLine = (stream: Readable, onLine: (line: string) => void): Promise<void> =>
  new Promise((resolve) => {
    const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
    lines.on('line', (line) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
      const plain = redactSecrets(line.replace(/\u001b\[[\d;]*[A-Za-z]/g, '')).trimEnd()
      if (plain) onLine(plain)
    })
    lines.on('close', resolve)
  })

/** How a process ended: exit code or signal, or the error if it could not be started. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly error?: string
}

/**
 * Waits until a process has ended; never rejects.
 * @param event `close` also waits until no process holds its output open, its own children included
 */
export const waitForExit = (child: ChildProcess, event: 'exit' | 'close'): Promise<ProcessExit> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error: error.message }))
    child.once(event, (code: number | null, signal: NodeJS.Signals | null) =>
      resolve({ code, signal }),
    )
  })

/** Options of {@link runProgram}. */
export interface ProgramOptions {
  readonly env: EnvironmentVariables
  /** Kills the program. */
  readonly signal?: AbortSignal
  /** Called with every line of stdout and stderr, secrets removed. */
  readonly onLine?: (line: string, stream: 'stdout' | 'stderr') => void
  readonly timeoutMs?: number
}

/** How a program ended, and its last output. */
export interface ProgramResult extends ProcessExit {
  /** The last 40 lines of stdout and stderr. */
  readonly lines: readonly string[]
}

/** Buffer of the last lines added, at most `limit`. */
export function lineBuffer(limit = 40) {
  const lines: string[] = []
  return {
    lines: lines as readonly string[], // only `add` changes it
    add(line: string) {
      lines.push(line)
      if (lines.length > limit) lines.shift()
    },
  }
}

/** Runs a program to its end; a failure is in the result, never thrown. */
export async function runProgram(
  command: string,
  args: readonly string[],
  { env, signal, onLine = () => {}, timeoutMs }: ProgramOptions,
): Promise<ProgramResult> {
  const child = spawn(command, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  })
  const { lines, add } = lineBuffer()
  for (const stream of ['stdout', 'stderr'] as const)
    void forEachLine(child[stream], (line) => {
      add(line)
      onLine(line, stream)
    })
  const stop = () => child.kill()
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop)
  try {
    const exit = await waitForExit(child, 'close')
    return { ...exit, lines }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** Parses a line of JSON of a schema; undefined for any other line, such as some library's banner. */
export function parseJsonLine<T>(schema: z.ZodType<T>, line: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
