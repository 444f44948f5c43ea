/** Which findings a sentence means: those it names, those it is like, or one instead of another. */
import type { Match, Normal } from '../../../text/phrase-search.js'
import { words } from '../../../text/word-stems.js'
import type { Language } from '../../../turn.js'
import { isGeneric } from './attributes.js'
import { isWhole } from './focus.js'
import type { Entry, Lexicon } from './lexicon.js'
import type { Likest } from './likeness.js'
import type { Sentence } from './sentences.js'

/**
 * When the likest finding is meant, where nothing is named: a least likeness, and a least sum of the likeness
 * and twice its lead over the next value. Characters are more telling than words.
 */
const sure = {
  zh: { score: 0.45, sum: 0.8 },
  en: { score: 0.15, sum: 0.95 },
} as const
/** How much more of both it takes where only one word says anything: "Is it serious?" is like much. */
const oneWord = 0.4
/** Least likeness, and least lead over what is named, at which something else is meant instead. */
const instead = { score: 0.3, lead: 0.05 } as const
/** What a named phrase as long as the sentence adds to its likeness. */
const coverage = 0.15
/** A named finding is passed over in a sentence that is less like it than this and says much besides. */
const weak = { score: 0.45, share: 0.4 } as const
/** Least likeness at which it is worth asking what was meant. */
const nearly = 0.35

/** A finding, named. */
export type FindingMatch = Match<Extract<Entry, { readonly kind: 'finding' }>>

/** Whether a match names a finding. */
export const isFinding = (match: Match<Entry>): match is FindingMatch =>
  match.value.kind === 'finding'

/** A sentence, and all there is to judge it by. */
export interface Hearing {
  readonly lexicon: Lexicon
  readonly read: Normal
  readonly sentence: Sentence
  readonly like: Likest
  /** Whether a finding can be meant at all. */
  fits(id: string): boolean
}

const hanAny = /\p{Script=Han}/u

/** By which language's rules a text is judged. */
export const languageOf = (text: string): Language => (hanAny.test(text) ? 'zh' : 'en')

/** Drops what was read over a comma, where one of the two phrases beside it is known too. */
export function apart(
  { clauses }: Normal,
  matches: readonly Match<Entry>[],
): readonly Match<Entry>[] {
  let c = 0
  const crosses = matches.map(({ start, end }) => {
    while (c < clauses.length - 1 && clauses[c]!.end <= start) c++
    return clauses[c]!.end < end
  })
  return matches.filter(({ start, end }, m) => {
    const [before, after] = [matches[m - 1], matches[m + 1]]
    return !(
      crosses[m] &&
      ((before && !crosses[m - 1] && before.end > start) ||
        (after && !crosses[m + 1] && after.start < end))
    )
  })
}

/** The sentence less the matched phrases, which say what it is about and not what of it. */
export function without(text: string, start: number, matches: readonly Match<unknown>[]): string {
  let rest = ''
  let from = 0
  for (const match of matches) {
    rest += `${text.slice(from, match.start - start)} `
    from = Math.max(from, match.end - start)
  }
  return rest + text.slice(from)
}

/** What a sentence is taken to ask about. */
export interface Meant {
  readonly id: string | undefined
  /** The sentence was nearly like a finding. */
  readonly near: boolean
}

/**
 * What a sentence without a known phrase is like.
 * @param more how much more likeness and lead it takes
 */
export function guessed({ sentence: { text }, like, fits }: Hearing, more = 0): Meant {
  const { value, score, next } = like
  if (value === undefined || !fits(value)) return { id: undefined, near: false }
  const language = languageOf(text)
  const single = language === 'en' && words(text).filter((word) => !isGeneric(word)).length < 2
  const least = sure[language]
  const extra = more + (single ? oneWord : 0)
  const means = score >= least.score + extra && score + 2 * (score - next) >= least.sum + extra
  return { id: means ? value : undefined, near: score >= nearly }
}

/** What a sentence with known phrases asks: what it names, or what the whole of it is likest to; or neither. */
export function settled(
  { lexicon, sentence, like, fits }: Hearing,
  found: readonly FindingMatch[],
): string | undefined {
  const { value, score } = like
  const { text } = sentence
  const { ancestors } = lexicon
  const likeOf = ({ value: { id }, start, end }: FindingMatch) =>
    like.scoreOf(id) +
    (coverage * (end - start)) / text.length -
    (isWhole(lexicon.knowledge, id) ? 1 : 0)
  // "When you cough, is there phlegm?" asks for the phlegm.
  const nearest = found.filter(
    ({ value: { id } }) => !found.some((other) => ancestors.get(other.value.id)?.has(id)),
  )
  const best = nearest.reduce((a, b) => (likeOf(b) > likeOf(a) ? b : a))
  const { id } = best.value
  if (isGeneric(without(text, sentence.start, found))) return id
  if (like.scoreOf(id) < weak.score && best.end - best.start < weak.share * text.length)
    return undefined
  if (value === undefined || value === id) return id
  if (score < instead.score || score - like.scoreOf(id) < instead.lead) return id
  if (!lexicon.knowledge.finding.has(value)) return undefined
  return fits(value) && !ancestors.get(id)?.has(value) ? value : id
}
