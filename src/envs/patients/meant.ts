/** Which findings a sentence means: those it names, those it is like, or one instead of another. */
import type { Match, Normal } from '../../phrases.js'
import { words } from '../../words.js'
import { isQuestionClause } from './acts.js'
import { isGeneric, ungeneric } from './attributes.js'
import type { Entry, Lexicon } from './lexicon.js'
import type { Likest } from './likeness.js'
import type { Sentence } from './sentences.js'

/**
 * When the likest finding is meant, where nothing is named: a least likeness, and a least sum of the likeness
 * and twice its lead over the next finding. Characters are more telling than words.
 */
const sure = {
  zh: { score: 0.31, sum: 0.46 },
  en: { score: 0.38, sum: 0.65 },
} as const
/** How much more of both it takes where the sentence is likely to be about something else. */
const doubtful = 0.1
/** Least likeness, and least lead over what is named, at which a finding is meant instead of that. */
const instead = { score: 0.5, lead: 0.15 } as const
/** The same for a detail of what is named. */
const closer = { score: 0.4, lead: 0.05 } as const
/** What a named phrase as long as the sentence adds to its likeness. */
const coverage = 0.1
/** A named finding is passed over in a sentence that is less like it than this and says much besides. */
const weak = { zh: { score: 0.3, share: 0.6 }, en: { score: 0.2, share: 0.5 } } as const
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
const hanEnd = /\p{Script=Han}$/u

const joined = /\b(?:or|and|nor|plus|as well as)\b|或者|或|和|还是|以及|及|跟|还有|、/g
/** Longest stretch that may stand between two things of a list, besides words that say nothing. */
const aside = { han: 4, latin: 14 }

/** Whether a match and the one after it stand side by side in a list, so that both are meant. */
function listed(
  { text, clauses }: Normal,
  { end: from }: FindingMatch,
  { start: to }: FindingMatch,
  related: boolean,
): boolean {
  if (from > to) return false
  const between = text.slice(from, to)
  const broken = clauses.some(({ end }) => end >= from && end <= to && end < text.length)
  if (between.trim() === '' && related) return false
  if (between.trim() === '') return broken || (between === '' && hanEnd.test(text.slice(0, from)))
  // "When you cough, is there phlegm?" is no list.
  if (isQuestionClause(between.trim())) return false
  const bare = between.replace(joined, ' ')
  if (bare === between && !broken) return false
  const rest = ungeneric(bare)
  // A complaint and its detail are both meant only in so many words: "a cough or phlegm".
  if (related) return bare !== between && rest === ''
  return rest.length <= (hanEnd.test(rest) ? aside.han : aside.latin)
}

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
  readonly ids: readonly string[]
  /** The sentence was nearly like a finding. */
  readonly near: boolean
}

/** What a sentence without a known phrase is like. */
export function guessed({ sentence: { text }, like, fits }: Hearing, unsure: boolean): Meant {
  // One word is alike to much: "Is it serious?" to a serious accident.
  const single = !hanAny.test(text) && words(text).filter((word) => !isGeneric(word)).length < 2
  const more = (unsure ? doubtful : 0) + (single ? 2 * doubtful : 0)
  const { value, score, next } = like
  if (value === undefined || !fits(value)) return { ids: [], near: false }
  const least = sure[hanAny.test(text) ? 'zh' : 'en']
  const means = score >= least.score + more && score + 2 * (score - next) >= least.sum + more
  return { ids: means ? [value] : [], near: score >= nearly }
}

/** What a sentence with known phrases asks: all of a list, else what the whole of it is likest to. */
export function settled(
  { lexicon, read, sentence, like, fits }: Hearing,
  found: readonly FindingMatch[],
): readonly string[] {
  const { value, score } = like
  const plain = isGeneric(without(sentence.text, sentence.start, found))
  const above = (id: string, other: string) => lexicon.ancestors.get(id)?.has(other) ?? false
  const rootDetail = (id: string) => {
    const finding = lexicon.knowledge.finding.get(id)
    return finding?.attribute !== undefined && !finding.parent
  }
  const beside = (a: FindingMatch | undefined, b: FindingMatch | undefined) =>
    a !== undefined &&
    b !== undefined &&
    a.value.id !== b.value.id &&
    listed(read, a, b, above(a.value.id, b.value.id) || above(b.value.id, a.value.id))
  // Each match is compared with its neighbours alone, so that the time is bounded.
  const pairs = found.map((match, m) => beside(match, found[m + 1]))
  const inList = found.map((_, m) => pairs[m] || pairs[m - 1] || false)
  const likeOf = (match: FindingMatch) =>
    like.scoreOf(match.value.id) +
    (coverage * (match.end - match.start)) / sentence.text.length -
    (rootDetail(match.value.id) ? 1 : 0)
  const best = found.reduce((a, b) => (likeOf(b) > likeOf(a) ? b : a))
  const { score: least, share } = weak[hanAny.test(sentence.text) ? 'zh' : 'en']
  const faint =
    like.scoreOf(best.value.id) < least && best.end - best.start < share * sentence.text.length
  if (faint && !plain && !inList.includes(true)) return []
  const kept = found.filter((match, m) => match.value.id === best.value.id || inList[m])
  const ids = [...new Set(kept.map((match) => match.value.id))]
  if (plain || value === undefined || !fits(value) || ids.includes(value)) return ids
  const under = ids.find((id) => above(value, id))
  if (under !== undefined)
    return score >= closer.score && score - like.scoreOf(under) >= closer.lead
      ? ids.map((id) => (id === under ? value : id))
      : ids
  if (inList.includes(true)) return ids
  return score >= instead.score &&
    score - like.scoreOf(best.value.id) >= instead.lead &&
    !ids.some((id) => above(id, value))
    ? [value]
    : ids
}
