/**
 * Classifier that tells similar values apart: one weight per feature and value, learnt from the known phrases as an
 * averaged perceptron with a margin (Freund and Schapire 1999; Collins 2002).
 *
 * Training has two parts. The first finds the updates: at which steps a phrase is taken for a rival. It is slow and
 * its result is small, so that it can be kept in a file. The second averages the weights over the updates.
 */
import type { SlicedWork } from '../../../platform/slices.js'
import {
  featuresPerSlice,
  findUpdates,
  type KeptFeatures,
  type PerceptronUpdates,
  type Postings,
  phraseOf,
  phrasesPerSlice,
  type SparseRows,
  toStarts,
} from './perceptron-updates.js'

/** Sparse feature vector of one text; its first `size` entries count. */
export interface FeatureVector {
  readonly features: Int32Array
  readonly weights: Float64Array
  size: number
}

/** Adds the learnt weights of a text to the score of each value; scores of 0 stay 0. */
export type PerceptronScorer = (text: FeatureVector, scores: Float64Array) => void

/** Phrases a feature must have to be learnt of; a rarer one would be memorised. */
const minPhrases = 4
/** Factor of the learnt weights when they are added to a similarity. */
const share = 0.2

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
  for (let f = 0; f < row.length; f++) {
    if (f % featuresPerSlice === 0) yield
    if (row[f]! >= 0) for (let i = starts[f]!; i < starts[f + 1]!; i++) counts[owners[i]!]!++
  }
  const rowStarts = toStarts(counts)
  const filled = rowStarts.slice()
  const columns = new Int32Array(rowStarts[phrases]!)
  const values = new Float64Array(rowStarts[phrases]!)
  for (let f = 0; f < row.length; f++) {
    if (f % featuresPerSlice === 0) yield
    if (row[f]! < 0) continue
    for (let i = starts[f]!; i < starts[f + 1]!; i++) {
      const at = filled[owners[i]!]!++
      columns[at] = row[f]!
      values[at] = weights[i]!
    }
  }
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

/** The weights that are not 0, by value, averaged over all updates. */
function* averageWeights(
  phrases: SparseRows,
  updates: PerceptronUpdates,
  of: Int32Array,
  kept: number,
  size: number,
): SlicedWork<SparseRows> {
  const { starts, steps } = groupByValue(updates, of, size)
  const [sums, late] = [new Float32Array(kept), new Float32Array(kept)]
  const ends = new Int32Array(size + 1)
  const columns: number[] = []
  const weights: number[] = []
  for (let v = 0; v < size; v++) {
    for (let n = starts[v]!; n < starts[v + 1]!; n++) {
      if (n % phrasesPerSlice === 0) yield
      const rival = steps[n]! < 0
      const step = rival ? -1 - steps[n]! : steps[n]!
      const p = phraseOf(step, of.length)
      for (let i = phrases.starts[p]!; i < phrases.starts[p + 1]!; i++) {
        const weight = rival ? -phrases.weights[i]! : phrases.weights[i]!
        sums[phrases.columns[i]!]! += weight
        late[phrases.columns[i]!]! += (step + 1) * weight
      }
    }
    yield
    for (let f = 0; f < kept; f++) {
      if (late[f]! !== 0) sums[f]! -= late[f]! / (updates.length + 1)
      if (sums[f]! === 0) continue
      columns.push(f)
      weights.push(sums[f]!)
    }
    sums.fill(0)
    late.fill(0)
    ends[v + 1] = columns.length
  }
  return { starts: ends, columns: Int32Array.from(columns), weights: Float64Array.from(weights) }
}

/** Exchanges the rows and the columns of a matrix. */
function* exchange(
  { starts, columns, weights }: SparseRows,
  width: number,
): SlicedWork<SparseRows> {
  const counts = new Int32Array(width)
  for (let i = 0; i < columns.length; i++) counts[columns[i]!]!++
  yield
  const turned = toStarts(counts)
  const filled = turned.slice()
  const rows = new Int32Array(columns.length)
  const values = new Float64Array(columns.length)
  for (let r = 0; r + 1 < starts.length; r++) {
    if (r % phrasesPerSlice === 0) yield
    for (let i = starts[r]!; i < starts[r + 1]!; i++) {
      const at = filled[columns[i]!]!++
      rows[at] = r
      values[at] = weights[i]!
    }
  }
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
