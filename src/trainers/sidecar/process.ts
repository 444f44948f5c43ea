/** The sidecar's process: started with a token of its own, waited for, watched, and stopped. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { boundary, Fault } from '../../error.js'
import type { EngineName } from './environment.js'
import { findPython, pythonPackage } from './environment.js'
import type { Variables } from './program.js'
import type { ReadyLine, SidecarExit } from './supervision.js'
import { follow, listening, stopper, summaryOf, watcher } from './supervision.js'

export interface SidecarOptions {
  /** The folder of a Hugging Face model. */
  readonly model: string
  readonly engine: EngineName
  /** The folder of its checkpoints and exports; made where it is missing. */
  readonly state: string
  /** The interpreter. @default that of the engine's environment */
  readonly python?: string | undefined
  readonly dtype?: string | undefined
  readonly device?: string | undefined
  readonly threads?: number | undefined
  /** @default 0, any free one */
  readonly port?: number
  /** More flags of the server, as it takes them. */
  readonly flags?: readonly string[]
  /** What every request must carry; it begins with `tml-`. @default a random one */
  readonly token?: string
  /** @default process.env */
  readonly env?: Variables
  /** Stops the server. */
  readonly signal?: AbortSignal | undefined
  /** Called with every line the server logs, without secrets. */
  readonly onLine?: (line: string) => void
  /** Until the server must listen. @default 180 */
  readonly startSeconds?: number
  /** Until a server that was asked to stop is killed. @default 10 */
  readonly stopSeconds?: number
}

export interface SidecarProcess extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string
  readonly token: string
  /** What the server said when it began to listen: what runs, and what it can do. */
  readonly ready: ReadyLine
  /** The same in a line: engine, device, number type, model, versions. */
  readonly summary: string
  readonly pid: number
  /** Resolves when the process has ended, asked to or not. */
  readonly exited: Promise<SidecarExit>
  /** Aborted with a Fault `backend-lost` when the process ends without being asked to. */
  readonly died: AbortSignal
  /** Waits for work of the server; rejects with a Fault `backend-lost` as soon as the process has ended. */
  watch<T>(work: PromiseLike<T>): Promise<T>
  /** Asks the server to end, kills it where it does not; resolves when it has ended. */
  stop(): Promise<SidecarExit>
}

/** A new token of the form the wire's clients insist on. */
export const newToken = (): string => `tml-${randomBytes(24).toString('hex')}`

function argumentsOf(options: SidecarOptions): string[] {
  const { model, engine, state, dtype, device, threads, port = 0, flags = [] } = options
  const given = { dtype, device, threads }
  return [
    ...['-m', 'bedside_trainers.sidecar', '--engine', engine, '--model', model],
    ...['--state', resolve(state), '--port', String(port), '--parent-pid', String(process.pid)],
    ...Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, String(value)],
    ),
    ...flags,
  ]
}

function begin(options: SidecarOptions, python: string, token: string): ChildProcess {
  const env = options.env ?? process.env
  const paths = [pythonPackage(), env.PYTHONPATH].filter(Boolean)
  const separator = process.platform === 'win32' ? ';' : ':'
  return spawn(python, argumentsOf(options), {
    env: {
      ...env,
      BEDSIDE_SIDECAR_TOKEN: token,
      PYTHONPATH: paths.join(separator),
      PYTHONUNBUFFERED: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    // Ctrl-C reaches every process of a terminal's group: the server must outlive the step that is under way.
    detached: process.platform !== 'win32',
  })
}

/** The interpreter of an engine's environment. @throws Fault `bad-input` naming what makes it */
async function interpreterOf(engine: EngineName, env: Variables | undefined): Promise<string> {
  const found = await findPython(engine, env ? { env } : {})
  if (found.found) return found.python
  throw new Fault('bad-input', found.reason)
}

/**
 * Starts a sidecar and waits until it listens; it ends with this process, whatever ends that.
 * @throws Fault `bad-input` where there is no environment, or the server refuses what it was given, in its own words
 * @throws Fault `model-unavailable` where it cannot start, ends, or takes too long
 */
export async function startSidecar(options: SidecarOptions): Promise<SidecarProcess> {
  const { engine, state, signal, token = newToken(), stopSeconds = 10, onLine } = options
  signal?.throwIfAborted()
  const python = options.python ?? (await interpreterOf(engine, options.env))
  await boundary('bad-input', `--state ${state}`, () => mkdir(state, { recursive: true }))
  const child = begin(options, python, token)
  const followed = follow(child, token, onLine ?? (() => {}))
  const { exited } = followed
  const { stop, asked } = stopper(child, exited, stopSeconds)
  const ask = () => void stop()
  signal?.addEventListener('abort', ask)
  process.once('exit', ask)
  void exited.then(() => {
    signal?.removeEventListener('abort', ask)
    process.off('exit', ask)
  })
  const watching = watcher(exited, asked)
  try {
    const ready = await listening(followed, options)
    return {
      address: ready.address,
      token,
      ready,
      summary: summaryOf(ready),
      pid: ready.pid,
      exited,
      ...watching,
      stop,
      async [Symbol.asyncDispose]() {
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
