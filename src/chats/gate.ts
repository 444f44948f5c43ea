/** The gate before a model server: one limit of requests at once and per minute for all roles that call it. */
import { Fault } from '../error.js'

/** Limits under which a request may start. */
export interface GateLimits {
  /** Requests under way at the server, those of every role counted. */
  readonly concurrency: number
  /** Requests begun per minute, evenly spaced. @default no limit */
  readonly requestsPerMinute?: number | undefined
  readonly signal?: AbortSignal | undefined
}

interface Waiter extends GateLimits {
  readonly start: () => void
}

/** Requests wait in one row; the first of it holds up the others until its own limits let it start. */
export class Gate {
  #running = 0
  /** When the next request may start, on the clock of `performance.now`. */
  #opensAt = 0
  #timer: NodeJS.Timeout | undefined
  readonly #row = new Set<Waiter>()

  /** Waits for a place, which `leave` gives back. @throws Fault `aborted` */
  enter({ signal, ...limits }: GateLimits): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#row.delete(waiter)
        reject(new Fault('aborted', 'aborted while waiting for a model server'))
        this.#admit()
      }
      const start = () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      const waiter: Waiter = { ...limits, start }
      if (signal?.aborted) return stop()
      signal?.addEventListener('abort', stop, { once: true })
      this.#row.add(waiter)
      this.#admit()
    })
  }

  leave(): void {
    this.#running--
    this.#admit()
  }

  /** Starts no request for some time: what one role was asked to wait holds for all. */
  pause(ms: number): void {
    this.#opensAt = Math.max(this.#opensAt, performance.now() + ms)
  }

  /** Requests under way and waiting. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#row.size }
  }

  #admit(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const waiter of this.#row) {
      const now = performance.now()
      if (this.#opensAt > now) {
        this.#timer = setTimeout(() => this.#admit(), Math.ceil(this.#opensAt - now))
        return
      }
      if (this.#running >= waiter.concurrency) return
      this.#row.delete(waiter)
      this.#running++
      if (waiter.requestsPerMinute !== undefined)
        this.#opensAt = now + 60_000 / waiter.requestsPerMinute
      waiter.start()
    }
  }
}

const gates = new Map<string, Gate>()

/** The gate of a server: the same one for the same address in the whole process. */
export function gateOf(address: string): Gate {
  const known = gates.get(address)
  if (known) return known
  const gate = new Gate()
  gates.set(address, gate)
  return gate
}
