/**
 * Phrase search in Chinese and English text: text normalisation, and a trie of phrases matched against it.
 *
 * Normalised text keeps only letters and digits, Latin words one space apart and Han characters without spaces, so
 * punctuation, width and case cannot hide a phrase. Clause ends are kept beside it.
 */

import { finish, type SlicedWork } from '../platform/slices.js'

/** Phrases added between two pauses. */
const phrasesPerSlice = 64

/** Span of a clause in the normalised text, with its closing mark in the original. */
export interface TextClause {
  readonly start: number
  readonly end: number
  readonly mark: 'comma' | 'stop' | 'question'
}

/** Normalised text with its clauses. */
export interface NormalisedText {
  readonly text: string
  /** In order, none empty; the last one ends in a `stop` where the text has no mark. */
  readonly clauses: readonly TextClause[]
}

const question = 63
const commas = new Set([44, 58, 0x3001])
const stops = new Set([10, 33, 46, 59, 0x3002])
const apostrophes = new Set([39, 96, 0xb4, 0x2018, 0x2019, 0x301])

/** Han characters treated as the same. */
const folded = new Map([
  ['您', '你'],
  ['痛', '疼'],
])
const foldable = new RegExp(`[${[...folded.keys()].join('')}]`, 'g')

/** Replaces the Han characters that are treated as others. */
export const foldHan = (text: string): string =>
  text.replace(foldable, (character) => folded.get(character) ?? character)

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** A letter or digit of a script that puts spaces between words. */
const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || isDigit(code) || (code >= 0xc0 && code < 0x2000)

/** A character of a script without spaces: Han, kana, hangul. */
const isHan = (code: number): boolean =>
  (code >= 0x3400 && code <= 0x9fff) ||
  (code >= 0x3040 && code <= 0x30ff) ||
  (code >= 0xac00 && code <= 0xd7a3)

/** `46` is a full stop but not in "38.5". */
const inNumber = (text: string, i: number): boolean =>
  text.charCodeAt(i) === 46 && isDigit(text.charCodeAt(i - 1)) && isDigit(text.charCodeAt(i + 1))

/** Words of plain ASCII with one space between them. */
const plainWords = /^[a-z0-9]+(?: [a-z0-9]+)*$/i

/** Han characters with at most one mark, at their end. */
const plainHan = /^([\u4e00-\u9fff]+)([?？!！。]?)$/

/** Normalises a text of one clause without much work; undefined for others. */
function normalisePlain(raw: string): NormalisedText | undefined {
  if (plainWords.test(raw))
    return { text: raw.toLowerCase(), clauses: [{ start: 0, end: raw.length, mark: 'stop' }] }
  const [, han, mark] = plainHan.exec(raw) ?? []
  if (han === undefined) return undefined
  const text = foldHan(han)
  const ending = mark === '?' || mark === '？' ? 'question' : 'stop'
  return { text, clauses: [{ start: 0, end: text.length, mark: ending }] }
}

/** Normalises the first `limit` characters of a text. */
export function normaliseText(raw: string, limit = 2000): NormalisedText {
  // Most phrases of a lexicon are of this kind, and there are tens of thousands.
  const plain = raw.length <= limit ? normalisePlain(raw) : undefined
  if (plain) return plain
  const text = raw.slice(0, limit).normalize('NFKC').slice(0, limit).toLowerCase()
  const clauses: TextClause[] = []
  let out = ''
  let last = 0
  let start = 0
  let gap = false
  const close = (mark: TextClause['mark']) => {
    if (out.length > start) clauses.push({ start, end: out.length, mark })
    start = out.length
    gap = true
  }
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const word = isWord(code)
    if (word || isHan(code) || inNumber(text, i)) {
      // A clause begins with its first letter; the space before it belongs to no clause.
      if (gap && isWord(last) && word) {
        if (start === out.length) start++
        out += ' '
      }
      out += isHan(code) ? (folded.get(text[i]!) ?? text[i]) : text[i]
      last = code
      gap = false
    } else if (code === question) close('question')
    else if (stops.has(code)) close('stop')
    else if (commas.has(code)) close('comma')
    else if (!apostrophes.has(code)) gap = true
  }
  close('stop')
  return { text: out, clauses }
}

/** A trie node. Most have one child, kept in a field of its own; a map is made only for a second. */
interface Branch<T> {
  code: number
  child: Branch<T> | undefined
  others: Map<number, Branch<T>> | undefined
  leaf: Leaf<T> | undefined
}

interface Leaf<T> {
  readonly value: T
  /** The phrase itself contains a sentence end. */
  readonly broken: boolean
}

/** A trie of normalised phrases. A phrase added twice keeps its first value. */
export type PhraseTree<T> = Branch<T>

