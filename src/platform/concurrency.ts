/** Bounded concurrency over a list or a stream of jobs, with results in order. */
import { setMaxListeners } from 'node:events'
import pLimit from 'p-limit'
import { inTurn } from './slices.js'

/** @throws RangeError when it is not a positive integer */
function checkConcurrency(concurrency: number): void {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(
      `Expected \`concurrency\` to be a positive integer, got \`${concurrency}\``,
    )
}

/**
 * Runs every job, at most `concurrency` at a time. The first error is thrown when the jobs under way are over; jobs not
 * yet started are skipped, and the signal that a job gets tells it that its result is no longer wanted: another job
 * failed, or `signal` was aborted.
 * Jobs start in slices of a few milliseconds, so that Ctrl-C, timers and the jobs under way are not held up.
 * @throws RangeError when concurrency is not a positive integer
 */
export async function mapPool<J, R>(
  jobs: readonly J[],
  concurrency: number,
  run: (job: J, index: number, signal: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  checkConcurrency(concurrency)
  const limit = pLimit(concurrency)
  const failure = new AbortController()
  // Every job may listen; the usual warning is for more than ten.
  const stopped = signal ? AbortSignal.any([signal, failure.signal]) : failure.signal
  setMaxListeners(0, stopped)
  const start = (job: J, index: number): Promise<R> => {
    stopped.throwIfAborted()
    return run(job, index, stopped)
  }
  const runOne = async (job: J, index: number): Promise<R> => {
    try {
      return await inTurn(() => start(job, index))
    } catch (error) {
      limit.clearQueue()
      failure.abort(error)
      throw error
    }
  }
  const running = new Set<Promise<R>>()
  const track = (work: Promise<R>): Promise<R> => {
    running.add(work)
    const drop = () => running.delete(work)
    work.then(drop, drop)
    return work
  }
  try {
    return await Promise.all(jobs.map((job, index) => limit(() => track(runOne(job, index)))))
  } catch {
    await Promise.allSettled(running)
    throw stopped.reason
  }
}

/** Most results, as a multiple of the concurrency, that wait for a slow one before them. */
const windowPerSlot = 64

/** Work under way, in the order in which it was begun. */
class OrderedWork<R> {
  readonly #queue: { readonly result: Promise<R>; settled: boolean }[] = []
  #wake = (): void => {}
  running = 0
  failed = false

  get size(): number {
    return this.#queue.length
  }

  /** Whether the oldest is over. */
  get firstSettled(): boolean {
    return this.#queue[0]?.settled ?? false
  }

  add(result: Promise<R>): void {
    const place = { result, settled: false }
    const settle = (): void => {
      place.settled = true
      this.running--
      this.#wake()
    }
    this.running++
    this.#queue.push(place)
    result.then(settle, () => {
      this.failed = true
      settle()
    })
  }

  /** Waits for the oldest, and takes it out. */
  takeFirst(): Promise<R> | undefined {
    return this.#queue.shift()?.result
  }

  /** Waits until any of it is over. */
  waitForAny(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  async waitForAll(): Promise<void> {
    await Promise.allSettled(this.#queue.map(({ result }) => result))
  }
}

/**
 * Runs the jobs of a stream, at most `concurrency` at a time, and yields their results in order. Up to 64 results a slot
 * wait for a slow one before them, while others go on. The first error is thrown in its turn. After it, or when the
 * consumer stops, no job starts and those under way are awaited.
 * @throws RangeError when concurrency is not a positive integer
 */
export async function* mapStream<J, R>(
  jobs: AsyncIterable<J>,
  concurrency: number,
  run: (job: J) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  checkConcurrency(concurrency)
  const work = new OrderedWork<R>()
  const full = () => work.running >= concurrency || work.size >= windowPerSlot * concurrency
  try {
    for await (const job of jobs) {
      work.add(run(job))
      while (work.size > 0 && (work.failed || work.firstSettled || full()))
        if (work.failed || work.firstSettled) yield work.takeFirst() as Promise<R>
        else await work.waitForAny()
    }
    while (work.size > 0) yield work.takeFirst() as Promise<R>
  } finally {
    await work.waitForAll()
  }
}
