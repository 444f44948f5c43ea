/**
 * The slow part of the classifier's training (`perceptron.ts`): finds the updates, one after another. Each phrase is
 * compared with the rivals of its own value only, the values that are most similar to it.
 */
import { inRanges, type SlicedWork } from '../../../platform/slices.js'

/** Inverted index: the phrases with feature f, and its weights there, are entries `starts[f]` to `starts[f + 1]`. */
export interface Postings {
  readonly starts: Int32Array
  /** Phrase of each entry. */
  readonly owners: Int32Array
  readonly weights: Float64Array
}

/** Sparse matrix: the columns and weights of row r are entries `starts[r]` to `starts[r + 1]`. */
export interface SparseRows {
  readonly starts: Int32Array
  readonly columns: Int32Array
  readonly weights: Float64Array | Float32Array
}

/**
 * Updates of the training, one entry a step: 0 for none, else 1 + the rival that the step's phrase was taken for. The
 * steps of an epoch visit all phrases.
 */
export type PerceptronUpdates = Uint16Array

/** Rivals per phrase. */
const rivalCount = 12
/** Epochs of training. */
const passes = 10
/** By how much the score of a phrase's own value should exceed that of any other. */
const margin = 1
/** One per epoch, large and coprime to most counts, so that phrases of one value are visited far apart. */
const strides = [7919, 104729, 15485863, 611953, 1299709, 7927, 104743, 15485867, 611957, 1299721]

/** Phrases, or steps of one phrase, between two pauses: a millisecond or less. */
export const phrasesPerSlice = 32
/** Features between two pauses. */
export const featuresPerSlice = 256

/** The features that are learnt of, numbered: `row` is -1 for the others. */
export interface KeptFeatures {
  readonly row: Int32Array
  readonly kept: number
}

/** Turns the counts of rows into their starts. */
export function toStarts(counts: Int32Array): Int32Array {
  const starts = new Int32Array(counts.length + 1)
  for (let i = 0; i < counts.length; i++) starts[i + 1] = starts[i]! + counts[i]!
  return starts
}

/** The phrase that a step visits. */
export const phraseOf = (step: number, phrases: number): number =>
  ((step % phrases) * strides[Math.floor(step / phrases)]!) % phrases

/** The centroid of the phrases of each value, by kept feature, scaled to unit length. */
function* centroids(
  postings: Postings,
  row: Int32Array,
  kept: number,
  of: Int32Array,
  size: number,
): SlicedWork<SparseRows> {
  const { starts, owners, weights } = postings
  const squares = new Float64Array(size)
  const rowStarts = new Int32Array(kept + 1)
  const columns: number[] = []
  const sums: number[] = []
  // The phrases of a value are consecutive, in the postings too.
  yield* inRanges(row.length, featuresPerSlice, (from, to) => {
    for (let f = from; f < to; f++) {
      if (row[f]! < 0) continue
      for (let i = starts[f]!; i < starts[f + 1]!; ) {
        const v = of[owners[i]!]!
        let sum = 0
        for (; i < starts[f + 1]! && of[owners[i]!] === v; i++) sum += weights[i]!
        squares[v]! += sum * sum
        columns.push(v)
        sums.push(sum)
      }
      rowStarts[row[f]! + 1] = columns.length
    }
  })
  const scaled = Float64Array.from(sums, (sum, i) => sum / Math.sqrt(squares[columns[i]!]!))
  return { starts: rowStarts, columns: Int32Array.from(columns), weights: scaled }
}

/** Adds the similarity of phrase p to each value's centroid to `scores`. */
function scoreCentroids(phrases: SparseRows, p: number, means: SparseRows, scores: Float64Array) {
  for (let i = phrases.starts[p]!; i < phrases.starts[p + 1]!; i++) {
    const feature = phrases.columns[i]!
    const weight = phrases.weights[i]!
    const end = means.starts[feature + 1]!
    for (let j = means.starts[feature]!; j < end; j++)
      scores[means.columns[j]!]! += weight * means.weights[j]!
  }
}

