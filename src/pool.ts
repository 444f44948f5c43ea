/** Bounded concurrency, results in the order of the jobs. */
import pLimit from 'p-limit'

/**
 * Runs every job, at most `concurrency` at a time. The first error stops what has not begun and is thrown.
 * @throws RangeError when concurrency is not a positive integer
 */
export async function mapPool<J, R>(
  jobs: readonly J[],
  concurrency: number,
  run: (job: J, index: number) => Promise<R>,
): Promise<R[]> {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(`Expected \`concurrency\` to be a positive integer, got \`${concurrency}\``)
  const limit = pLimit(concurrency)
  try {
    return await Promise.all(jobs.map((job, index) => limit(() => run(job, index))))
  } catch (error) {
    limit.clearQueue()
    throw error
  }
}
