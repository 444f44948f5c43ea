/**
 * The phrasebook: parses replies and reports into findings by inverting the knowledge base's `say` and `ask`
 * sentences. It reads the text that every doctor sees; there is no private channel.
 */
import type { FindingDefinition, Knowledge } from '../knowledge/knowledge.js'
import { perKnowledge } from '../knowledge/per-knowledge.js'
import { splitReference } from '../text/reference-interval.js'
import { capitalised, withoutOpening } from '../text/reply-openings.js'
import { toThirdPerson } from '../text/third-person.js'
import type { Language, RevealedFinding } from '../turn.js'

/** Parser of replies, reports and questions made of a knowledge base's sentences. */
export interface Phrasebook {
  /**
   * Findings that a text reveals, in order. A sentence counts as it stands in the knowledge base, in the first or
   * the third person, also after colons ("She says: As I said: …") and after another opening ("Not at all, …").
   * Other sentences, and those that two states share, reveal nothing.
   */
  read(text: string): readonly RevealedFinding[]
  /** Id of the finding that a question of the knowledge base asks about; undefined for any other text. */
  question(text: string): string | undefined
}

/** Matches sentence ends; a point between digits is none. */
const sentenceEnd = /(?<=[。！？!?；;\n])|(?<=\.)\s+/
const endMarks = /[\s.。！？!?；;]+$/

const sentences = (text: string): string[] =>
  text
    .split(sentenceEnd)
    .map((sentence) => sentence.trim().replace(endMarks, ''))
    .filter((sentence) => sentence !== '')

/** A sentence with a measured number in it, split at the number. */
interface MeasuredSentence {
  readonly revealed: RevealedFinding
  readonly prefix: string
  readonly suffix: string
  readonly range: readonly [number, number] | undefined
  /** Normal interval of patients to whom the range applies. */
  readonly reference: readonly [number, number] | undefined
}

interface Book {
  readonly language: Language
  /** Revealed finding by text; null where two states share the text. */
  readonly exact: Map<string, RevealedFinding | null>
  readonly measured: MeasuredSentence[]
  /** Most sentences in one entry. */
  longest: number
}

function addEntry(book: Book, finding: FindingDefinition, state: string, text: string): void {
  const revealed = { finding: finding.id, state }
  const parts = sentences(text)
  const key = parts.join('\n')
  book.longest = Math.max(book.longest, parts.length)
  const [prefix, suffix] = key.split('{value}')
  if (prefix !== undefined && suffix !== undefined) {
    const tables = finding.measure
      ? [finding.measure, ...(finding.measure.bands ?? [])]
      : [undefined]
    for (const table of tables) {
      const { reference } = table ?? {}
      book.measured.push({ revealed, prefix, suffix, range: table?.ranges[state], reference })
    }
    return
  }
  const other = book.exact.get(key)
  const clash =
    other !== undefined && (other?.finding !== revealed.finding || other.state !== state)
  book.exact.set(key, clash ? null : revealed)
}

const sameInterval = (
  a: readonly [number, number] | undefined,
  b: readonly [number, number] | undefined,
): boolean => a?.[0] === b?.[0] && a?.[1] === b?.[1]

function readMeasured(book: Book, sentence: string): RevealedFinding | undefined {
  const { text, reference: stated } = splitReference(sentence)
  let found: RevealedFinding | undefined
  for (const { revealed, prefix, suffix, range, reference } of book.measured) {
    if (!text.startsWith(prefix) || !text.endsWith(suffix)) continue
    if (stated && !sameInterval(reference, stated)) continue
    const written = text.slice(prefix.length, text.length - suffix.length)
    const value = Number(written)
    if (written.trim() === '' || !Number.isFinite(value)) continue
    if (range && (value < range[0] || value > range[1])) continue
    if (found && (found.finding !== revealed.finding || found.state !== revealed.state))
      return undefined
    found = revealed
  }
  return found
}

const colon = /[：:]\s*/

/** Finding that a run of sentences reveals, as it stands or without the text before its colons. */
function readRun(book: Book, run: string): RevealedFinding | undefined {
  for (let text = run; ; ) {
    const found = book.exact.get(text) ?? readMeasured(book, text)
    if (found) return found
    const core = withoutOpening(text, book.language)
    const bare = core && (book.exact.get(core) ?? readMeasured(book, core))
    if (bare) return bare
    const prefix = colon.exec(text)
    // A colon of a later sentence does not end this one's prefix.
    if (!prefix || text.slice(0, prefix.index).includes('\n')) return undefined
    text = capitalised(text.slice(prefix.index + prefix[0].length))
  }
}

function readAll(book: Book, text: string): readonly RevealedFinding[] {
  const parts = sentences(text)
  const revealed: RevealedFinding[] = []
  for (let i = 0; i < parts.length; ) {
    let step = 1
    for (let length = Math.min(book.longest, parts.length - i); length > 0; length--) {
      const found = readRun(book, parts.slice(i, i + length).join('\n'))
      if (!found) continue
      revealed.push(found)
      step = length
      break
    }
    i += step
  }
  return revealed
}

/** Variants of a sentence: as it stands and, where a patient can say it, without its opening and in the third person. */
function variantsOf(
  text: string,
  { knownBy }: FindingDefinition,
  language: Language,
): ReadonlySet<string> {
  if (knownBy === 'exam') return new Set([text])
  const own = [text, withoutOpening(text, language) ?? text]
  const others = own.flatMap((one) => [
    toThirdPerson(one, language, 'he'),
    toThirdPerson(one, language, 'she'),
  ])
  return new Set([...own, ...others])
}

function buildPhrasebook({ findings }: Knowledge, language: Language): Phrasebook {
  const book: Book = { language, exact: new Map(), measured: [], longest: 1 }
  const questions = new Map<string, string>()
  for (const finding of findings)
    for (const [state, said] of Object.entries(finding.say))
      for (const text of said[language])
        for (const spoken of variantsOf(text, finding, language))
          addEntry(book, finding, state, spoken)
  for (const { id, ask } of findings) {
    const first = ask[language][0]
    if (first !== undefined && !questions.has(first)) questions.set(first, id)
  }
  return {
    read: (text) => readAll(book, text),
    question: (text) => questions.get(text.trim()),
  }
}

const phrasebooks = perKnowledge(() => new Map<Language, Phrasebook>())

/** The phrasebook of a knowledge base in a language, built once. */
export function phrasebook(knowledge: Knowledge, language: Language): Phrasebook {
  const known = phrasebooks(knowledge)
  const book = known.get(language) ?? buildPhrasebook(knowledge, language)
  known.set(language, book)
  return book
}
