/** Bounded concurrency, results in the order of the jobs. */
import pLimit from 'p-limit'

/** Milliseconds of jobs after which the event loop gets a turn. */
const turnMs = 50

/** @throws RangeError when it is not a positive integer */
function checkConcurrency(concurrency: number): void {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(
      `Expected \`concurrency\` to be a positive integer, got \`${concurrency}\``,
    )
}

/**
 * Runs every job, at most `concurrency` at a time. The first error stops what has not begun and is thrown.
 * Jobs that never wait for anything are set aside now and then, so that Ctrl-C and timers are heard.
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
  const turn = async (): Promise<void> => {
    if (performance.now() - last < turnMs) return
    await new Promise((resolve) => setImmediate(resolve))
    last = performance.now()
  }
  let failed = false
  const one = async (job: J, index: number): Promise<R> => {
    await turn()
    if (failed) throw new Error('Not begun: another job failed') // the caller has the other's error
    try {
      return await run(job, index)
    } catch (error) {
      failed = true
      limit.clearQueue()
      throw error
    }
  }
  return Promise.all(jobs.map((job, index) => limit(() => one(job, index))))
}

/**
 * Runs a job for each of a stream and gives the results in its order, holding no more than `concurrency` of them. The
 * first error is thrown when its turn comes; then, as when nobody wants more, nothing is begun and what was is awaited.
 * @throws RangeError when concurrency is not a positive integer
 */
export async function* mapStream<J, R>(
  jobs: AsyncIterable<J>,
  concurrency: number,
  run: (job: J) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  checkConcurrency(concurrency)
  const begun: Promise<R>[] = []
  try {
    for await (const job of jobs) {
      const result = run(job)
      // It is thrown in its turn, which may be after the process would have ended for nobody having caught it.
      result.catch(() => {})
      begun.push(result)
      if (begun.length >= concurrency) yield begun.shift() as Promise<R>
    }
    while (begun.length > 0) yield begun.shift() as Promise<R>
  } finally {
    await Promise.allSettled(begun)
  }
}
