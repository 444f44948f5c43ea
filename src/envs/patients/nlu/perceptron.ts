/**
 * Classifier that tells similar values apart: one weight per feature and value, learnt from the known phrases as an
 * averaged perceptron with a margin (Freund and Schapire 1999; Collins 2002). Each phrase is compared with the
 * rivals of its own value only, the values that are most similar to it.
 */

/** Inverted index: the phrases with feature f, and its weights there, are entries `starts[f]` to `starts[f + 1]`. */
export interface Postings {
  readonly starts: Int32Array
  /** Phrase of each entry. */
  readonly owners: Int32Array
  readonly weights: Float64Array
}

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
/** Rivals per phrase. */
const rivalCount = 12
/** Epochs of training. */
const passes = 5
/** By how much the score of a phrase's own value should exceed that of any other. */
const margin = 1
/** Factor of the learnt weights when they are added to a similarity. */
const share = 0.2
/** One per epoch, large and coprime to most counts, so that phrases of one value are visited far apart. */
const strides = [7919, 104729, 15485863, 611953, 1299709]

/** Sparse matrix: the columns and weights of row r are entries `starts[r]` to `starts[r + 1]`. */
interface SparseRows {
  readonly starts: Int32Array
  readonly columns: Int32Array
  readonly weights: Float64Array
}

/** Turns the counts of rows into their starts. */
function toStarts(counts: Int32Array): Int32Array {
  const starts = new Int32Array(counts.length + 1)
  for (let i = 0; i < counts.length; i++) starts[i + 1] = starts[i]! + counts[i]!
  return starts
}

/** Numbers the features of enough phrases; the others are -1. */
function keepFrequent({ starts }: Postings): { readonly row: Int32Array; readonly kept: number } {
  const row = new Int32Array(starts.length - 1).fill(-1)
  let kept = 0
  for (let f = 0; f < row.length; f++)
    if (starts[f + 1]! - starts[f]! >= minPhrases) row[f] = kept++
  return { row, kept }
}

/** Transposes the postings: the kept features of each phrase. */
function transpose(
  { starts, owners, weights }: Postings,
  row: Int32Array,
  phrases: number,
): SparseRows {
  const counts = new Int32Array(phrases)
  for (let f = 0; f < row.length; f++)
    if (row[f]! >= 0) for (let i = starts[f]!; i < starts[f + 1]!; i++) counts[owners[i]!]!++
  const rowStarts = toStarts(counts)
  const filled = rowStarts.slice()
  const columns = new Int32Array(rowStarts[phrases]!)
  const values = new Float64Array(rowStarts[phrases]!)
  for (let f = 0; f < row.length; f++) {
    if (row[f]! < 0) continue
    for (let i = starts[f]!; i < starts[f + 1]!; i++) {
      const at = filled[owners[i]!]!++
      columns[at] = row[f]!
      values[at] = weights[i]!
    }
  }
  return { starts: rowStarts, columns, weights: values }
}

