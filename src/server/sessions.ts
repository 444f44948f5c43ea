/** The table of sessions: a bounded number at once, a queue for more, and an end for those that nobody uses. */
import { randomUUID } from 'node:crypto'
import type { WireAction } from './action.js'
import type { Consultations } from './consultations.js'
import type { SessionOptions } from './options.js'
import { Refusal } from './refusal.js'
import { type ServerSession, startSession } from './session.js'

/** Bounds of a table. */
export interface SessionBounds {
  /** Sessions at once. @default 1024 */
  readonly most?: number
  /** Seconds after which a session that nobody uses ends. @default 900 */
  readonly idleSeconds?: number
  /** Seconds that a client waits for a place. @default 30 */
  readonly waitSeconds?: number
  /** Number of this process, where several serve one port: it is in the ids of its sessions. @default none */
  readonly worker?: number
}

/** A session with its id. */
export interface OpenSession {
  readonly id: string
  readonly session: ServerSession
}

/** What a session begins with. */
export interface SessionStart {
  /** An id of `newId`, for a client that was given it before. @default a new one */
  readonly id?: string | undefined
  readonly options: SessionOptions
  /** Actions of an earlier session, taken again. @default none */
  readonly actions?: readonly WireAction[]
  readonly signal: AbortSignal
}

/** The sessions of a server. */
export interface Sessions {
  /** An id for a session of this process. */
  newId(): string
  /** Opens a session, after waiting for a place; one that is open under the id already is it. @throws Refusal */
  open(start: SessionStart): Promise<OpenSession>
  /** Begins another consultation under the id of a session, in its place. @throws Refusal: the session is as it was */
  reopen(id: string, start: SessionStart): Promise<ServerSession>
  /** The session of an id; it is used now. @throws Refusal `session-gone` or `not-found`; {@link Elsewhere} */
  find(id: string): ServerSession
  /** The process that has the session of an id, if it is another. */
  elsewhere(id: string): number | undefined
  /** Ends a session; one that is no more is none. */
  close(id: string): Promise<boolean>
  /** Refuses new ones, and ends all when they are closed or after some seconds. */
  drain(graceSeconds: number): Promise<void>
  readonly counts: {
    readonly open: number
    readonly waiting: number
    readonly opened: number
    readonly reaped: number
  }
}

const idForm =
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?:\.(\d{1,3}))?$/

/** Thrown for the session of another process: the request is for that one. */
export class Elsewhere extends Error {
  override readonly name = 'Elsewhere'
  readonly worker: number

  constructor(worker: number) {
    super(`This session is of worker ${worker}`)
    this.worker = worker
  }
}

/** Seconds after which the memory of an unused session is freed. */
const sleepSeconds = 10

interface TableEntry {
  session: ServerSession
  used: number
  awake: boolean
}

/** Opens a table of sessions. */
// Long because its methods share the table.
export function openSessions(
  consultations: Consultations,
  { most = 1024, idleSeconds = 900, waitSeconds = 30, worker }: SessionBounds = {},
): Sessions {
  // In the order of their last use, so that those to end come first.
  const table = new Map<string, TableEntry>()
  const queue: (() => void)[] = []
  let places = most
  let [opened, reaped, draining] = [0, 0, false]

  const release = (): void => {
    const next = queue.shift()
    if (next) next()
    else places++
  }

  const place = async (signal: AbortSignal): Promise<void> => {
    if (draining) throw new Refusal('draining', 'The server is about to end: connect again later')
    if (places > 0) {
      places--
      return
    }
    const full = () =>
      new Refusal(
        'capacity',
        `All ${most} sessions are in use, and none ended within ${waitSeconds} s: close some, or start the server with --max-sessions`,
        { active_sessions: table.size, max_sessions: most },
      )
    await new Promise<void>((resolve, reject) => {
      const leave = (error: unknown) => {
        const at = queue.indexOf(enter)
        if (at >= 0) queue.splice(at, 1)
        signal.removeEventListener('abort', onAbort)
        reject(error)
      }
      const timer = setTimeout(() => leave(full()), waitSeconds * 1000)
      const onAbort = () => {
        clearTimeout(timer)
        leave(signal.reason)
      }
      const enter = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      queue.push(enter)
      signal.addEventListener('abort', onAbort)
    })
  }

  const newId = () => (worker === undefined ? randomUUID() : `${randomUUID()}.${worker}`)

  const elsewhere = (id: string): number | undefined => {
    const of = idForm.exec(id)?.[1]
    return worker === undefined || of === undefined || Number(of) === worker
      ? undefined
      : Number(of)
  }

  const check = (id: string): void => {
    if (!idForm.test(id))
      throw new Refusal('not-found', `Expected the id of a session, got \`${id.slice(0, 80)}\``)
    const other = elsewhere(id)
    if (other !== undefined) throw new Elsewhere(other)
  }

  const use = (id: string): TableEntry => {
    const found = table.get(id)
    if (!found) {
      check(id)
      throw new Refusal(
        'session-gone',
        'This session has ended (closed, idle, or of a server that was started again): open one with the same options and, as `actions`, those it had taken',
      )
    }
    table.delete(id)
    table.set(id, found)
    found.used = performance.now()
    found.awake = true
    return found
  }

  const remove = async (id: string): Promise<boolean> => {
    const found = table.get(id)
    if (!found) return false
    table.delete(id)
    release()
    await found.session.close()
    return true
  }

  const start = async ({ options, actions = [], signal }: SessionStart): Promise<ServerSession> =>
    startSession(consultations, { options, actions, signal })

  const reap = async (): Promise<void> => {
    const before = performance.now() - idleSeconds * 1000
    const asleep = performance.now() - Math.min(sleepSeconds, idleSeconds) * 1000
    for (const [id, entry] of table) {
      if (entry.used <= before) {
        reaped++
        await remove(id)
      } else if (entry.used > asleep) return
      else if (entry.awake) {
        entry.awake = false
        await entry.session.sleep()
      }
    }
  }
  const reaper = setInterval(() => void reap(), Math.min(idleSeconds * 250, 5000)).unref()

  return {
    ...{ newId, elsewhere },
    async open(given) {
      const { id = newId() } = given
      if (given.id !== undefined) check(id)
      const there = table.get(id)?.session
      if (there && JSON.stringify(there.options) === JSON.stringify(given.options))
        return { id, session: there }
      if (there) throw new Refusal('conflict', 'Expected a new id: this session is open already')
      await place(given.signal)
      try {
        const session = await start(given)
        if (table.has(id)) {
          await session.close()
          throw new Refusal('conflict', 'Expected a new id: this session was opened meanwhile')
        }
        table.set(id, { session, used: performance.now(), awake: true })
        opened++
        return { id, session }
      } catch (error) {
        release()
        throw error
      }
    },
    async reopen(id, given) {
      const before = use(id)
      const session = await start(given)
      // It may have ended meanwhile, and its place with it.
      if (table.get(id) !== before) {
        await session.close()
        use(id)
      }
      await before.session.close()
      before.session = session
      opened++
      return session
    },
    find: (id) => use(id).session,
    async close(id) {
      check(id)
      return remove(id)
    },
    async drain(graceSeconds) {
      draining = true
      clearInterval(reaper)
      const end = performance.now() + graceSeconds * 1000
      while (table.size > 0 && performance.now() < end)
        await new Promise((resolve) => setTimeout(resolve, 50))
      for (const id of [...table.keys()]) await remove(id)
    },
    get counts() {
      return { open: table.size, waiting: queue.length, opened, reaped }
    },
  }
}
