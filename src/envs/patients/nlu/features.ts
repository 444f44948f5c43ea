/**
 * Text features of texts in normal form, as integer ids. Latin script: stemmed words, word bigrams as written, and,
 * for robustness to typing errors, character 4-grams. Han script: characters and character bigrams.
 */
import { wordStems } from '../../../text/word-stems.js'

/** A list of integers that grows. */
export interface IntList {
  data: Int32Array
  size: number
}

/** Makes an empty list. */
export const intList = (): IntList => ({ data: new Int32Array(256), size: 0 })

/** Appends a value. */
export function push(to: IntList, value: number): void {
  if (to.size === to.data.length) {
    const wider = new Int32Array(2 * to.size)
    wider.set(to.data)
    to.data = wider
  }
  to.data[to.size++] = value
}

/** Extracts the features of texts, each kind of feature into a list of its own. */
export interface FeatureReader {
  /** Number of kinds of features. */
  readonly kinds: number
  /** Number of known features. */
  size(): number
  /** Appends the features of a text, one row per kind; a new feature gets an id with `grow`, else it is -1. */
  read(text: string, grow: boolean, rows: readonly IntList[]): void
}

/** Numbers keys in order of appearance. */
function numbering<K>(next: () => number) {
  const known = new Map<K, number>()
  return (key: K, grow: boolean): number => {
    const id = known.get(key)
    if (id !== undefined || !grow) return id ?? -1
    const made = next()
    known.set(key, made)
    return made
  }
}

/** One of 38 letters: the space between words, a to z, the digits, and all others. */
function letter(code: number): number {
  if (code === 32) return 0
  if (code >= 97 && code <= 122) return code - 96
  if (code >= 48 && code <= 57) return code - 21
  return 37
}

/** Appends the character 4-grams of a text, which also run over the edges of words. */
function fourGrams(next: () => number) {
  const ids = new Int32Array(38 ** 4).fill(-1)
  return (text: string, grow: boolean, out: IntList): void => {
    // The remainder drops the letter that leaves the window.
    let gram = letter(text.charCodeAt(0)) * 38 + letter(text.charCodeAt(1))
    for (let i = 2; i <= text.length; i++) {
      gram = (gram * 38 + (i < text.length ? letter(text.charCodeAt(i)) : 0)) % 38 ** 4
      if (grow && ids[gram]! < 0) ids[gram] = next()
      push(out, ids[gram]!)
    }
  }
}

interface WordToken {
  /** Id of the word as it is written. */
  readonly form: number
  /** Id of the stem; -1 for a stop word. */
  readonly id: number
  readonly stem: string
  /** Id of the bigram of this word and another form: a table of its own, for small keys are the fastest. */
  readonly pairId: (form: number, grow: boolean) => number
}

const questionAdverbs = new Set(['how', 'when', 'where'])

/**
 * Extracts three kinds of features: stems, with stop words only after "how", "when" and "where"; character
 * 4-grams; and bigrams of words as they are written.
 */
export function latinReader(): FeatureReader {
  let size = 0
  let forms = 1
  const next = () => size++
  const wordId = numbering<string>(next)
  const start: WordToken = { form: 0, id: -1, stem: '', pairId: numbering(next) }
  const readGrams = fourGrams(next)
  const tokens = new Map<string, WordToken>()
  const tokenOf = (text: string, grow: boolean): WordToken => {
    const known = tokens.get(text)
    if (known) return known
    const [word] = wordStems(text)
    const id = word === undefined ? -1 : wordId(word, grow)
    const form = grow ? forms++ : -1
    const token = { form, id, stem: word ?? '', pairId: numbering<number>(next) }
    if (grow) tokens.set(text, token)
    return token
  }
  return {
    kinds: 3,
    size: () => size,
    read(text, grow, [stems, grams, pairs]) {
      let before = ''
      let previous = start
      for (const one of text.split(' ')) {
        const token = tokenOf(one, grow)
        // "How long" and "how many" ask for different things; "how" and "long" alone hardly ask at all.
        if (questionAdverbs.has(before))
          push(stems!, wordId(`${before} ${token.stem || one}`, grow))
        if (token.stem !== '') push(stems!, token.id)
        const known = previous.form >= 0 && token.form >= 0
        push(pairs!, known ? previous.pairId(token.form, grow) : -1)
        before = one
        previous = token
      }
      readGrams(text, grow, grams!)
    },
  }
}

/** Words that may stand in any question. */
export const fillers =
  /请问|说说看|说说|告诉我|有的人|有些人|有人会|有没有过|是这样|有没有|是不是|是否|有无|会不会|最近|近来|平时|现在|这段时间|觉得|感觉|出现|比较|特别|您|你|吗|呢|吧|啊|的|了/g

/** Extracts characters and character bigrams. */
export function hanReader(): FeatureReader {
  let size = 0
  const id = numbering<number>(() => size++)
  return {
    kinds: 1,
    size: () => size,
    read(text, grow, rows) {
      const plain = text.replace(fillers, '') || text
      const out = rows[0]!
      let before = 0
      for (let i = 0; i < plain.length; i++) {
        const code = plain.charCodeAt(i)
        push(out, id(code, grow))
        if (before > 0) push(out, id(before * 65536 + code, grow))
        before = code
      }
    },
  }
}
