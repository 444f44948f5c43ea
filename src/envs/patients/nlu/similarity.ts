/**
 * Similarity of a question to every finding, whose known phrases are the questions and statements about it. A score is
 * the mean of the cosine to the most similar phrase and the cosine to all phrases of the finding together, plus the
 * classifier's weights (`perceptron.ts`). Each kind of feature is weighted by tf-idf, with the effective number of
 * values as document frequency, and has unit length.
 */

import { inRanges, type SlicedWork } from '../../../platform/slices.js'
import { makeSharing } from './evidence/sharing.js'
import { type FeatureReader, hanReader, type IntList, intList, latinReader } from './features.js'
import { type FeatureVector, trainPerceptron } from './perceptron.js'
import {
  featuresPerSlice,
  type PerceptronUpdates,
  type Postings,
  phrasesPerSlice,
} from './perceptron-updates.js'

/** Index of the known phrases of one script. */
export interface SimilarityIndex {
  /** Finds the value most similar to a text in normal form. */
  findNearest(text: string): SimilarityMatch
  /** What its classifier was trained with. */
  readonly updates: PerceptronUpdates
}

/** The value most similar to a text. Scores: 0 for nothing in common, about 1 (± learnt weights) for a known phrase. */
export interface SimilarityMatch {
  readonly value: string | undefined
  readonly score: number
  /** Score of the second-best value. */
  readonly next: number
  /** The score of any value. */
  scoreOf(value: string): number
  /** The best score of the values that fit. */
  bestOf(fits: (value: string) => boolean): number
  /** The share of what the text says, rare words above all, that is in phrases of these values. */
  shareOf(values: readonly string[]): number
}

/** Makes tf-idf vectors of texts, one text at a time, in one buffer that is used again. */
function makeWeighting(idf: Float64Array, maxIdf: number, kinds: number) {
  const counts = new Int32Array(idf.length)
  const out: FeatureVector = {
    features: new Int32Array(idf.length),
    weights: new Float64Array(idf.length),
    size: 0,
  }
  /** Adds the features of one kind: entries `from` to `to` of a row, where unknown ones have `maxIdf`. */
  const add = ({ data }: IntList, from: number, to: number): void => {
    const first = out.size
    let square = 0
    for (let i = from; i < to; i++) {
      const feature = data[i]!
      if (feature < 0) square += maxIdf * maxIdf
      else if (counts[feature]!++ === 0) out.features[out.size++] = feature
    }
    for (let i = first; i < out.size; i++) {
      const feature = out.features[i]!
      const count = counts[feature]!
      counts[feature] = 0
      const weight = (count === 1 ? 1 : 1 + Math.log(count)) * idf[feature]!
      square += weight * weight
      out.weights[i] = weight
    }
    const factor = square > 0 ? 1 / Math.sqrt(square * kinds) : 0
    for (let i = first; i < out.size; i++) out.weights[i]! *= factor
  }
  return { out, add }
}

/** The length of the sum of the phrases of each value. */
function* sumLengths(size: number, of: Int32Array, postings: Postings): SlicedWork<Float64Array> {
  const { starts, owners, weights } = postings
  const squares = new Float64Array(size)
  // The phrases of a value are consecutive.
  yield* inRanges(starts.length - 1, featuresPerSlice, (from, to) => {
    for (let f = from; f < to; f++) {
      const end = starts[f + 1]!
      for (let i = starts[f]!; i < end; ) {
        const v = of[owners[i]!]!
        let sum = 0
        for (; i < end && of[owners[i]!] === v; i++) sum += weights[i]!
        squares[v]! += sum * sum
      }
    }
  })
  return squares.map(Math.sqrt)
}

/** Known phrases in normal form, each with its value. */
export type Phrases = readonly (readonly [phrase: string, value: string])[]

