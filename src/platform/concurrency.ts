/** Bounded concurrency over a list or a stream of jobs, with results in order. */
import pLimit from 'p-limit'

/** Milliseconds between turns of the event loop. */
const yieldEveryMs = 50

/** @throws RangeError when it is not a positive integer */
function checkConcurrency(concurrency: number): void {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(
      `Expected \`concurrency\` to be a positive integer, got \`${concurrency}\``,
    )
}

/**
 * Runs every job, at most `concurrency` at a time. The first error is thrown; jobs not yet started are skipped.
 * Synchronous jobs yield to the event loop now and then, so that Ctrl-C and timers work.
 * @throws RangeError when concurrency is not a positive integer
 */
export async function mapPool<J, R>(
  jobs: readonly J[],
  concurrency: number,
  run: (job: J, index: number) => Promise<R>,
): Promise<R[]> {
  checkConcurrency(concurrency)
  const limit = pLimit(concurrency)
  let last = performance.now()
  const yieldToLoop = async (): Promise<void> => {
    if (performance.now() - last < yieldEveryMs) return
    await new Promise((resolve) => setImmediate(resolve))
    last = performance.now()
  }
  let failed = false
  const runOne = async (job: J, index: number): Promise<R> => {
    await yieldToLoop()
    if (failed) throw new Error('Not begun: another job failed') // the caller has the other's error
    try {
      return await run(job, index)
    } catch (error) {
      failed = true
      limit.clearQueue()
      throw error
    }
  }
  return Promise.all(jobs.map((job, index) => limit(() => runOne(job, index))))
}

/**
 * Runs the jobs of a stream, at most `concurrency` in flight, and yields their results in order. The first error is
 * thrown in its turn. After it, or when the consumer stops, no job starts and those in flight are awaited.
 * @throws RangeError when concurrency is not a positive integer
 */
export async function* mapStream<J, R>(
  jobs: AsyncIterable<J>,
  concurrency: number,
  run: (job: J) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  checkConcurrency(concurrency)
  const inFlight: Promise<R>[] = []
  try {
    for await (const job of jobs) {
      const result = run(job)
      // Thrown in its turn, which may come after the process would have ended for an unhandled rejection.
      result.catch(() => {})
      inFlight.push(result)
      if (inFlight.length >= concurrency) yield inFlight.shift() as Promise<R>
    }
    while (inFlight.length > 0) yield inFlight.shift() as Promise<R>
  } finally {
    await Promise.allSettled(inFlight)
  }
}