/** The centroid of the phrases of each value, by kept feature, scaled to unit length. */
function centroids(
  postings: Postings,
  row: Int32Array,
  kept: number,
  of: Int32Array,
  size: number,
): SparseRows {
  const { starts, owners, weights } = postings
  const squares = new Float64Array(size)
  const rowStarts = new Int32Array(kept + 1)
  const columns: number[] = []
  const sums: number[] = []
  // The phrases of a value are consecutive, in the postings too.
  for (let f = 0; f < row.length; f++) {
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
  const scaled = Float64Array.from(sums, (sum, i) => sum / Math.sqrt(squares[columns[i]!]!))
  return { starts: rowStarts, columns: Int32Array.from(columns), weights: scaled }
}

/** The values most similar to each phrase other than its own, `rivalCount` entries a phrase, padded with -1. */
function findRivals(
  phrases: SparseRows,
  means: SparseRows,
  of: Int32Array,
  size: number,
): Int32Array {
  const out = new Int32Array(of.length * rivalCount).fill(-1)
  const scores = new Float64Array(size)
  for (let p = 0; p < of.length; p++) {
    scores.fill(0)
    for (let i = phrases.starts[p]!; i < phrases.starts[p + 1]!; i++) {
      const feature = phrases.columns[i]!
      const weight = phrases.weights[i]!
      const end = means.starts[feature + 1]!
      for (let j = means.starts[feature]!; j < end; j++)
        scores[means.columns[j]!]! += weight * means.weights[j]!
    }
    scores[of[p]!] = 0
    const first = p * rivalCount
    let held = 0
    for (let v = 0; v < size; v++) {
      const score = scores[v]!
      const full = held === rivalCount
      if (score === 0 || (full && score <= scores[out[first + rivalCount - 1]!]!)) continue
      let at = full ? rivalCount - 1 : held++
      for (; at > 0 && scores[out[first + at - 1]!]! < score; at--)
        out[first + at] = out[first + at - 1]!
      out[first + at] = v
    }
  }
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

/** Trains the weights of kept features and values, at `[feature * size + value]`, averaged over all updates. */
function trainWeights(
  phrases: SparseRows,
  rivals: Int32Array,
  of: Int32Array,
  kept: number,
  size: number,
): Float32Array {
  const weights = new Float32Array(kept * size)
  const late = new Float32Array(kept * size)
  const { starts, columns, weights: held } = phrases
  const scores = new Float64Array(1 + rivalCount)
  let step = 1
  for (let pass = 0; pass < passes; pass++)
    for (let n = 0; n < of.length; n++, step++) {
      const p = (n * strides[pass]!) % of.length
      const first = p * rivalCount
      const own = of[p]!
      scoreRivals(phrases, p, own, rivals, weights, size, scores)
      let best = -1
      for (let r = 0; r < rivalCount && rivals[first + r]! >= 0; r++)
        if (best < 0 || scores[1 + r]! > scores[1 + best]!) best = r
      if (best < 0 || scores[0]! - scores[1 + best]! >= margin) continue
      const rival = rivals[first + best]!
      for (let i = starts[p]!; i < starts[p + 1]!; i++) {
        const at = columns[i]! * size
        weights[at + own]! += held[i]!
        weights[at + rival]! -= held[i]!
        late[at + own]! += step * held[i]!
        late[at + rival]! -= step * held[i]!
      }
    }
  for (let i = 0; i < weights.length; i++) if (late[i]! !== 0) weights[i]! -= late[i]! / step
  return weights
}

/** Keeps only the weights that are not 0, by feature. */
function toSparse(weights: Float32Array, kept: number, size: number): SparseRows {
  const starts = new Int32Array(kept + 1)
  const columns: number[] = []
  const values: number[] = []
  for (let feature = 0; feature < kept; feature++) {
    const at = feature * size
    for (let v = 0; v < size; v++) {
      const weight = weights[at + v]!
      if (weight === 0) continue
      columns.push(v)
      values.push(weight)
    }
    starts[feature + 1] = columns.length
  }
  return { starts, columns: Int32Array.from(columns), weights: Float64Array.from(values) }
}

/**
 * Trains the classifier on the known phrases.
 * @param of the value of each phrase; the phrases of one value are consecutive
 * @param size number of values
 */
export function trainPerceptron(
  postings: Postings,
  of: Int32Array,
  size: number,
): PerceptronScorer {
  const { row, kept } = keepFrequent(postings)
  const phrases = transpose(postings, row, of.length)
  const rivals = findRivals(phrases, centroids(postings, row, kept, of, size), of, size)
  const trained = trainWeights(phrases, rivals, of, kept, size)
  const { starts, columns, weights } = toSparse(trained, kept, size)
  return (text, scores) => {
    for (let f = 0; f < text.size; f++) {
      const feature = row[text.features[f]!]!
      if (feature < 0) continue
      const weight = share * text.weights[f]!
      for (let i = starts[feature]!; i < starts[feature + 1]!; i++) {
        const v = columns[i]!
        if (scores[v]! !== 0) scores[v]! += weight * weights[i]!
      }
    }
  }
}
