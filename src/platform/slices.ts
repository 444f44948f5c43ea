/** Long computations that pause, so that the event loop goes on: done at once, or in slices of a few milliseconds. */

/** A computation that pauses at each `yield`, a millisecond or less after the one before. */
export type SlicedWork<T> = Generator<undefined, T, undefined>

/** Milliseconds of work between two turns of the event loop. */
const sliceMs = 5

/** Does a computation at once and returns its result. */
export function finish<T>(work: SlicedWork<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
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
