/**
 * Several processes behind one port: the first starts the others, tells each where the rest are, starts one again that
 * has died, and ends them all. Each runs the same command line.
 */
import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerPlace } from './peers.js'
import type { RunningServer } from './server.js'

/** What the first process says to the others. */
type ToWorker =
  | {
      readonly kind: 'begin'
      readonly number: number
      readonly secret: string
      readonly port: number
    }
  | { readonly kind: 'peers'; readonly peers: readonly (readonly [number, string])[] }
  | { readonly kind: 'end'; readonly graceSeconds: number }

/** What a process says: that it hears, and then that it listens. */
type FromWorker = { readonly kind: 'here' } | Ready

/** A process that listens. */
interface Ready {
  readonly kind: 'ready'

  readonly address: string
  /** The door for the other processes. */
  readonly inner: string
}

/** Milliseconds before a process that died is started again: one that cannot live shall not fill the machine. */
const pauseMs = 1000
/** Seconds that a process has to end, beyond the time for its sessions. */
const spareSeconds = 5

const tell = (worker: Worker, message: ToWorker): void => {
  if (worker.isConnected()) worker.send(message, () => undefined)
}

const say = (message: FromWorker): void => void process.send?.(message)

/** Processes that listen on one port. */
export type RunningWorkers = Pick<RunningServer, 'address' | 'close'>

/** How many processes there are, and where they listen. */
interface WorkersOptions {
  readonly count: number
  readonly host?: string | undefined
  /** 0 takes a free one. */
  readonly port?: number | undefined
}

/** A port that is free now: each process asks for it by its number, one that is started again too. */
async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a server that listens on a port
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Starts processes that run this command line again, and behave by {@link serveAsWorker}.
 * @throws Error where one of them ends before it listens
 */
// Long because its functions share the table of processes.
export async function startWorkers(
  { count, host, port: wanted = 0 }: WorkersOptions,
  onDeath: (number: number) => void,
): Promise<RunningWorkers> {
  const port = wanted === 0 ? await freePort(host) : wanted
  const secret = randomBytes(24).toString('base64url')
  const inner = new Map<number, string>()
  const alive = new Map<number, Worker>()
  let first: Ready | undefined
  let ending = false

  const tellPeers = (): void => {
    for (const worker of alive.values()) tell(worker, { kind: 'peers', peers: [...inner] })
  }

  const start = (number: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork()
      alive.set(number, worker)
      worker.on('error', () => undefined)
      worker.on('message', (message: FromWorker) => {
        // What is sent before a process hears is lost.
        if (message.kind === 'here') return tell(worker, { kind: 'begin', number, secret, port })
        first ??= message
        inner.set(number, message.inner)
        tellPeers()
        resolve()
      })
      worker.once('exit', (code, signal) => {
        alive.delete(number)
        const lived = inner.delete(number)
        reject(new Error(`A process of the server ended at its start (${signal ?? code})`))
        if (ending) return
        tellPeers()
        if (lived) onDeath(number)
        if (first)
          void sleep(pauseMs)
            .then(() => (ending ? undefined : start(number)))
            .catch(() => undefined)
      })
    })

  const close = async ({ graceSeconds = 0 } = {}): Promise<void> => {
    ending = true
    const all = [...alive.values()]
    const ended = all.map((worker) => new Promise((resolve) => worker.once('exit', resolve)))
    for (const worker of all) tell(worker, { kind: 'end', graceSeconds })
    const late = new AbortController()
    const limit = sleep((graceSeconds + spareSeconds) * 1000, undefined, { signal: late.signal })
    await Promise.race([Promise.all(ended), limit])
    late.abort()
    limit.catch(() => undefined)
    for (const worker of alive.values()) worker.process.kill('SIGKILL')
  }

  try {
    // The first alone, so that what is wrong with all of them is said once.
    await start(0)
    await Promise.all(Array.from({ length: count - 1 }, (_, n) => start(n + 1)))
  } catch (error) {
    await close()
    throw error
  }
  if (!first) throw new TypeError('Expected a process that listens')
  return { address: first.address, close }
}

/** Whether this process was started by {@link startWorkers}. */
export const isWorker = (): boolean => cluster.isWorker

/**
 * Serves as one of several processes, until the first one says to end or is no more.
 * @param start starts the server at a place
 */
export async function serveAsWorker(
  start: (place: WorkerPlace, port: number) => Promise<RunningServer>,
): Promise<void> {
  // A signal from a terminal reaches every process; the first one says when to end.
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.removeAllListeners(name)
    process.on(name, () => undefined)
  }
  let peers: ReadonlyMap<number, string> = new Map()
  let server: RunningServer | undefined
  const graceSeconds = await new Promise<number>((resolve, reject) => {
    process.on('message', (message: ToWorker) => {
      if (message.kind === 'peers') peers = new Map(message.peers)
      else if (message.kind === 'end') resolve(message.graceSeconds)
      else {
        const { number, secret, port } = message
        start({ number, secret, peers: () => peers }, port).then((running) => {
          server = running
          const { address, inner = '' } = running
          say({ kind: 'ready', address, inner })
        }, reject)
      }
    })
    process.once('disconnect', () => resolve(0))
    say({ kind: 'here' })
  })
  await server?.close({ graceSeconds })
  cluster.worker?.disconnect()
}
