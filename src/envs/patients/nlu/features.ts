/**
 * What texts in normal form have in common, as numbers: in Latin script stemmed words, pairs of words as written
 * and, so that a slip of the pen costs little, runs of four letters; in Han script characters and pairs of them.
 */
import { words } from '../../../text/word-stems.js'

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

/** One of 38 letters: the space between words, a to z, the digits, and all others. */
function letter(code: number): number {
  if (code === 32) return 0
  if (code >= 97 && code <= 122) return code - 96
  if (code >= 48 && code <= 57) return code - 21
  return 37
}

interface Token {
  /** The word as it is written. */
  readonly form: number
  /** -1 for a word that says nothing by itself. */
  readonly id: number
  readonly stem: string
}

const leading = new Set(['how', 'when', 'where'])
/** More than there are forms of words. */
const manyForms = 2 ** 24

/**
 * Reads words in three kinds: stems, where those without meaning of their own count only after "how", "when" and
 * "where"; runs of four letters over the edges of words; and pairs of neighbouring words as they are written.
 */
export function latinReader(): Reader {
  let size = 0
  let forms = 1
  const next = () => size++
  const wordId = numbering<string>(next)
  const pairId = numbering<number>(next)
  const gramIds = new Int32Array(38 ** 4).fill(-1)
  const tokens = new Map<string, Token>()
  const tokenOf = (text: string, grow: boolean): Token => {
    const known = tokens.get(text)
    if (known) return known
    const [word] = words(text)
    const id = word === undefined ? -1 : wordId(word, grow)
    const token = { form: grow ? forms++ : -1, id, stem: word ?? '' }
    if (grow) tokens.set(text, token)
    return token
  }
  const readGrams = (text: string, grow: boolean, out: Row): void => {
    // What slides out to the left of the four letters is dropped by the remainder.
    let gram = letter(text.charCodeAt(0)) * 38 + letter(text.charCodeAt(1))
    for (let i = 2; i <= text.length; i++) {
      gram = (gram * 38 + (i < text.length ? letter(text.charCodeAt(i)) : 0)) % 38 ** 4
      if (grow && gramIds[gram]! < 0) gramIds[gram] = next()
      push(out, gramIds[gram]!)
    }
  }
  return {
    kinds: 3,
    size: () => size,
    read(text, grow, [stems, grams, pairs]) {
      let before = ''
      let form = 0
      for (const one of text.split(' ')) {
        const token = tokenOf(one, grow)
        // "How long" and "how many" ask for different things; "how" and "long" alone hardly ask at all.
        if (leading.has(before)) push(stems!, wordId(`${before} ${token.stem || one}`, grow))
        if (token.stem !== '') push(stems!, token.id)
        const known = form >= 0 && token.form >= 0
        push(pairs!, known ? pairId(form * manyForms + token.form, grow) : -1)
        before = one
        form = token.form
      }
      readGrams(text, grow, grams!)
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
