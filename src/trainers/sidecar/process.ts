/** Starts the sidecar's server process with its own token, waits until it listens, watches and stops it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Fault, rethrowAsFault } from '../../error.js'
import { type EngineName, findPython, pythonPackage } from './environment.js'
import type { EnvironmentVariables } from './program.js'
import type { ReadyLine, SidecarExit } from './supervision.js'
import {
  createStopper,
  followProcess,
  readySummary,
  waitUntilReady,
  watchProcess,
} from './supervision.js'

/** Options of {@link startSidecar}. */
export interface StartSidecarOptions {
  /** Folder of a Hugging Face model. */
  readonly model: string
  readonly engine: EngineName
  /** Folder of its checkpoints and exports; created if missing. */
  readonly state: string
  /** Python interpreter. @default that of the engine's environment */
  readonly python?: string | undefined
  readonly dtype?: string | undefined
  readonly device?: string | undefined
  readonly threads?: number | undefined
  /** @default 0, any free port */
  readonly port?: number
  /** Further command-line flags of the server. */
  readonly flags?: readonly string[]
  /** Token that every request must carry; begins with `tml-`. @default a random one */
  readonly token?: string
  /** @default process.env */
  readonly env?: EnvironmentVariables
  /** Stops the server. */
  readonly signal?: AbortSignal | undefined
  /** Called with every line the server logs, secrets removed. */
  readonly onLine?: (line: string) => void
  /** Time for the server to start listening. @default 180 */
  readonly startSeconds?: number
  /** Time for the server to stop before it is killed. @default 10 */
  readonly stopSeconds?: number
}

/** A running sidecar process. */
export interface SidecarProcess extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string
  readonly token: string
  /** The server's ready message: what runs, and its capabilities. */
  readonly ready: ReadyLine
  /** One-line summary of `ready`: engine, device, dtype, model, versions. */
  readonly summary: string
  readonly pid: number
  /** Resolves when the process has ended, on request or not. */
  readonly exited: Promise<SidecarExit>
  /** Aborted with a Fault `backend-lost` when the process ends without a request. */
  readonly died: AbortSignal
  /** Awaits work that needs the server; rejects with a Fault `backend-lost` as soon as the process has ended. */
  watch<T>(work: PromiseLike<T>): Promise<T>
  /** Asks the server to stop, kills it after `stopSeconds`; resolves when it has ended. */
  stop(): Promise<SidecarExit>
}

/** Creates a random token with the prefix `tml-`, which the wire's clients require. */
export const createToken = (): string => `tml-${randomBytes(24).toString('hex')}`

function serverArguments(options: StartSidecarOptions): string[] {
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

function spawnServer(options: StartSidecarOptions, python: string, token: string): ChildProcess {
  const env = options.env ?? process.env
  const paths = [pythonPackage(), env.PYTHONPATH].filter(Boolean)
  const separator = process.platform === 'win32' ? ';' : ':'
  return spawn(python, serverArguments(options), {
    env: {
      ...env,
      BEDSIDE_SIDECAR_TOKEN: token,
      PYTHONPATH: paths.join(separator),
      PYTHONUNBUFFERED: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    // Ctrl-C reaches every process of a terminal's group, and the server must outlive the current step.
    detached: process.platform !== 'win32',
  })
}

/**
 * Starts a sidecar and waits until it listens. It ends with this process, however this process ends.
 * @throws Fault `bad-input` if there is no environment, or with the server's message if it refuses its options
 * @throws Fault `model-unavailable` if it cannot start, exits, or takes too long
 */
export async function startSidecar(options: StartSidecarOptions): Promise<SidecarProcess> {
  const { engine, state, signal, token = createToken(), stopSeconds = 10, onLine } = options
  signal?.throwIfAborted()
  const found =
    options.python ?? (await findPython(engine, options.env ? { env: options.env } : {}))
  if (typeof found === 'object' && !found.found) throw new Fault('bad-input', found.reason)
  const python = typeof found === 'string' ? found : found.python
  await rethrowAsFault('bad-input', `--state ${state}`, () => mkdir(state, { recursive: true }))
  const child = spawnServer(options, python, token)
  const followed = followProcess(child, token, onLine ?? (() => {}))
  const { exited } = followed
  const { stop, asked } = createStopper(child, exited, stopSeconds)
  const ask = () => void stop()
  signal?.addEventListener('abort', ask)
  process.once('exit', ask)
  void exited.then(() => {
    signal?.removeEventListener('abort', ask)
    process.off('exit', ask)
  })
  const watching = watchProcess(exited, asked)
  try {
    const ready = await waitUntilReady(followed, options)
    return {
      address: ready.address,
      token,
      ready,
      summary: readySummary(ready),
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