/** Numbers the values in order of appearance; `of` is the value of each phrase. */
function numberValues(phrases: Phrases) {
  const place = new Map<string, number>()
  const of = Int32Array.from(phrases, ([, value]) => {
    const known = place.get(value) ?? place.size
    if (known === place.size) place.set(value, known)
    return known
  })
  return { place, of, values: [...place.keys()] }
}

/** Where the features of phrase p begin. */
const startOf = (ends: Int32Array, p: number): number => (p === 0 ? 0 : ends[p - 1]!)

/**
 * The number of phrases with each feature, and the effective number of values with it: the exponential of the
 * entropy of its phrases over values, which is 3 for a feature that three values have equally often.
 */
function* countHolders(
  size: number,
  rows: readonly IntList[],
  ends: readonly Int32Array[],
  of: Int32Array,
): SlicedWork<{ readonly inPhrases: Int32Array; readonly spread: Float64Array }> {
  const inPhrases = new Int32Array(size)
  const inValue = new Int32Array(size)
  const sums = new Float64Array(size)
  const lastPhrase = new Int32Array(size).fill(-1)
  const lastValue = new Int32Array(size).fill(-1)
  const close = (feature: number): void => {
    const count = inValue[feature]!
    if (count > 1) sums[feature]! += count * Math.log(count)
    inValue[feature] = 0
  }
  for (const [kind, { data }] of rows.entries())
    yield* inRanges(of.length, phrasesPerSlice, (from, to) => {
      let i = startOf(ends[kind]!, from)
      for (let p = from; p < to; p++)
        for (const end = ends[kind]![p]!; i < end; i++) {
          const feature = data[i]!
          if (lastPhrase[feature] === p) continue
          lastPhrase[feature] = p
          if (lastValue[feature] !== of[p]) close(feature)
          lastValue[feature] = of[p]!
          inPhrases[feature]!++
          inValue[feature]!++
        }
    })
  const spread = new Float64Array(size)
  yield* inRanges(size, featuresPerSlice, (from, to) => {
    for (let f = from; f < to; f++) {
      close(f)
      spread[f] = inPhrases[f]! * Math.exp(-sums[f]! / inPhrases[f]!)
    }
  })
  return { inPhrases, spread }
}

/** Extracts the features of all phrases, kind by kind; those of phrase p end at `ends[kind][p]`. */
function* readPhrases(
  reader: FeatureReader,
  phrases: Phrases,
): SlicedWork<{ readonly rows: readonly IntList[]; readonly ends: readonly Int32Array[] }> {
  const rows = Array.from({ length: reader.kinds }, intList)
  const ends = rows.map(() => new Int32Array(phrases.length))
  yield* inRanges(phrases.length, phrasesPerSlice, (from, to) => {
    for (let p = from; p < to; p++) {
      reader.read(phrases[p]![0], true, rows)
      for (let kind = 0; kind < rows.length; kind++) ends[kind]![p] = rows[kind]!.size
    }
  })
  return { rows, ends }
}

/** Fills the inverted index of the phrases, given the number of phrases with each feature. */
function* fillPostings(
  inPhrases: Int32Array,
  rows: readonly IntList[],
  ends: readonly Int32Array[],
  { out, add }: ReturnType<typeof makeWeighting>,
): SlicedWork<Postings> {
  const starts = new Int32Array(inPhrases.length + 1)
  for (let f = 0; f < inPhrases.length; f++) starts[f + 1] = starts[f]! + inPhrases[f]!
  const owners = new Int32Array(starts[inPhrases.length]!)
  const weights = new Float64Array(owners.length)
  const filled = starts.slice()
  yield* inRanges(ends[0]!.length, phrasesPerSlice, (from, to) => {
    for (let p = from; p < to; p++) {
      out.size = 0
      for (let kind = 0; kind < rows.length; kind++)
        add(rows[kind]!, startOf(ends[kind]!, p), ends[kind]![p]!)
      for (let i = 0; i < out.size; i++) {
        const at = filled[out.features[i]!]!++
        owners[at] = p
        weights[at] = out.weights[i]!
      }
    }
  })
  return { starts, owners, weights }
}

