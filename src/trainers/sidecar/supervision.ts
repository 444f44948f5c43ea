/** Supervises the server process: waits for its ready line, detects its end, and stops it. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { Fault } from '../../error.js'
import { forEachLine, lineBuffer, type ProcessExit, parseJsonLine, waitForExit } from './program.js'

const readyLine = z.looseObject({
  address: z.string(),
  pid: z.number(),
  engine: z.string(),
  device: z.string(),
  dtype: z.string(),
  versions: z.record(z.string(), z.string()),
  model: z.looseObject({
    name: z.string(),
    arch: z.string(),
    contextLength: z.number(),
    parameters: z.number(),
  }),
  modes: z.array(z.string()),
  heads: z.array(z.string()),
  exports: z.array(z.string()),
  losses: z.array(z.string()),
  notes: z.array(z.string()).optional(),
})

/** The JSON line that the server prints when it listens: address, engine, model and capabilities. */
export type ReadyLine = z.infer<typeof readyLine>

/** How the sidecar process ended. */
export interface SidecarExit extends ProcessExit {
  /** The last lines the server logged, at most 40. */
  readonly lastLines: readonly string[]
  /** Description of how it ended, with its last output. */
  readonly why: string
}

/** One-line summary of what runs: engine, device, dtype, model, versions. */
export function readySummary({ engine, device, dtype, model, versions }: ReadyLine): string {
  const parameters = model.parameters.toLocaleString('en')
  const versioned = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return `${engine} on ${device}, ${dtype}, ${model.arch} of ${parameters} parameters; ${versioned.join(', ')}`
}

/** Describes how a process ended, with its last lines. */
function describeExit({ code, signal, error }: ProcessExit, lines: readonly string[]): string {
  if (error !== undefined) return `it could not be started: ${error}`
  const how =
    signal === 'SIGKILL'
      ? 'it was killed (SIGKILL): by hand, or by the system for want of memory'
      : `it ended with ${signal ?? `code ${code}`}`
  return lines.length === 0 ? how : `${how}; the last it said:\n  ${lines.slice(-8).join('\n  ')}`
}

/** Fault of a server that ended before it listened; with exit code 2, its last line names the wrong option. */
function startFault(engine: string, { code, lastLines: lines, why }: SidecarExit): Fault {
  const last = lines.at(-1)
  return code === 2 && last !== undefined
    ? new Fault('bad-input', last.replace(/^bedside sidecar: /, ''))
    : new Fault('model-unavailable', `the sidecar (${engine}) did not start: ${why}`)
}

/** Kills a server and its child processes. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    // It has already ended.
  }
}

/** Reads a process's output from its start: the ready line, the exit, and the last line logged. */
export function followProcess(child: ChildProcess, token: string, onLine: (line: string) => void) {
  const kept = lineBuffer()
  const log = (raw: string) => {
    const line = raw.replaceAll(token, 'tml-***')
    kept.add(line)
    onLine(line)
  }
  const errors = child.stderr ? forEachLine(child.stderr, log) : undefined
  const ready = new Promise<ReadyLine>((found) => {
    if (child.stdout)
      void forEachLine(child.stdout, (line) => {
        const parsed = parseJsonLine(readyLine, line)
        if (parsed) found(parsed)
        else log(line)
      })
  })
  const exited = waitForExit(child, 'exit').then(async (exit): Promise<SidecarExit> => {
    // Its child processes may outlive it and hold the pipe open.
    await Promise.race([errors, wait(500, undefined, { ref: false })])
    const lines = [...kept.lines]
    return { ...exit, lastLines: lines, why: describeExit(exit, lines) }
  })
  return { ready, exited, lastLine: () => kept.lines.at(-1) }
}

/** Creates a function that asks a process to end, once, and kills it after `seconds`. */
export function createStopper(child: ChildProcess, exited: Promise<SidecarExit>, seconds: number) {
  let stopping: Promise<SidecarExit> | undefined
  const stop = (): Promise<SidecarExit> => {
    stopping ??= (async () => {
      child.kill('SIGTERM')
      const late = setTimeout(() => kill(child), seconds * 1000)
      try {
        return await exited
      } finally {
        clearTimeout(late)
      }
    })()
    return stopping
  }
  return { stop, asked: () => stopping !== undefined }
}

/** Waits until the server listens. @throws Fault if it ended or took too long */
export async function waitUntilReady(
  { ready, exited, lastLine }: ReturnType<typeof followProcess>,
  {
    engine,
    startSeconds = 180,
    signal,
  }: {
    readonly engine: string
    readonly startSeconds?: number | undefined
    readonly signal?: AbortSignal | undefined
  },
): Promise<ReadyLine> {
  const over = new AbortController()
  const late = async () => {
    await wait(startSeconds * 1000, undefined, { signal: over.signal })
    const last = lastLine() ?? 'nothing yet'
    throw new Fault(
      'model-unavailable',
      `the sidecar (${engine}) did not listen within ${startSeconds} s; the last it said: ${last}`,
    )
  }
  const ended = async () => {
    const exit = await exited
    signal?.throwIfAborted()
    throw startFault(engine, exit)
  }
  try {
    return await Promise.race([ready, ended(), late()])
  } finally {
    over.abort()
  }
}

/**
 * Watches a process for an unrequested end. `died` is aborted with a Fault `backend-lost`, and `watch` rejects with it
 * while it awaits work that needs the process.
 */
export function watchProcess(
  exited: Promise<SidecarExit>,
  asked: () => boolean,
): {
  readonly died: AbortSignal
  readonly watch: <T>(work: PromiseLike<T>) => Promise<T>
} {
  const died = new AbortController()
  const gone = exited.then(({ why }) => {
    const fault = new Fault('backend-lost', `the sidecar is gone: ${why}`)
    if (!asked()) died.abort(fault)
    return fault
  })
  const watch = <T>(work: PromiseLike<T>): Promise<T> =>
    Promise.race([
      work,
      gone.then((fault) => {
        throw fault
      }),
    ])
  return { died: died.signal, watch }
}
