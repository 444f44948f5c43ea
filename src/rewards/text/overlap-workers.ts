/** Text overlaps of many pairs at once, in worker threads where that is quicker. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Fault, messageOf } from '../../error.js'
import { packageFolder } from '../../platform/package-root.js'
import type { OverlapMeasure } from './measures.js'
import { type OverlapTask, overlapTask } from './overlap-worker.js'

export interface OverlapPair {
  readonly candidate: string
  readonly gold: string
}

export interface OverlapWorkersOptions {
  /** Worker threads, 1 or more; each loads a dictionary of its own, 55 MB. @default as many as the machine has cores */
  readonly threads?: number
  /**
   * From how many characters of all texts together, in UTF-16 units, workers do it: `cold` before any has been
   * started, `warm` after. Below, and for a measure without segmentation, this thread does.
   * @default { cold: 3_500_000, warm: 200_000 }: on two cores two threads took .2 s to start, were no faster than one
   * up to 60,000 characters and 1.3 times as fast at 240,000
   */
  readonly worth?: { readonly cold: number; readonly warm: number }
  /** The built worker. @default the one in this package's `dist`; where there is none, all is done on this thread */
  readonly file?: string
}

export interface OverlapWorkers extends AsyncDisposable {
  /** One number a pair, in their order; the same to the last bit wherever it is computed. */
  overlaps(measure: OverlapMeasure, pairs: readonly OverlapPair[]): Promise<Float64Array>
  /** One pair's; what is asked for in the same turn of the event loop is computed at once. */
  overlap(measure: OverlapMeasure, candidate: string, gold: string): Promise<number>
}

/** Pairs a task: at least 25, for a task costs as much as two short pairs; a few tasks a thread, to end together. */
const taskSize = (pairs: number, threads: number): number =>
  Math.max(25, Math.min(1000, Math.ceil(pairs / (4 * threads))))

const taskOf = (measure: OverlapMeasure, pairs: readonly OverlapPair[]): OverlapTask => ({
  measure,
  candidates: pairs.map(({ candidate }) => candidate),
  golds: pairs.map(({ gold }) => gold),
})

/** Whether a measure segments; the others read 5 to 17 M characters a second, and two threads made .8 to 1.7 times that. */
const segments = (measure: OverlapMeasure): boolean => measure === 'bag-f1' || measure === 'word-f1'

const charactersOf = (pairs: readonly OverlapPair[]): number =>
  pairs.reduce((sum, { candidate, gold }) => sum + candidate.length + gold.length, 0)

/** Hands out what is asked for one by one as one list for each measure, when the event loop comes round. */
function gathering(overlaps: OverlapWorkers['overlaps']): OverlapWorkers['overlap'] {
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
    // As many numbers as pairs.
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
  // A thread that dies before it has a task is told of here alone; without a listener it would end the process.
  const broken = new Promise<never>((_, reject) => pool.on('error', reject))
  broken.catch(() => {})
  return {
    run: (task) => Promise.race([pool.run(task), broken]),
    end: () => pool.destroy(),
  }
}

/** All pairs in tasks of a few; the first that fails is thrown. */
async function overlapsIn(
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
      found.set(await run(taskOf(measure, pairs.slice(from, from + size))), from)
    }),
  )
  return found
}

/**
 * Worker threads for text overlaps. None is started before there is work that is worth it, and none keeps the process
 * alive; disposing ends them. Where a thread fails, what was asked for rejects with a Fault `component-failed`, and the
 * next time new ones are started.
 * @throws RangeError for `threads` that is no positive integer
 */
export function overlapWorkers({
  threads = availableParallelism(),
  worth = { cold: 3_500_000, warm: 200_000 },
  file = join(packageFolder(), 'dist', 'rewards', 'text', 'overlap-worker.js'),
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
    const task = taskOf(measure, pairs)
    if (!segments(measure) || charactersOf(pairs) < (pool ? worth.warm : worth.cold))
      return overlapTask(task)
    if (!existsSync(file)) return overlapTask(task)
    pool ??= startPool(file, threads)
    try {
      return await overlapsIn(await pool, threads, measure, pairs)
    } catch (error) {
      await end()
      throw new Fault('component-failed', `overlap workers: ${messageOf(error)}`, { cause: error })
    }
  }
  return { overlaps, overlap: gathering(overlaps), [Symbol.asyncDispose]: end }
}
