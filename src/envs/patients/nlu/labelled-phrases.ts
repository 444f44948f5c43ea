/** The known phrases of a knowledge base, in normal form and with what they are about: what similarity is learnt from. */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import type { SlicedWork } from '../../../platform/slices.js'
import { normaliseText } from '../../../text/phrase-search.js'
import type { Language } from '../../../turn.js'

/** A text of plain ASCII, whose normal form is simple. */
export const plainAscii = /^[ !"#$%&()*,\-/0-9:;?A-Z[\]_a-z{|}~'`]*$/

/** Words of plain ASCII with one space between them, and the mark of a sentence. */
const plainSentence = /^([a-z0-9]+(?: [a-z0-9]+)*)[?!]?$/i

/** The normal form of a phrase, with a fast path for plain ASCII. */
export function normalText(phrase: string): string {
  const words = plainSentence.exec(phrase)?.[1]
  if (words !== undefined) return words.toLowerCase()
  return plainAscii.test(phrase)
    ? phrase
        .toLowerCase()
        .replace(/['`]/g, '')
        .replace(/[^a-z0-9]+/g, ' ')
        .trim()
    : normaliseText(phrase).text
}

/** All questions, names and statements of findings, and all asides, in one language, each with its id. */
function* phrasesOf(
  { findings, asides }: Knowledge,
  language: Language,
): Generator<readonly [text: string, id: string]> {
  for (const { id, name, ask, aliases, jargon, say } of findings)
    for (const text of [
      ...ask[language],
      name[language],
      ...aliases[language],
      ...(jargon?.[language] ?? []),
      ...Object.values(say).flatMap((both) => both[language]),
    ])
      yield [text, id]
  for (const { id, text } of asides.filter(({ after }) => !after))
    for (const one of text[language]) yield [one, `aside ${id}`]
}

/** Phrases between two pauses. */
const phrasesPerSlice = 128

/** All questions, names and statements of findings, and all asides, in normal form, each with its id. */
export function* labelledPhrases(
  knowledge: Knowledge,
  language: Language,
): SlicedWork<(readonly [phrase: string, id: string])[]> {
  const out: (readonly [string, string])[] = []
  for (const [text, id] of phrasesOf(knowledge, language)) {
    if (out.length % phrasesPerSlice === 0) yield
    out.push([normalText(text), id])
  }
  return out
}
