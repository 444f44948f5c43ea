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
import { semiSpaceMb } from './young-generation.js'

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

const say = (message: FromWorker): void => {
  // The first process may be gone; to hear so is enough.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

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

/** Tells all processes where they are. */
function tellPeers(alive: ReadonlyMap<number, Worker>, inner: ReadonlyMap<number, string>): void {
  for (const worker of alive.values()) tell(worker, { kind: 'peers', peers: [...inner] })
}

/** Ends processes; those that do not end in time are killed. */
async function endAll(alive: ReadonlyMap<number, Worker>, graceSeconds: number): Promise<void> {
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

/** Starts one process. Resolves when it listens. @throws Error where it ends before */
function startOne(
  begin: ToWorker,
  onExit: () => void,
): { readonly worker: Worker; readonly ready: Promise<Ready> } {
  cluster.setupPrimary({
    execArgv: [...process.execArgv, `--max-semi-space-size=${semiSpaceMb}`],
    // Node prints a stack trace in a process that starts when the first one is no more: nobody is there to read it.
    stdio: ['inherit', 'inherit', 'pipe', 'ipc'],
  })
  const worker = cluster.fork()
  worker.process.stderr?.pipe(process.stderr, { end: false })
  worker.on('error', () => undefined)
  const ready = new Promise<Ready>((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      // What is sent before a process hears is lost.
      if (message.kind === 'here') tell(worker, begin)
      else resolve(message)
    })
    worker.once('exit', (code, signal) => {
      onExit()
      reject(new Error(`A process of the server ended at its start (${signal ?? code})`))
    })
  })
  return { worker, ready }
}

/**
 * Starts processes that run this command line again, and behave by {@link serveAsWorker}.
 * @param onDeath hears the number of a process that died and is started again
 * @throws Error where one of them ends before it listens
 */
export async function startWorkers(
  { count, host, port: wanted = 0 }: WorkersOptions,
  onDeath: (number: number) => void,
): Promise<RunningWorkers> {
  const port = wanted === 0 ? await freePort(host) : wanted
  const secret = randomBytes(24).toString('base64url')
  const inner = new Map<number, string>()
  const alive = new Map<number, Worker>()
  let ending = false
  const start = async (number: number): Promise<string> => {
    const { worker, ready } = startOne({ kind: 'begin', number, secret, port }, () => {
      alive.delete(number)
      if (inner.delete(number) && !ending) void again(number)
    })
    alive.set(number, worker)
    const { address, inner: door } = await ready
    inner.set(number, door)
    tellPeers(alive, inner)
    return address
  }
  const again = async (number: number): Promise<void> => {
    onDeath(number)
    tellPeers(alive, inner)
    await sleep(pauseMs)
    if (!ending) await start(number).catch(() => again(number))
  }
  const close = ({ graceSeconds = 0 } = {}): Promise<void> => {
    ending = true
    return endAll(alive, graceSeconds)
  }
  try {
    // The first alone, so that what is wrong with all of them is said once.
    const address = await start(0)
    await Promise.all(Array.from({ length: count - 1 }, (_, n) => start(n + 1)))
    return { address, close }
  } catch (error) {
    await close()
    throw error
  }
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
