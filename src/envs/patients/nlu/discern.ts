/**
 * What tells values apart that are alike: one weight for each feature and value, learnt from the known phrases as
 * an averaged perceptron with a margin (Freund and Schapire 1999; Collins 2002), where each phrase is held against
 * the values that rival its own.
 */

/** Which phrases hold each feature, how much it weighs there, and where those of each feature start. */
export interface Postings {
  readonly starts: Int32Array
  readonly owners: Int32Array
  readonly weights: Float64Array
}

/** Features of one text with their weights. */
export interface Weighed {
  readonly features: Int32Array
  readonly weights: Float64Array
  size: number
}

/** Adds to the scores above 0 what was learnt of each value. */
export type Discern = (text: Weighed, scores: Float64Array) => void

/** A feature of fewer phrases would be learnt by heart. */
const fewest = 4
const rivals = 12
const passes = 5
/** By how much a phrase should be more like its own value than like any other. */
const margin = 1
/** How much of what was learnt is added to a likeness. */
const share = 0.2
/** Far apart and coprime to most counts, so that phrases of one value are met far from one another. */
const strides = [7919, 104729, 15485863, 611953, 1299709]

/** Sparse rows: the columns and weights of row r stand from `starts[r]` to `starts[r + 1]`. */
interface Rows {
  readonly starts: Int32Array
  readonly columns: Int32Array
  readonly weights: Float64Array
}

/** Counts become starts. */
function accumulate(counts: Int32Array): Int32Array {
  const starts = new Int32Array(counts.length + 1)
  for (let i = 0; i < counts.length; i++) starts[i + 1] = starts[i]! + counts[i]!
  return starts
}

/** The kept features, numbered; -1 for the others. */
function keptOf({ starts }: Postings): { readonly row: Int32Array; readonly kept: number } {
  const row = new Int32Array(starts.length - 1).fill(-1)
  let kept = 0
  for (let f = 0; f < row.length; f++) if (starts[f + 1]! - starts[f]! >= fewest) row[f] = kept++
  return { row, kept }
}

/** The kept features of each phrase. */
function byPhrase({ starts, owners, weights }: Postings, row: Int32Array, phrases: number): Rows {
  const counts = new Int32Array(phrases)
  for (let f = 0; f < row.length; f++)
    if (row[f]! >= 0) for (let i = starts[f]!; i < starts[f + 1]!; i++) counts[owners[i]!]!++
  const rowStarts = accumulate(counts)
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

/** The sum of the phrases of each value, by kept feature, over the length of that sum. */
function centroids(
  postings: Postings,
  row: Int32Array,
  kept: number,
  of: Int32Array,
  size: number,
): Rows {
  const { starts, owners, weights } = postings
  const squares = new Float64Array(size)
  const rowStarts = new Int32Array(kept + 1)
  const columns: number[] = []
  const sums: number[] = []
  // The phrases of a value stand next to one another, in the postings too.
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

/** The values likest to each phrase besides its own, `rivals` places a phrase; -1 where there are no more. */
function rivalsOf(phrases: Rows, means: Rows, of: Int32Array, size: number): Int32Array {
  const out = new Int32Array(of.length * rivals).fill(-1)
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
    const first = p * rivals
    let held = 0
    for (let v = 0; v < size; v++) {
      const score = scores[v]!
      if (score === 0 || (held === rivals && score <= scores[out[first + rivals - 1]!]!)) continue
      let at = held < rivals ? held++ : rivals - 1
      for (; at > 0 && scores[out[first + at - 1]!]! < score; at--)
        out[first + at] = out[first + at - 1]!
      out[first + at] = v
    }
  }
  return out
}

/** The weights of kept features and values, averaged over all that they were while learning. */
function learnt(
  phrases: Rows,
  likest: Int32Array,
  of: Int32Array,
  kept: number,
  size: number,
): Float32Array {
  const weights = new Float32Array(kept * size)
  const late = new Float32Array(kept * size)
  const { starts, columns, weights: held } = phrases
  /** Likeness to the phrase's own value, and to each of its rivals after it. */
  const scores = new Float64Array(1 + rivals)
  let step = 1
  for (let pass = 0; pass < passes; pass++)
    for (let n = 0; n < of.length; n++, step++) {
      const p = (n * strides[pass]!) % of.length
      const first = p * rivals
      const [start, end] = [starts[p]!, starts[p + 1]!]
      const own = of[p]!
      scores.fill(0)
      // All values of a feature stand together, so that one is read for all rivals at a time.
      for (let i = start; i < end; i++) {
        const at = columns[i]! * size
        const weight = held[i]!
        scores[0]! += weight * weights[at + own]!
        for (let r = 0; r < rivals; r++) {
          const rival = likest[first + r]!
          if (rival < 0) break
          scores[1 + r]! += weight * weights[at + rival]!
        }
      }
      let best = -1
      for (let r = 0; r < rivals && likest[first + r]! >= 0; r++)
        if (best < 0 || scores[1 + r]! > scores[1 + best]!) best = r
      if (best < 0 || scores[0]! - scores[1 + best]! >= margin) continue
      const rival = likest[first + best]!
      for (let i = start; i < end; i++) {
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

/** Only what is not 0, by feature. */
function sparse(weights: Float32Array, kept: number, size: number): Rows {
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
 * Learns to tell values apart from the phrases of each.
 * @param of the value of each phrase; those of one value stand next to one another
 * @param size how many values there are
 */
export function discern(postings: Postings, of: Int32Array, size: number): Discern {
  const { row, kept } = keptOf(postings)
  const phrases = byPhrase(postings, row, of.length)
  const means = centroids(postings, row, kept, of, size)
  const likest = rivalsOf(phrases, means, of, size)
  const { starts, columns, weights } = sparse(learnt(phrases, likest, of, kept, size), kept, size)
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
