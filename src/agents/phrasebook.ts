/**
 * The phrasebook: what a reader who knows the knowledge base's sentences makes of a reply or a report.
 *
 * It inverts the `say` and `ask` sentences, and so reads text the way any doctor must: no private channel.
 */
import type { FindingDefinition, Knowledge } from '../knowledge/knowledge.js'
import { thirdPerson } from '../text/third-person.js'
import type { Language, Told } from '../turn.js'

export interface Phrasebook {
  /**
   * What a text tells, sentence by sentence, each as it stands in the knowledge base, in the patient's own words
   * or as somebody says it of them, at once or after a colon ("She says: As I said: …"). Other sentences, and
   * those that two states share, tell nothing.
   */
  read(text: string): readonly Told[]
  /** The finding a question of the knowledge base asks about. */
  question(text: string): string | undefined
}

/** Sentence ends; a point between digits is none. */
const ends = /(?<=[。！？!?；;\n])|(?<=\.)\s+/
const tail = /[\s.。！？!?；;]+$/

const sentences = (text: string): string[] =>
  text
    .split(ends)
    .map((sentence) => sentence.trim().replace(tail, ''))
    .filter((sentence) => sentence !== '')

/** A sentence with a number in it. */
interface Measured {
  readonly told: Told
  readonly prefix: string
  readonly suffix: string
  readonly range: readonly [number, number] | undefined
}

interface Book {
  /** Text to what it tells; null where two states share it. */
  readonly exact: Map<string, Told | null>
  readonly measured: Measured[]
  /** The most sentences one entry has. */
  longest: number
}

function enter(book: Book, finding: FindingDefinition, state: string, text: string): void {
  const told = { finding: finding.id, state }
  const parts = sentences(text)
  const key = parts.join('\n')
  book.longest = Math.max(book.longest, parts.length)
  const [prefix, suffix] = key.split('{value}')
  if (prefix !== undefined && suffix !== undefined) {
    book.measured.push({ told, prefix, suffix, range: finding.measure?.ranges[state] })
    return
  }
  const other = book.exact.get(key)
  const clash = other !== undefined && (other?.finding !== told.finding || other.state !== state)
  book.exact.set(key, clash ? null : told)
}

function readMeasured(book: Book, text: string): Told | undefined {
  let found: Told | undefined
  for (const { told, prefix, suffix, range } of book.measured) {
    if (!text.startsWith(prefix) || !text.endsWith(suffix)) continue
    const written = text.slice(prefix.length, text.length - suffix.length)
    const value = Number(written)
    if (written.trim() === '' || !Number.isFinite(value)) continue
    if (range && (value < range[0] || value > range[1])) continue
    if (found) return undefined
    found = told
  }
  return found
}

const colon = /[：:]\s*/

/** What a run of sentences tells, as it stands or without what stands before its colons. */
function readRun(book: Book, run: string): Told | undefined {
  for (let text = run; ; ) {
    const found = book.exact.get(text) ?? readMeasured(book, text)
    if (found) return found
    const title = colon.exec(text)
    // A colon of a later sentence is not the end of this one's title.
    if (!title || text.slice(0, title.index).includes('\n')) return undefined
    text = text.slice(title.index + title[0].length)
  }
}

function readAll(book: Book, text: string): readonly Told[] {
  const parts = sentences(text)
  const told: Told[] = []
  for (let i = 0; i < parts.length; ) {
    let step = 1
    for (let length = Math.min(book.longest, parts.length - i); length > 0; length--) {
      const found = readRun(book, parts.slice(i, i + length).join('\n'))
      if (!found) continue
      told.push(found)
      step = length
      break
    }
    i += step
  }
  return told
}

/** A sentence in the first person and, where a patient can say it and that makes a difference, in the third. */
const voices = (
  text: string,
  { knownBy }: FindingDefinition,
  language: Language,
): ReadonlySet<string> =>
  knownBy === 'exam'
    ? new Set([text])
    : new Set([text, thirdPerson(text, language, 'he'), thirdPerson(text, language, 'she')])

function build({ findings }: Knowledge, language: Language): Phrasebook {
  const book: Book = { exact: new Map(), measured: [], longest: 1 }
  const questions = new Map<string, string>()
  for (const finding of findings)
    for (const [state, said] of Object.entries(finding.say))
      for (const text of said[language])
        for (const spoken of voices(text, finding, language)) enter(book, finding, state, spoken)
  for (const { id, ask } of findings) {
    const first = ask[language][0]
    if (first !== undefined && !questions.has(first)) questions.set(first, id)
  }
  return {
    read: (text) => readAll(book, text),
    question: (text) => questions.get(text.trim()),
  }
}

const books = new WeakMap<Knowledge, Map<Language, Phrasebook>>()

/** The phrasebook of a knowledge base in a language, built once. */
export function phrasebook(knowledge: Knowledge, language: Language): Phrasebook {
  const known = books.get(knowledge) ?? new Map<Language, Phrasebook>()
  const book = known.get(language) ?? build(knowledge, language)
  books.set(knowledge, known.set(language, book))
  return book
}
