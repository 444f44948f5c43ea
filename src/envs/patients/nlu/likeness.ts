/**
 * Likeness of a question to what is known of every finding: the phrases that ask for it and the sentences that
 * tell it. The likest single phrase and the phrases of a finding taken together count half and half; what tells
 * the finding from those it is easily taken for is added (`discern.ts`). Each kind of feature is weighed by how few
 * values share it (tf-idf with effective numbers) and has unit length.
 */
import type { Postings, Weighed } from './discern.js'
import { discern } from './discern.js'
import type { Row } from './features.js'
import { hanReader, latinReader, row } from './features.js'

/** Known phrases, indexed; made for one script. */
export interface Likeness {
  /** What a text in normal form is likest to. */
  likest(text: string): Likest
}

/**
 * What a text is likest to, and how like it is to the next other value: 0 with nothing in common, about 1 for a
 * known phrase, and more or less by what was learnt of the value.
 */
export interface Likest {
  readonly value: string | undefined
  readonly score: number
  readonly next: number
  /** How like it is to one value. */
  scoreOf(value: string): number
}

/** Weighs the features of texts, one at a time, into the same place. */
function scale(idf: Float64Array, rarest: number, kinds: number) {
  const counts = new Int32Array(idf.length)
  const out: Weighed = {
    features: new Int32Array(idf.length),
    weights: new Float64Array(idf.length),
    size: 0,
  }
  /** Adds the features of one kind, which are those of a row from `from` on. */
  const add = ({ data }: Row, from: number, to: number): void => {
    const first = out.size
    let square = 0
    for (let i = from; i < to; i++) {
      const feature = data[i]!
      if (feature < 0) square += rarest * rarest
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

/** Length of the sum of the phrases of each value. */
function lengthsOf(size: number, of: Int32Array, postings: Postings): Float64Array {
  const { starts, owners, weights } = postings
  const squares = new Float64Array(size)
  // The phrases of a value stand next to one another.
  for (let f = 0; f + 1 < starts.length; f++) {
    const end = starts[f + 1]!
    for (let i = starts[f]!; i < end; ) {
      const v = of[owners[i]!]!
      let sum = 0
      for (; i < end && of[owners[i]!] === v; i++) sum += weights[i]!
      squares[v]! += sum * sum
    }
  }
  return squares.map(Math.sqrt)
}

type Phrases = readonly (readonly [phrase: string, value: string])[]

/** The values in order of appearance, and that of each phrase. */
function valuesOf(phrases: Phrases) {
  const place = new Map<string, number>()
  const of = Int32Array.from(phrases, ([, value]) => {
    const known = place.get(value) ?? place.size
    if (known === place.size) place.set(value, known)
    return known
  })
  return { place, of, values: [...place.keys()] }
}

/**
 * How many phrases hold each feature, and how many values it is spread over: the exponential of the entropy of its
 * phrases among values, which is 3 for one that three values have alike.
 */
function holders(size: number, rows: readonly Row[], ends: readonly Int32Array[], of: Int32Array) {
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
  rows.forEach(({ data }, kind) => {
    let i = 0
    for (let p = 0; p < of.length; p++)
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
  for (let f = 0; f < size; f++) {
    close(f)
    spread[f] = inPhrases[f]! * Math.exp(-sums[f]! / inPhrases[f]!)
  }
  return { inPhrases, spread }
}

/**
 * Indexes phrases in normal form, those of one value next to one another.
 * @param script whether to read them by words or by characters
 */
export function likeness(phrases: Phrases, script: 'latin' | 'han'): Likeness {
  const reader = script === 'han' ? hanReader() : latinReader()
  const rows = Array.from({ length: reader.kinds }, row)
  const ends = rows.map(() => new Int32Array(phrases.length))
  phrases.forEach(([text], p) => {
    reader.read(text, true, rows)
    rows.forEach(({ size }, kind) => {
      ends[kind]![p] = size
    })
  })
  const size = reader.size()
  const { place, of, values } = valuesOf(phrases)
  const { inPhrases, spread } = holders(size, rows, ends, of)
  const idfOf = (held: number): number => Math.log((1 + values.length) / (1 + held)) + 1
  const scales = scale(spread.map(idfOf), idfOf(0), reader.kinds)
  const starts = new Int32Array(size + 1)
  for (let f = 0; f < size; f++) starts[f + 1] = starts[f]! + inPhrases[f]!
  const postings = {
    starts,
    owners: new Int32Array(starts[size]!),
    weights: new Float64Array(starts[size]!),
  }
  const filled = starts.slice()
  for (let p = 0; p < phrases.length; p++) {
    const { out, add } = scales
    out.size = 0
    rows.forEach((one, kind) => {
      add(one, p === 0 ? 0 : ends[kind]![p - 1]!, ends[kind]![p]!)
    })
    for (let i = 0; i < out.size; i++) {
      const at = filled[out.features[i]!]!++
      postings.owners[at] = p
      postings.weights[at] = out.weights[i]!
    }
  }
  const lengths = lengthsOf(values.length, of, postings)
  const tell = discern(postings, of, values.length)
  const dots = new Float64Array(of.length)
  return {
    likest(text) {
      const asked = rows.map(row)
      reader.read(text, false, asked)
      scales.out.size = 0
      for (const one of asked) scales.add(one, 0, one.size)
      multiply(scales.out, postings, dots)
      const scores = scored(dots, of, lengths)
      tell(scales.out, scores)
      return { ...ranked(scores, values), scoreOf: (value) => scores[place.get(value) ?? -1] ?? 0 }
    },
  }
}

/** The likeness of a text to every phrase. */
function multiply(text: Weighed, { starts, owners, weights }: Postings, dots: Float64Array): void {
  dots.fill(0)
  for (let f = 0; f < text.size; f++) {
    const weight = text.weights[f]!
    const feature = text.features[f]!
    const end = starts[feature + 1]!
    for (let i = starts[feature]!; i < end; i++) dots[owners[i]!]! += weight * weights[i]!
  }
}

/** The likeness to every value: half to its likest phrase, half to all of them together. */
function scored(dots: Float64Array, of: Int32Array, lengths: Float64Array): Float64Array {
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

function ranked(scores: Float64Array, values: readonly string[]): Omit<Likest, 'scoreOf'> {
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
