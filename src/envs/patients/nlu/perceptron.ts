/**
 * Classifier that tells similar values apart: one weight per feature and value, learnt from the known phrases as an
 * averaged perceptron with a margin (Freund and Schapire 1999; Collins 2002).
 *
 * Training has two parts. The first finds the updates: at which steps a phrase is taken for a rival. It is slow and
 * its result is small, so that it can be kept in a file. The second averages the weights over the updates.
 */
import { inRanges, type SlicedWork } from '../../../platform/slices.js'
import { type IntList, intList, push } from './features.js'
import {
  featuresPerSlice,
  findUpdates,
  type KeptFeatures,
  type PerceptronUpdates,
  type Postings,
  phraseOf,
  type SparseRows,
  toStarts,
} from './perceptron-updates.js'

/** Sparse feature vector of one text; its first `size` entries count. */
export interface FeatureVector {
  readonly features: Int32Array
  readonly weights: Float64Array
  size: number
}

/** Work between two pauses. */
const updatesPerSlice = 128
const entriesPerSlice = 100_000
const rowsPerSlice = 8
/** Phrases a feature must have to be learnt of; a rarer one would be memorised. */
const minPhrases = 4
/** Factor of the learnt weights when they are added to a similarity. */
const share = 0.18

/** Numbers the features of enough phrases; the others are -1. */
function keepFrequent({ starts }: Postings): KeptFeatures {
  const row = new Int32Array(starts.length - 1).fill(-1)
  let kept = 0
  for (let f = 0; f < row.length; f++)
    if (starts[f + 1]! - starts[f]! >= minPhrases) row[f] = kept++
  return { row, kept }
}

/** Transposes the postings: the kept features of each phrase. */
function* transpose(
  { starts, owners, weights }: Postings,
  row: Int32Array,
  phrases: number,
): SlicedWork<SparseRows> {
  const counts = new Int32Array(phrases)
  yield* inRanges(row.length, featuresPerSlice, (from, to) => {
    for (let f = from; f < to; f++)
      if (row[f]! >= 0) for (let i = starts[f]!; i < starts[f + 1]!; i++) counts[owners[i]!]!++
  })
  const rowStarts = toStarts(counts)
  const filled = rowStarts.slice()
  const columns = new Int32Array(rowStarts[phrases]!)
  const values = new Float64Array(rowStarts[phrases]!)
  yield* inRanges(row.length, featuresPerSlice, (from, to) => {
    for (let f = from; f < to; f++) {
      if (row[f]! < 0) continue
      for (let i = starts[f]!; i < starts[f + 1]!; i++) {
        const at = filled[owners[i]!]!++
        columns[at] = row[f]!
        values[at] = weights[i]!
      }
    }
  })
  return { starts: rowStarts, columns, weights: values }
}

/** The steps with an update that concerns each value, as its own (step) or as the rival (-1 - step), in order. */
function groupByValue(updates: PerceptronUpdates, of: Int32Array, size: number) {
  const counts = new Int32Array(size)
  for (let step = 0; step < updates.length; step++) {
    if (updates[step] === 0) continue
    counts[of[phraseOf(step, of.length)]!]!++
    counts[updates[step]! - 1]!++
  }
  const starts = toStarts(counts)
  const filled = starts.slice()
  const steps = new Int32Array(starts[size]!)
  for (let step = 0; step < updates.length; step++) {
    if (updates[step] === 0) continue
    steps[filled[of[phraseOf(step, of.length)]!]!++] = step
    steps[filled[updates[step]! - 1]!++] = -1 - step
  }
  return { starts, steps }
}

/** Sums over the updates of one value, by feature. */
interface ValueSums {
  readonly weights: Float32Array
  /** Each update times its step. */
  readonly late: Float32Array
  /** The features with an update, and for each feature whether it is among them. */
  readonly touched: IntList
  readonly isTouched: Uint8Array
}

const emptySums = (kept: number): ValueSums => ({
  weights: new Float32Array(kept),
  late: new Float32Array(kept),
  touched: intList(),
  isTouched: new Uint8Array(kept),
})

/** Adds the updates of steps to the sums of one value. */
function addUpdates(
  { starts, columns, weights: held }: SparseRows,
  steps: Int32Array,
  { weights, late, touched, isTouched }: ValueSums,
): void {
  for (const entry of steps) {
    const sign = entry < 0 ? -1 : 1
    const step = entry < 0 ? -1 - entry : entry
    const p = phraseOf(step, starts.length - 1)
    for (let i = starts[p]!; i < starts[p + 1]!; i++) {
      const feature = columns[i]!
      const weight = sign * held[i]!
      if (isTouched[feature] === 0) {
        isTouched[feature] = 1
        push(touched, feature)
      }
      weights[feature]! += weight
      late[feature]! += (step + 1) * weight
    }
  }
}

