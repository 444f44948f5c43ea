/**
 * Rollout source: rollouts made ahead by one side and leased by the other, which trains on them.
 *
 * A lease is acknowledged once its rollouts have been used. One that is not, because its holder died, expires: its
 * rollouts are leased again. So a rollout is used at most once by anybody who acknowledges, and lost by nobody.
 */
import { untilAborted } from '../../platform/abort.js'

/** Rollouts lent to one holder. */
export interface Lease<T> {
  readonly id: string
  readonly holder: string
  /** In the order in which they were begun. */
  readonly rollouts: readonly T[]
  /** When it expires, in milliseconds on the clock of `performance.now`; Infinity if never. */
  readonly expires: number
  /** Rollouts dropped since the last lease: too old, or without anything to learn from. */
  readonly stale: readonly T[]
  readonly empty: readonly T[]
  /** Number of the first rollout that has not been begun: where a source opened later goes on. */
  readonly begun: number
}

/** Options of {@link RolloutSource.lease}. */
export interface LeaseOptions {
  /** Version of the weights that will be trained. */
  readonly policyVersion: number
  /** Who asks; only the holder can acknowledge. @default '' */
  readonly holder?: string
  readonly signal?: AbortSignal | undefined
}

/** Where a trainer gets its rollouts from. */
export interface RolloutSource<T> extends AsyncDisposable {
  /** Waits for `count` rollouts that are fresh enough. @throws the error of a failed rollout, or once closed */
  lease(count: number, options: LeaseOptions): Promise<Lease<T>>
  /**
   * Says that the rollouts of a lease were used; they are not lent again.
   * @throws TypeError for a lease that does not exist, was acknowledged, has expired, or is another holder's
   */
  ack(lease: Pick<Lease<T>, 'id' | 'holder'>): void
  /** Takes back the rollouts of leases whose time is over; gives the number of those leases. */
  expire(now?: number): number
  /** Stops the rollouts under way and waits for them to end. */
  close(): Promise<void>
}

/** Options of {@link openRolloutSource}. */
export interface RolloutSourceOptions<T> {
  /** Makes the n-th rollout. Its error ends the source. */
  readonly make: (n: number, signal: AbortSignal) => Promise<T>
  /** Number of the first rollout. @default 0 */
  readonly first?: number
  /** Rollouts under way or ready at most. */
  readonly ahead: number
  /** Version of the oldest weights that drew any of it; Infinity where none did. */
  readonly oldestVersion: (rollout: T) => number
  /** Most versions between a rollout's oldest weights and those that it trains; older ones are dropped. */
  readonly maxStaleness: number
  /** Whether there is nothing in it to learn from. @default none is */
  readonly isEmpty?: (rollout: T) => boolean
  /** Called with the empty rollouts since the last lease; throws where there are too many. */
  readonly checkEmpty?: (empty: readonly T[]) => void
  /** Milliseconds after which a lease expires. @default never */
  readonly leaseMs?: number
}

interface NumberedRollout<T> {
  readonly n: number
  readonly rollout: T
}

/** Keeps `ahead` rollouts under way or ready. */
// Long because its methods share what is ready and who waits.
function makeAhead<T>({ make, first = 0, ahead }: RolloutSourceOptions<T>) {
  const stop = new AbortController()
  const ready: NumberedRollout<T>[] = []
  const running = new Set<Promise<void>>()
  const waiting = new Set<() => void>()
  let next = first
  let failure: { readonly error: unknown } | undefined
  const wakeAll = (): void => {
    for (const wake of waiting) wake()
    waiting.clear()
  }
  const fail = (error: unknown): void => {
    failure ??= { error }
    wakeAll()
  }
  const put = (one: NumberedRollout<T>): void => {
    const at = ready.findIndex(({ n }) => n > one.n)
    ready.splice(at < 0 ? ready.length : at, 0, one)
    wakeAll()
  }
  const launch = (): void => {
    while (running.size + ready.length < ahead && !failure) {
      const n = next++
      const work: Promise<void> = Promise.resolve(make(n, stop.signal))
        .then((rollout) => put({ n, rollout }), fail)
        .finally(() => running.delete(work))
      running.add(work)
    }
  }
  return {
    ...{ put, launch, begun: () => next },
    /** The oldest that is ready, as soon as there is one. */
    async take(signal: AbortSignal | undefined): Promise<NumberedRollout<T>> {
      for (;;) {
        if (failure) throw failure.error
        if (ready.length + running.size === 0) launch()
        const one = ready.shift()
        if (one) return one
        await untilAborted(new Promise<void>((wake) => waiting.add(wake)), signal)
      }
    },
    async close(): Promise<void> {
      const closed = new DOMException('The rollout source was closed', 'AbortError')
      fail(closed)
      stop.abort(closed)
      await Promise.all(running)
    },
  }
}

/**
 * Opens a source in memory, which makes rollouts ahead of the leases. What a lease takes is begun anew with the next
 * lease, after the step: begun before it, with the weights of before it, it would be a version older.
 */
// Long because its methods share the leases.
export function openRolloutSource<T>(options: RolloutSourceOptions<T>): RolloutSource<T> {
  const { oldestVersion, maxStaleness, isEmpty = () => false, checkEmpty } = options
  const { leaseMs = Number.POSITIVE_INFINITY } = options
  const made = makeAhead(options)
  const leases = new Map<string, { readonly lease: Lease<T>; readonly all: NumberedRollout<T>[] }>()
  let leased = 0

  const expire = (now = performance.now()): number => {
    const over = [...leases.values()].filter(({ lease }) => lease.expires <= now)
    for (const { lease, all } of over) {
      leases.delete(lease.id)
      for (const one of all) made.put(one)
    }
    return over.length
  }

  return {
    async lease(count, { policyVersion, holder = '', signal }) {
      const all: NumberedRollout<T>[] = []
      const stale: T[] = []
      const empty: T[] = []
      try {
        expire()
        made.launch()
        while (all.length < count) {
          const one = await made.take(signal)
          if (isEmpty(one.rollout)) {
            empty.push(one.rollout)
            checkEmpty?.(empty)
            made.launch()
          } else if (policyVersion - oldestVersion(one.rollout) > maxStaleness) {
            stale.push(one.rollout)
            made.launch()
          } else all.push(one)
        }
      } catch (error) {
        for (const one of all) made.put(one)
        throw error
      }
      all.sort((a, b) => a.n - b.n)
      const lease: Lease<T> = {
        id: `${leased++}`,
        holder,
        rollouts: all.map(({ rollout }) => rollout),
        expires: performance.now() + leaseMs,
        ...{ stale, empty, begun: made.begun() },
      }
      leases.set(lease.id, { lease, all })
      return lease
    },

    ack({ id, holder }) {
      expire()
      const known = leases.get(id)
      if (!known)
        throw new TypeError(`Expected a lease that is open, got \`${id}\`: acknowledged or expired`)
      if (known.lease.holder !== holder)
        throw new TypeError(
          `Expected lease \`${id}\` to be acknowledged by \`${known.lease.holder}\`, got \`${holder}\``,
        )
      leases.delete(id)
    },

    expire,

    close: () => made.close(),

    [Symbol.asyncDispose]() {
      return this.close()
    },
  }
}