/**
 * Builds the index of known phrases in normal form; the phrases of one value must be consecutive.
 * @param script whether to read the phrases by words or by characters
 * @param known the updates of an index of the same phrases @default found now
 */
export function* buildSimilarityIndex(
  phrases: Phrases,
  script: 'latin' | 'han',
  known?: PerceptronUpdates,
): SlicedWork<SimilarityIndex> {
  const reader = script === 'han' ? hanReader() : latinReader()
  const { rows, ends } = yield* readPhrases(reader, phrases)
  const { place, of, values } = numberValues(phrases)
  const { inPhrases, spread } = yield* countHolders(reader.size(), rows, ends, of)
  const idfOf = (held: number): number => Math.log((1 + values.length) / (1 + held)) + 1
  const idf = spread.map(idfOf)
  const weighting = makeWeighting(idf, idfOf(0), reader.kinds)
  const postings = yield* fillPostings(inPhrases, rows, ends, weighting)
  const lengths = yield* sumLengths(values.length, of, postings)
  const { addScores, updates } = yield* trainPerceptron(postings, of, values.length, known)
  const sharing = makeSharing(postings, of, values.length, place, idf, idfOf(0))
  const dots = new Float64Array(of.length)
  return {
    updates,
    findNearest(text) {
      const asked = rows.map(intList)
      reader.read(text, false, asked)
      weighting.out.size = 0
      for (const one of asked) weighting.add(one, 0, one.size)
      multiply(weighting.out, postings, dots)
      const scores = scoreValues(dots, of, lengths)
      addScores(weighting.out, scores)
      const words = asked[0]!.data.slice(0, asked[0]!.size)
      return {
        ...rank(scores, values),
        shareOf: (some) => sharing(words, some),
        scoreOf: (value) => scores[place.get(value) ?? -1] ?? 0,
        bestOf: (fits) => bestFitting(scores, values, fits),
      }
    },
  }
}

/** Writes the cosine of a text with every phrase into `dots`. */
function multiply(
  text: FeatureVector,
  { starts, owners, weights }: Postings,
  dots: Float64Array,
): void {
  dots.fill(0)
  for (let f = 0; f < text.size; f++) {
    const weight = text.weights[f]!
    const feature = text.features[f]!
    const end = starts[feature + 1]!
    for (let i = starts[feature]!; i < end; i++) dots[owners[i]!]! += weight * weights[i]!
  }
}

/** Scores every value: half its most similar phrase, half all its phrases together. */
function scoreValues(dots: Float64Array, of: Int32Array, lengths: Float64Array): Float64Array {
  const best = new Float64Array(lengths.length)
  const scores = new Float64Array(lengths.length)
  for (let p = 0; p < dots.length; p++) {
    const dot = dots[p]!
    const v = of[p]!
    scores[v]! += dot
    if (dot > best[v]!) best[v] = dot
  }
  for (let v = 0; v < scores.length; v++)
    scores[v] = (best[v]! + scores[v]! / (lengths[v]! || 1)) / 2
  return scores
}

/** The best score of the values that fit. */
function bestFitting(
  scores: Float64Array,
  values: readonly string[],
  fits: (value: string) => boolean,
): number {
  let best = 0
  for (let v = 0; v < scores.length; v++)
    if (scores[v]! > best && fits(values[v]!)) best = scores[v]!
  return best
}

function rank(
  scores: Float64Array,
  values: readonly string[],
): Pick<SimilarityMatch, 'value' | 'score' | 'next'> {
  let value: string | undefined
  let score = 0
  let next = 0
  for (let v = 0; v < scores.length; v++) {
    if (scores[v]! > score) {
      next = score
      score = scores[v]!
      value = values[v]
    } else if (scores[v]! > next) next = scores[v]!
  }
  return { value, score, next }
}
