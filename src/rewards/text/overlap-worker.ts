/** What a worker thread of `overlap-workers.ts` runs; a file of its own in `dist`. */
import { type OverlapMeasure, overlapMeasure } from './measures.js'

/** A candidate is held against the gold text of the same place. */
export interface OverlapTask {
  readonly measure: OverlapMeasure
  readonly candidates: readonly string[]
  readonly golds: readonly string[]
}

export function overlapTask({ measure, candidates, golds }: OverlapTask): Float64Array {
  const overlap = overlapMeasure(measure)
  return Float64Array.from(candidates, (candidate, at) => overlap(candidate, golds[at] ?? ''))
}
