/**
 * Likeness of a question to known phrases by the words they share (`words.ts`), rare words weighing more;
 * a misspelt Latin word counts as the known word that shares most of its letter trigrams.
 */

import { normal } from '../../phrases.js'
import { words } from '../../words.js'

/** Known phrases as an inverted index of weighted words. */
export interface Likeness<T> {
  readonly values: readonly T[]
  /** Euclidean length of each phrase. */
  readonly lengths: Float64Array
  readonly postings: ReadonlyMap<string, readonly number[]>
  readonly weights: ReadonlyMap<string, number>
  /** Weight of a word that no phrase has. */
  readonly rarest: number
  /** Known Latin words by trigram. */
  readonly spellings: ReadonlyMap<string, readonly string[]>
}

/** What a question may hold without asking about something else. */
const fillers =
  /请问|有没有|是不是|是否|有无|会不会|时候|最近|近来|平时|现在|这段时间|觉得|感觉|出现|比较|特别|具体|容易|厉害|[里上会得个时过着大以之]|\b(?:things?|feel|feels|feeling|felt|noticed?|experienc\w+|suffer\w*|lately|today|days|usual|normal|than)\b/g
const echo = /(\p{Script=Han})[不没]\1/gu
const whereabouts = /(?:哪个|什么)(?:部位|位置|地方)|哪儿/g

/** The words of a normal form, each once. */
const wordsOf = (text: string): Set<string> =>
  new Set(words(text.replace(echo, '$1').replace(whereabouts, '哪里').replace(fillers, '')))

function trigrams(word: string): string[] {
  const padded = `_${word}_`
  return Array.from({ length: Math.max(0, padded.length - 2) }, (_, i) => padded.slice(i, i + 3))
}

const shortest = 5
const isSpelt = (word: string): boolean =>
  word.length >= shortest && word.charCodeAt(0) < 0x250 && !word.includes(' ')

/** Appends to the list of a key. */
function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

/** Indexes phrases; a word weighs the more, the fewer different values it occurs with. */
export function likeness<T>(
  phrases: readonly (readonly [phrase: string, value: T])[],
): Likeness<T> {
  const values = phrases.map(([, value]) => value)
  const sets = phrases.map(([phrase]) => wordsOf(normal(phrase).text))
  const postings = new Map<string, number[]>()
  const spellings = new Map<string, string[]>()
  sets.forEach((set, p) => {
    for (const word of set) push(postings, word, p)
  })
  for (const word of postings.keys())
    if (isSpelt(word)) for (const gram of trigrams(word)) push(spellings, gram, word)
  const total = new Set(values).size
  const weights = new Map(
    [...postings].map(([word, at]) => {
      const holding = new Set(at.map((p) => values[p])).size
      return [word, Math.log(1 + total / holding)] as const
    }),
  )
  const lengths = Float64Array.from(sets, (set) =>
    Math.sqrt([...set].reduce((sum, word) => sum + (weights.get(word) ?? 0) ** 2, 0)),
  )
  return { values, lengths, postings, weights, rarest: Math.log(1 + total), spellings }
}

/** The known word that an unknown one most probably misspells: at least 60 % of their trigrams shared. */
function respell({ spellings }: Likeness<unknown>, word: string): string {
  if (!isSpelt(word)) return word
  const grams = trigrams(word)
  const shared = new Map<string, number>()
  for (const gram of grams)
    for (const known of spellings.get(gram) ?? []) shared.set(known, (shared.get(known) ?? 0) + 1)
  let best = word
  let most = 0.6
  for (const [known, count] of shared) {
    const dice = (2 * count) / (grams.length + known.length)
    if (dice >= most) {
      best = known
      most = dice
    }
  }
  return best
}

/** The likest value and its cosine in [0, 1], and the cosine of the likest other value. */
export function likest<T>(
  index: Likeness<T>,
  text: string,
): { readonly value: T | undefined; readonly score: number; readonly next: number } {
  const { values, lengths, postings, weights, rarest } = index
  const shared = new Map<number, number>()
  let square = 0
  for (const written of wordsOf(text)) {
    const word = weights.has(written) ? written : respell(index, written)
    const weight = weights.get(word) ?? rarest
    square += weight * weight
    for (const p of postings.get(word) ?? []) shared.set(p, (shared.get(p) ?? 0) + weight * weight)
  }
  let value: T | undefined
  let score = 0
  let next = 0
  for (const [p, dot] of shared) {
    const cosine = dot / (lengths[p]! * Math.sqrt(square))
    if (cosine > score) {
      if (values[p] !== value) next = score
      value = values[p]
      score = cosine
    } else if (values[p] !== value && cosine > next) next = cosine
  }
  return { value, score, next }
}
