/** Bounded concurrency, results in the order of the jobs. */
import pLimit from 'p-limit'

/** Milliseconds of jobs after which the event loop gets a turn. */
const turnMs = 50

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
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(
      `Expected \`concurrency\` to be a positive integer, got \`${concurrency}\``,
    )
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
