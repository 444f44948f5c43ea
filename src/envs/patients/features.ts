/**
 * What texts in normal form have in common, as numbers: in Latin script stemmed words and, so that a slip of the
 * pen costs little, the letter trigrams of words; in Han script characters and pairs of them.
 */
import { words } from '../../words.js'

/** Numbers in a row that grows. */
export interface Row {
  data: Int32Array
  size: number
}

/** An empty row. */
export const row = (): Row => ({ data: new Int32Array(256), size: 0 })

function push(to: Row, value: number): void {
  if (to.size === to.data.length) {
    const wider = new Int32Array(2 * to.size)
    wider.set(to.data)
    to.data = wider
  }
  to.data[to.size++] = value
}

/** Reads texts as features, each kind into a row of its own. */
export interface Reader {
  readonly kinds: number
  /** How many features are known. */
  size(): number
  /** Appends the features of a text; with `grow` new ones are numbered, without it they are -1. */
  read(text: string, grow: boolean, rows: readonly Row[]): void
}

/** Numbers keys in the order they come. */
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

/** One of 38 letters of a trigram: the edge of a word, a to z, the digits, and all others. */
function letter(code: number): number {
  if (code >= 97 && code <= 122) return code - 96
  if (code >= 48 && code <= 57) return code - 21
  return 37
}

/** The trigrams of a word and its edges, as numbers below 38³. */
function gramsOf(word: string): Int32Array {
  const grams = new Int32Array(word.length)
  let a = 0
  let b = letter(word.charCodeAt(0))
  for (let i = 1; i <= word.length; i++) {
    const c = i < word.length ? letter(word.charCodeAt(i)) : 0
    grams[i - 1] = (a * 38 + b) * 38 + c
    a = b
    b = c
  }
  return grams
}

interface Token {
  /** -1 for a word that says nothing by itself. */
  readonly id: number
  readonly stem: string
  readonly grams: Int32Array
}

const leading = new Set(['how', 'when', 'where'])

/** Reads words; those without meaning of their own count only after "how", "when" and "where". */
export function latinReader(): Reader {
  let size = 0
  const next = () => size++
  const wordId = numbering<string>(next)
  const gramIds = new Int32Array(38 ** 3).fill(-1)
  const tokens = new Map<string, Token>()
  const tokenOf = (text: string, grow: boolean): Token => {
    const known = tokens.get(text)
    if (known) return known
    const [word] = words(text)
    const grams = word === undefined ? new Int32Array(0) : gramsOf(text)
    for (let i = 0; i < grams.length; i++) {
      const gram = grams[i]!
      if (grow && gramIds[gram]! < 0) gramIds[gram] = next()
      grams[i] = gramIds[gram]!
    }
    const id = word === undefined ? -1 : wordId(word, grow)
    const token = { id, stem: word ?? '', grams }
    if (grow) tokens.set(text, token)
    return token
  }
  return {
    kinds: 2,
    size: () => size,
    read(text, grow, rows) {
      const [stems, trigrams] = [rows[0]!, rows[1]!]
      let before = ''
      for (const one of text.split(' ')) {
        const { id, stem, grams } = tokenOf(one, grow)
        // "How long" and "how many" ask for different things; "how" and "long" alone hardly ask at all.
        if (leading.has(before)) push(stems, wordId(`${before} ${stem || one}`, grow))
        before = one
        if (stem !== '') push(stems, id)
        for (let i = 0; i < grams.length; i++) push(trigrams, grams[i]!)
      }
    },
  }
}

/** What a question may hold without asking about something else. */
const fillers =
  /请问|说说看|说说|告诉我|有的人|有些人|有人会|有没有过|是这样|有没有|是不是|是否|有无|会不会|最近|近来|平时|现在|这段时间|觉得|感觉|出现|比较|特别|您|你|吗|呢|吧|啊|的|了/g

/** Reads characters and pairs of neighbours. */
export function hanReader(): Reader {
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
