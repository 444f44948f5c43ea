/** Text overlaps of many pairs at once, in worker threads where that is faster. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { errorMessage, Fault } from '../../error.js'
import { packageRoot } from '../../platform/package-root.js'
import type { OverlapMeasure } from './overlap-measures.js'
import { type OverlapTask, overlapTask } from './overlap-worker.js'

/** A candidate and the gold text it is compared with. */
export interface OverlapPair {
  readonly candidate: string
  readonly gold: string
}

/** Options of {@link overlapWorkers}. */
export interface OverlapWorkersOptions {
  /** Number of worker threads, at least 1; each loads its own dictionary, 55 MB. @default the number of cores */
  readonly threads?: number
  /**
   * Minimum total length of all texts, in UTF-16 units, at which workers are used: `cold` before any has been started,
   * `warm` after. Shorter batches, and measures without segmentation, run on the calling thread.
   * @default { cold: 3_500_000, warm: 200_000 }: on two cores two threads took .2 s to start, were no faster than one
   * up to 60,000 characters and 1.3 times as fast at 240,000
   */
  readonly minCharacters?: { readonly cold: number; readonly warm: number }
  /** Path of the built worker. @default that in this package's `dist`; without it all runs on the calling thread */
  readonly file?: string
}

/** Computes text overlaps, in worker threads where that is faster. */
export interface OverlapWorkers extends AsyncDisposable {
  /** The overlap of each pair, in order; bit for bit the same on any thread. */
  overlaps(measure: OverlapMeasure, pairs: readonly OverlapPair[]): Promise<Float64Array>
  /** The overlap of one pair; calls in the same turn of the event loop are computed as one batch. */
  overlap(measure: OverlapMeasure, candidate: string, gold: string): Promise<number>
}

/** Pairs per task: at least 25, as a task costs as much as two short pairs; a few tasks per thread, to end together. */
const taskSize = (pairs: number, threads: number): number =>
  Math.max(25, Math.min(1000, Math.ceil(pairs / (4 * threads))))

const toTask = (measure: OverlapMeasure, pairs: readonly OverlapPair[]): OverlapTask => ({
  measure,
  candidates: pairs.map(({ candidate }) => candidate),
  golds: pairs.map(({ gold }) => gold),
})

/** Whether a measure segments. Others read 5 to 17 M characters a second, on two threads .8 to 1.7 times as many. */
const needsSegmentation = (measure: OverlapMeasure): boolean =>
  measure === 'bag-f1' || measure === 'word-f1'

const countCharacters = (pairs: readonly OverlapPair[]): number =>
  pairs.reduce((sum, { candidate, gold }) => sum + candidate.length + gold.length, 0)

/** Collects single calls into one batch per measure, computed at the next turn of the event loop. */
function batchCalls(overlaps: OverlapWorkers['overlaps']): OverlapWorkers['overlap'] {
  const waiting = new Map<OverlapMeasure, { pairs: OverlapPair[]; found: Promise<Float64Array> }>()
  return async (measure, candidate, gold) => {
    let list = waiting.get(measure)
    if (!list) {
      const pairs: OverlapPair[] = []
      const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        waiting.delete(measure)
        return overlaps(measure, pairs)
      })
      list = { pairs, found }
      waiting.set(measure, list)
    }
    const at = list.pairs.push({ candidate, gold }) - 1
    // There are as many numbers as pairs.
    return (await list.found)[at] as number
  }
}

interface Pool {
  run(task: OverlapTask): Promise<Float64Array>
  end(): Promise<void>
}

async function startPool(file: string, threads: number): Promise<Pool> {
  const { Tinypool } = await import('tinypool')
  const pool = new Tinypool({
    filename: file,
    // Not the function's own name, which a bundler may change.
    name: 'overlapTask' satisfies keyof typeof import('./overlap-worker.js'),
    minThreads: threads,
    maxThreads: threads,
  })
  // A thread that dies before it has a task is reported only here; without a listener it would end the process.
  const broken = new Promise<never>((_, reject) => pool.on('error', reject))
  broken.catch(() => {})
  return {
    run: (task) => Promise.race([pool.run(task), broken]),
    end: () => pool.destroy(),
  }
}

async function runInPool(
  { run }: Pool,
  threads: number,
  measure: OverlapMeasure,
  pairs: readonly OverlapPair[],
): Promise<Float64Array> {
  const size = taskSize(pairs.length, threads)
  const found = new Float64Array(pairs.length)
  await Promise.all(
    Array.from({ length: Math.ceil(pairs.length / size) }, async (_, n) => {
      const from = n * size
      found.set(await run(toTask(measure, pairs.slice(from, from + size))), from)
    }),
  )
  return found
}

/**
 * Worker threads for text overlaps. None is started before a batch is large enough, and none keeps the process alive;
 * disposing ends them. If a thread fails, the pending calls reject with a Fault `component-failed`, and the next call
 * starts new threads.
 * @throws RangeError for `threads` that is not a positive integer
 */
export function overlapWorkers({
  threads = availableParallelism(),
  minCharacters: worth = { cold: 3_500_000, warm: 200_000 },
  file = join(packageRoot(), 'dist', 'rewards', 'text', 'overlap-worker.js'),
}: OverlapWorkersOptions = {}): OverlapWorkers {
  if (!Number.isInteger(threads) || threads < 1)
    throw new RangeError(`Expected \`threads\` to be a positive integer, got ${threads}`)
  let pool: Promise<Pool> | undefined
  const end = async (): Promise<void> => {
    const ending = pool
    pool = undefined
    await (await ending)?.end()
  }
  const overlaps: OverlapWorkers['overlaps'] = async (measure, pairs) => {
    const task = toTask(measure, pairs)
    if (!needsSegmentation(measure) || countCharacters(pairs) < (pool ? worth.warm : worth.cold))
      return overlapTask(task)
    if (!existsSync(file)) return overlapTask(task)
    pool ??= startPool(file, threads)
    try {
      return await runInPool(await pool, threads, measure, pairs)
    } catch (error) {
      await end()
      throw new Fault('component-failed', `overlap workers: ${errorMessage(error)}`, {
        cause: error,
      })
    }
  }
  return { overlaps, overlap: batchCalls(overlaps), [Symbol.asyncDispose]: end }
}
