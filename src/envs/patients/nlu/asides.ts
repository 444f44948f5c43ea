/** Topics of a sentence that no finding answers: by the phrases that name them, else by similarity. */
import type { PhraseMatch } from '../../../text/phrase-search.js'
import { languageByScript, type SentenceContext } from './finding-match.js'
import type { LexiconEntry } from './lexicon.js'

/** Prefix of an aside among the values of similarity. */
const prefix = 'aside '
/** Least score, and least sum of the score and twice its lead, at which the most similar aside is taken. */
const thresholds = {
  zh: { score: 0.42, sum: 0.62 },
  en: { score: 0.3, sum: 0.6 },
} as const

/** A phrase match that names an aside. */
export type AsideMatch = PhraseMatch<Extract<LexiconEntry, { readonly kind: 'aside' }>>

/** Whether a match names an aside. */
export const isAsideMatch = (match: PhraseMatch<LexiconEntry>): match is AsideMatch =>
  match.value.kind === 'aside'

/** The aside a sentence without a named topic is most similar to; undefined where none is similar enough. */
export function guessAside({ sentence, similarity }: SentenceContext): string | undefined {
  const { value, score, next } = similarity
  if (!value?.startsWith(prefix)) return undefined
  const least = thresholds[languageByScript(sentence.text)]
  const means = score >= least.score && score + 2 * (score - next) >= least.sum
  return means ? value.slice(prefix.length) : undefined
}

/**
 * The asides that a sentence asks about.
 * @param named whether it names findings: beside them an illness or a symptom of a list counts, but no other topic
 * @param isDenied whether an aside is an illness or a symptom without a finding
 */
export function findAsides(
  given: SentenceContext,
  here: readonly PhraseMatch<LexiconEntry>[],
  named: boolean,
  isDenied: (id: string) => boolean,
): readonly string[] {
  const ids = here.filter(isAsideMatch).map(({ value }) => value.id)
  if (named) return [...new Set(ids.filter(isDenied))]
  if (ids.length > 0) return [...new Set(ids)]
  const guessed = guessAside(given)
  if (guessed === undefined) return []
  // Courtesies are known by their words: a question that is merely similar to one is none.
  return given.lexicon.knowledge.aside.get(guessed)?.act === undefined ? [guessed] : []
}

/** What is asked of the patient, and the same of relatives. */
const ofRelatives: ReadonlyMap<string, string> = new Map([
  ['cancer-history', 'family-cancer'],
  ['past-health', 'family-health'],
])

/**
 * Asides of a sentence about relatives: an illness is theirs, and how they are is asked for only where nothing else is.
 * @param isKnown whether the knowledge base has an aside
 */
export function asidesOfRelatives(
  ids: readonly string[],
  isKnown: (id: string) => boolean,
): readonly string[] {
  const theirs = ids.map((id) => {
    const other = ofRelatives.get(id) ?? (/^(?!family).*-history$/.test(id) ? 'family-health' : id)
    return isKnown(other) ? other : id
  })
  const illness = theirs.filter((id) => id !== 'parents-siblings')
  const broad = illness.filter((id) => id !== 'family-health')
  const kept = broad.length > 0 ? broad : illness
  return [...new Set(kept.length > 0 ? kept : theirs)]
}
