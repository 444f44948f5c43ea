/** Entry point of the worker threads of `overlap-workers.ts`; built as a file of its own in `dist`. */
import { type OverlapMeasure, overlapMeasure } from './overlap-measures.js'

/** Pairs to compare: each candidate with the gold text at the same index. */
export interface OverlapTask {
  readonly measure: OverlapMeasure
  readonly candidates: readonly string[]
  readonly golds: readonly string[]
}

/** Computes the overlap of each pair, in order. Worker threads call it by this name. */
export function overlapTask({ measure, candidates, golds }: OverlapTask): Float64Array {
  const overlap = overlapMeasure(measure)
  return Float64Array.from(candidates, (candidate, at) => overlap(candidate, golds[at] ?? ''))
}