/** Averages the sums of one value over `count` steps, appends those that are not 0, and clears the sums. */
function takeAverages(
  { weights, late, touched, isTouched }: ValueSums,
  count: number,
  columns: IntList,
  out: Float32Array,
): void {
  for (let n = 0; n < touched.size; n++) {
    const feature = touched.data[n]!
    if (late[feature]! !== 0) weights[feature]! -= late[feature]! / (count + 1)
    if (weights[feature]! !== 0) {
      out[columns.size] = weights[feature]!
      push(columns, feature)
    }
    weights[feature] = 0
    late[feature] = 0
    isTouched[feature] = 0
  }
  touched.size = 0
}

/** The weights that are not 0, by value, averaged over all updates. */
function* averageWeights(
  phrases: SparseRows,
  updates: PerceptronUpdates,
  of: Int32Array,
  kept: number,
  size: number,
): SlicedWork<SparseRows> {
  const { starts, steps } = groupByValue(updates, of, size)
  const sums = emptySums(kept)
  const ends = new Int32Array(size + 1)
  const columns = intList()
  let weights = new Float32Array(kept)
  for (let v = 0; v < size; v++) {
    const own = steps.subarray(starts[v]!, starts[v + 1]!)
    yield* inRanges(own.length, updatesPerSlice, (from, to) => {
      addUpdates(phrases, own.subarray(from, to), sums)
    })
    if (columns.size + kept > weights.length) {
      const wider = new Float32Array(2 * (columns.size + kept))
      wider.set(weights)
      weights = wider
    }
    takeAverages(sums, updates.length, columns, weights)
    ends[v + 1] = columns.size
  }
  return { starts: ends, columns: columns.data, weights }
}

/** Exchanges the rows and the columns of a matrix. */
function* exchange(
  { starts, columns, weights }: SparseRows,
  width: number,
): SlicedWork<SparseRows> {
  const counts = new Int32Array(width)
  const size = starts.at(-1) ?? 0
  yield* inRanges(size, entriesPerSlice, (from, to) => {
    for (let i = from; i < to; i++) counts[columns[i]!]!++
  })
  const turned = toStarts(counts)
  const filled = turned.slice()
  const rows = new Int32Array(size)
  const values = new Float32Array(size)
  yield* inRanges(starts.length - 1, rowsPerSlice, (from, to) => {
    for (let r = from; r < to; r++)
      for (let i = starts[r]!; i < starts[r + 1]!; i++) {
        const at = filled[columns[i]!]!++
        rows[at] = r
        values[at] = weights[i]!
      }
  })
  return { starts: turned, columns: rows, weights: values }
}

/** A trained classifier. */
export interface Perceptron {
  /** Adds the learnt weights of a text to the score of each value; scores of 0 stay 0. */
  addScores(text: FeatureVector, scores: Float64Array): void
  /** What it was trained with: given to `trainPerceptron` with the same phrases, they spare the search. */
  readonly updates: PerceptronUpdates
}

/**
 * Trains the classifier on the known phrases.
 * @param of the value of each phrase; the phrases of one value are consecutive
 * @param size number of values
 * @param known the updates of an earlier training on the same phrases @default found now
 */
export function* trainPerceptron(
  postings: Postings,
  of: Int32Array,
  size: number,
  known?: PerceptronUpdates,
): SlicedWork<Perceptron> {
  const features = keepFrequent(postings)
  const { row, kept } = features
  const phrases = yield* transpose(postings, row, of.length)
  const updates = known ?? (yield* findUpdates(postings, phrases, features, of, size))
  const byValue = yield* averageWeights(phrases, updates, of, kept, size)
  const { starts, columns, weights } = yield* exchange(byValue, kept)
  return {
    updates,
    addScores(text, scores) {
      for (let f = 0; f < text.size; f++) {
        const feature = row[text.features[f]!]!
        if (feature < 0) continue
        const weight = share * text.weights[f]!
        for (let i = starts[feature]!; i < starts[feature + 1]!; i++) {
          const v = columns[i]!
          if (scores[v]! !== 0) scores[v]! += weight * weights[i]!
        }
      }
    },
  }
}
