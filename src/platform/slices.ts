/** Long computations that pause, so that the event loop goes on: done at once, or in slices of a few milliseconds. */

/** A computation that pauses at each `yield`, a millisecond or less after the one before. */
export type SlicedWork<T> = Generator<undefined, T, undefined>

/** Milliseconds of work between two turns of the event loop. */
const sliceMs = 3

/** Does a computation at once and returns its result. */
export function finish<T>(work: SlicedWork<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** Calls `part` for one range of 0 to `size` after another, each of at most `length`, with a pause before each. */
export function* inRanges(
  size: number,
  length: number,
  part: (from: number, to: number) => void,
): SlicedWork<void> {
  for (let from = 0; from < size; from += length) {
    yield
    part(from, Math.min(from + length, size))
  }
}

/** Lets timers and I/O run, then goes on. */
export const nextLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Does a computation in slices; other work runs in between. */
export async function inSlices<T>(work: SlicedWork<T>): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < end)
    await nextLoopTurn()
  }
}

/** When the first job of this turn of the event loop began. */
let turnBegan: number | undefined
const waiting: (() => void)[] = []

/** Begins a turn: runs the jobs that wait, as long as the slice lasts. */
function beginTurn(): void {
  turnBegan = waiting.length > 0 ? performance.now() : undefined
  while (turnBegan !== undefined && performance.now() < turnBegan + sliceMs) {
    const job = waiting.shift()
    if (!job) break
    job()
  }
  if (turnBegan !== undefined) setImmediate(beginTurn)
}

/**
 * Does a short job: now, or in a later turn of the event loop where the jobs of this turn have filled a slice. A job
 * that has to wait gives a promise.
 */
export function inTurn<T>(job: () => T | Promise<T>): T | Promise<T> {
  if (turnBegan === undefined) {
    turnBegan = performance.now()
    setImmediate(beginTurn)
  }
  if (waiting.length === 0 && performance.now() < turnBegan + sliceMs) return job()
  return new Promise<T>((resolve, reject) => {
    waiting.push(() => {
      try {
        resolve(job())
      } catch (error) {
        reject(error)
      }
    })
  })
}

/** A value that takes long to make and is made once. */
export interface SlowValue<T> {
  /** Whether it is made. */
  readonly ready: boolean
  /** Makes what is left of it at once. */
  get(): T
  /** Makes what is left of it in slices; callers at the same time share the work. */
  prepare(): Promise<T>
  /** What is left of it, as a part of a longer computation. */
  rest(): SlicedWork<T>
}

/** Makes a slow value; `make` is called when the value is first needed, and again after it threw. */
export function slowValue<T>(make: () => SlicedWork<T>): SlowValue<T> {
  let made: { readonly value: T } | undefined
  let work: SlicedWork<T> | undefined
  let pending: Promise<T> | undefined
  function* rest(): SlicedWork<T> {
    while (!made) {
      work ??= make()
      let step: IteratorResult<undefined, T>
      try {
        step = work.next()
      } catch (error) {
        work = undefined
        throw error
      }
      if (step.done) {
        made = { value: step.value }
        work = undefined
      } else yield
    }
    return made.value
  }
  return {
    get ready() {
      return made !== undefined
    },
    get: () => (made ? made.value : finish(rest())),
    prepare() {
      pending ??= inSlices(rest()).finally(() => {
        pending = undefined
      })
      return pending
    },
    rest,
  }
}