/** Writes the values of the highest scores above 0 into `out`, which is full of -1, highest first. */
function rankBest(scores: Float64Array, out: Int32Array): void {
  let held = 0
  for (let v = 0; v < scores.length; v++) {
    const score = scores[v]!
    const full = held === out.length
    if (score === 0 || (full && score <= scores[out[out.length - 1]!]!)) continue
    let at = full ? out.length - 1 : held++
    for (; at > 0 && scores[out[at - 1]!]! < score; at--) out[at] = out[at - 1]!
    out[at] = v
  }
}

/** The values most similar to each phrase other than its own, `rivalCount` entries a phrase, padded with -1. */
function* findRivals(
  phrases: SparseRows,
  means: SparseRows,
  of: Int32Array,
  size: number,
): SlicedWork<Int32Array> {
  const out = new Int32Array(of.length * rivalCount).fill(-1)
  const scores = new Float64Array(size)
  yield* inRanges(of.length, phrasesPerSlice, (from, to) => {
    for (let p = from; p < to; p++) {
      scores.fill(0)
      scoreCentroids(phrases, p, means, scores)
      scores[of[p]!] = 0
      rankBest(scores, out.subarray(p * rivalCount, (p + 1) * rivalCount))
    }
  })
  return out
}

/** Scores a phrase by `weights`: its own value into `scores[0]`, each of its rivals after that. */
function scoreRivals(
  { starts, columns, weights: held }: SparseRows,
  p: number,
  own: number,
  rivals: Int32Array,
  weights: Float32Array,
  size: number,
  scores: Float64Array,
): void {
  const first = p * rivalCount
  const end = starts[p + 1]!
  scores.fill(0)
  // The weights of a feature are consecutive over values, so that all rivals are read together.
  for (let i = starts[p]!; i < end; i++) {
    const at = columns[i]! * size
    const weight = held[i]!
    scores[0]! += weight * weights[at + own]!
    for (let r = 0; r < rivalCount; r++) {
      const rival = rivals[first + r]!
      if (rival < 0) break
      scores[1 + r]! += weight * weights[at + rival]!
    }
  }
}

/** Finds the updates, with the weights of kept features and values, at `[feature * size + value]`, as they are then. */
function* runPasses(
  phrases: SparseRows,
  rivals: Int32Array,
  of: Int32Array,
  kept: number,
  size: number,
): SlicedWork<PerceptronUpdates> {
  const weights = new Float32Array(kept * size)
  const updates = new Uint16Array(passes * of.length)
  const scores = new Float64Array(1 + rivalCount)
  const train = (step: number): void => {
    const p = phraseOf(step, of.length)
    const first = p * rivalCount
    const own = of[p]!
    scoreRivals(phrases, p, own, rivals, weights, size, scores)
    let best = -1
    for (let r = 0; r < rivalCount && rivals[first + r]! >= 0; r++)
      if (best < 0 || scores[1 + r]! > scores[1 + best]!) best = r
    if (best < 0 || scores[0]! - scores[1 + best]! >= margin) return
    const rival = rivals[first + best]!
    updates[step] = 1 + rival
    for (let i = phrases.starts[p]!; i < phrases.starts[p + 1]!; i++) {
      const at = phrases.columns[i]! * size
      weights[at + own]! += phrases.weights[i]!
      weights[at + rival]! -= phrases.weights[i]!
    }
  }
  yield* inRanges(updates.length, phrasesPerSlice, (from, to) => {
    for (let step = from; step < to; step++) train(step)
  })
  return updates
}

/**
 * Finds the updates of the training.
 * @param phrases the kept features of each phrase
 * @param of the value of each phrase; the phrases of one value are consecutive
 * @param size number of values
 */
export function* findUpdates(
  postings: Postings,
  phrases: SparseRows,
  { row, kept }: KeptFeatures,
  of: Int32Array,
  size: number,
): SlicedWork<PerceptronUpdates> {
  const means = yield* centroids(postings, row, kept, of, size)
  const rivals = yield* findRivals(phrases, means, of, size)
  return yield* runPasses(phrases, rivals, of, kept, size)
}