/** A phrase found in normalised text. */
export interface PhraseMatch<T> {
  readonly start: number
  readonly end: number
  readonly value: T
}

const branch = <T>(): Branch<T> => ({
  code: -1,
  child: undefined,
  others: undefined,
  leaf: undefined,
})

const follow = <T>(at: Branch<T>, code: number): Branch<T> | undefined =>
  at.code === code ? at.child : at.others?.get(code)

/** The child of `at` for a character, made where there is none. */
function grow<T>(at: Branch<T>, code: number): Branch<T> {
  const known = follow(at, code)
  if (known) return known
  const made = branch<T>()
  if (at.child) {
    at.others ??= new Map()
    at.others.set(code, made)
  } else {
    at.code = code
    at.child = made
  }
  return made
}

function add<T>(tree: Branch<T>, phrase: string, value: T): void {
  const { text, clauses } = normaliseText(phrase, 300)
  let at = tree
  for (let i = 0; i < text.length; i++) at = grow(at, text.charCodeAt(i))
  const broken = clauses.slice(0, -1).some(({ mark }) => mark !== 'comma')
  if (text.length > 0) at.leaf ??= { value, broken }
}

/** Builds a phrase trie in slices. A hyphenated phrase also matches when written as two words, or as one. */
export function* growPhraseTree<T>(
  phrases: Iterable<readonly [phrase: string, value: T]>,
): SlicedWork<PhraseTree<T>> {
  const tree = branch<T>()
  let count = 0
  for (const [phrase, value] of phrases) {
    if (count++ % phrasesPerSlice === 0) yield
    add(tree, phrase, value)
    if (phrase.includes('-')) add(tree, phrase.replaceAll('-', ''), value)
  }
  return tree
}

/** Builds a phrase trie at once, as {@link growPhraseTree} does. */
export const phraseTree = <T>(
  phrases: Iterable<readonly [phrase: string, value: T]>,
): PhraseTree<T> => finish(growPhraseTree(phrases))

const endings = new Set(['s', 'es', 'd', 'ed', 'ing'])

/** End of the word that runs through `at`. */
function wordEnd(text: string, at: number): number {
  let end = at
  while (end < text.length && isWord(text.charCodeAt(end))) end++
  return end
}

/** End of a phrase over [start, at): there, or after a regular English ending; -1 inside a word. */
function phraseEnd(text: string, start: number, at: number): number {
  if (!isWord(text.charCodeAt(at - 1)) || !isWord(text.charCodeAt(at))) return at
  if (at - start < 4) return -1
  const end = wordEnd(text, at)
  return end - at <= 3 && endings.has(text.slice(at, end)) ? end : -1
}

/** The longest phrase that begins at `start`. */
function longestAt<T>(
  tree: PhraseTree<T>,
  text: string,
  start: number,
  stopAt: number,
): PhraseMatch<T> | undefined {
  let best: PhraseMatch<T> | undefined
  let at: Branch<T> | undefined = tree
  for (let i = start; i < text.length; i++) {
    at = follow(at, text.charCodeAt(i))
    if (!at) break
    if (!at.leaf || (i >= stopAt && !at.leaf.broken)) continue
    const end = phraseEnd(text, start, i + 1)
    if (end >= 0 && (!best || end > best.end || i + 1 === end))
      best = { start, end, value: at.leaf.value }
  }
  return best
}

/**
 * Finds the phrases of a trie in a text, in order, none inside another. Latin phrases match whole words; a phrase
 * crosses a sentence end only when it contains one itself.
 */
export function findPhrases<T>(
  tree: PhraseTree<T>,
  { text, clauses }: NormalisedText,
): PhraseMatch<T>[] {
  const found: PhraseMatch<T>[] = []
  let reach = 0
  let clause = 0
  for (let start = 0; start < text.length; start++) {
    const code = text.charCodeAt(start)
    if (code === 32 || (isWord(code) && isWord(text.charCodeAt(start - 1)))) continue
    while (
      clause < clauses.length - 1 &&
      (start >= clauses[clause]!.end || clauses[clause]!.mark === 'comma')
    )
      clause++
    const match = longestAt(tree, text, start, clauses[clause]?.end ?? text.length)
    if (!match || match.end <= reach) continue
    found.push(match)
    reach = match.end
  }
  return found
}

const han = /\p{Script=Han}/u
const isLetter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character) && !han.test(character)

/** Whether a text contains a phrase of the same letter case: Chinese anywhere, other scripts as whole words. */
export function containsPhrase(text: string, phrase: string): boolean {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    if (han.test(phrase)) return true
    if (!isLetter(text[at - 1]) && !isLetter(text[at + phrase.length])) return true
  }
  return false
}
