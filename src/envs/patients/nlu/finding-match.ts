/**
 * Finding match of a sentence: which finding it asks about, by its named phrases and by similarity.
 * Long because the two languages weigh the same evidence differently, step by step beside each other.
 */
import type { FindingDefinition } from '../../../knowledge/knowledge.js'
import type { NormalisedText, PhraseMatch } from '../../../text/phrase-search.js'
import { wordStems } from '../../../text/word-stems.js'
import type { Language } from '../../../turn.js'
import { isQuestionClause } from './acts.js'
import { findAttributes, isGeneric } from './attributes.js'
import { isOfOtherRegion, lacksEssentials } from './chinese/essentials.js'
import { foreignShare } from './chinese/foreign-words.js'
import { fillers } from './features.js'
import { isWholeIllness } from './focus.js'
import type { Lexicon, LexiconEntry } from './lexicon.js'
import type { SentenceMeaning } from './parsed-utterance.js'
import type { Sentence } from './sentences.js'
import type { SimilarityMatch } from './similarity.js'

/**
 * Thresholds at which the most similar finding is taken where none is named: a least score, and a least sum of the
 * score and twice its lead over the second-best value. Han characters carry more information than words.
 */
const thresholds = {
  zh: { score: 0.45, sum: 0.8 },
  en: { score: 0.15, sum: 0.85 },
} as const
/** Added to both thresholds where only one word is not generic: "Is it serious?" is similar to many things. */
const oneWordPenalty = 0.4
/** Added to them for a finding that only an examination shows: a patient is hardly ever asked for one in other words. */
const examPenalty = 0.3
/** Added to them for a finding whose Chinese questions say what the sentence does not, or name none of its parts of the body. */
const foreignPenalty = 0.2
/** Least score, and least lead over the named finding, at which another finding is taken instead. */
const override = { score: 0.3, lead: 0.05 } as const
/** Share of a Chinese sentence in words that nobody asks for the finding with; as much as it is more is added to them. */
const maxForeign = 0.4
/** Added to the score of a named finding, times the share of the sentence that its phrase covers. */
const coverageBonus = 0.15
/** A named finding is ignored if its score and its phrase's share of the sentence are both below these. */
const weak = { score: 0.45, share: 0.4 } as const
/** Least score of a complaint that a Chinese sentence mentions. */
export const minComplaintScore = 0.2
/** Least score at which the patient asks what was meant. */
const minNearScore = 0.35

/** A phrase match that names a finding. */
export type FindingMatch = PhraseMatch<Extract<LexiconEntry, { readonly kind: 'finding' }>>

/** Whether a match names a finding. */
export const isFindingMatch = (match: PhraseMatch<LexiconEntry>): match is FindingMatch =>
  match.value.kind === 'finding'

/** A sentence of an utterance, with the lexicon and the similarity it is matched by. */
export interface SentenceContext {
  readonly lexicon: Lexicon
  /** The whole utterance. */
  readonly read: NormalisedText
  readonly sentence: Sentence
  readonly similarity: SimilarityMatch
  /** Whether the sentence can ask for a value: a finding, not an aside, and of the person it is about. */
  fits(id: string): boolean
}

/** A sentence with the phrases found in it. */
export interface PhrasedSentence extends SentenceContext {
  /** All phrases in it. */
  readonly here: readonly PhraseMatch<LexiconEntry>[]
  /** Those that name a finding it can be about. */
  readonly found: readonly FindingMatch[]
  /** It is about the patient's relatives. */
  readonly relatives: boolean
  /** What a part of it asks as a question of its own. */
  readonly alone?: (text: string) => SentenceMeaning
}

const hanAny = /\p{Script=Han}/u
/** All that a Chinese question says beside words of asking, and no symptom: 您带了吗. */
const anyVerb = /^[带吃做看好去来买有]$/

/** The language whose thresholds apply to a text: `zh` where it has any Han character. */
export const languageByScript = (text: string): Language => (hanAny.test(text) ? 'zh' : 'en')

/** Drops matches across a comma that overlap a neighbouring match within one clause. */
export function dropCrossClauseMatches(
  { clauses }: NormalisedText,
  matches: readonly PhraseMatch<LexiconEntry>[],
): readonly PhraseMatch<LexiconEntry>[] {
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

/** Removes the matched phrases from a sentence that begins at `start`, to read the rest for attributes. */
export function removeMatches(
  text: string,
  start: number,
  matches: readonly PhraseMatch<unknown>[],
): string {
  let rest = ''
  let from = 0
  for (const match of matches) {
    rest += `${text.slice(from, match.start - start)} `
    from = Math.max(from, match.end - start)
  }
  return rest + text.slice(from)
}

/** Whether a Chinese sentence is like the questions for a finding in other words than theirs only. */
const isForeign = (finding: FindingDefinition | undefined, text: string): boolean =>
  lacksEssentials(finding, text) || isOfOtherRegion(finding, text)

/** The finding that a sentence without a known phrase is guessed to ask about. */
export interface FindingGuess {
  readonly id: string | undefined
  /** The sentence was similar enough to a finding to ask what was meant. */
  readonly near: boolean
}

/** How far a complaint may be below a detail of it. */
const maxWholeLag = 0.1

/** How far a finding of a broad topic may be below it, to be what the sentence asks rather. */
const maxTopicLag = 0.2

/** The value that a sentence is most similar to; of a broad topic, the finding that is about as similar. */
export function nearestFinding(
  { knowledge }: Lexicon,
  { value, score, scoreOf }: SimilarityMatch,
): string | undefined {
  const parts = knowledge.aside.get(value?.replace(/^aside /, '') ?? '')?.also ?? []
  const best = parts.reduce<string | undefined>(
    (one, other) => (one === undefined || scoreOf(other) > scoreOf(one) ? other : one),
    undefined,
  )
  return best !== undefined && score - scoreOf(best) <= maxTopicLag ? best : value
}

/**
 * Guesses the finding of a sentence without a known phrase, by similarity.
 * @param more added to the thresholds of score and lead
 */
export function guessFinding(
  { lexicon, sentence: { text }, similarity, fits }: SentenceContext,
  more = 0,
): FindingGuess {
  const value = nearestFinding(lexicon, similarity)
  const score = value === undefined ? 0 : similarity.scoreOf(value)
  if (value === undefined || !fits(value)) return { id: undefined, near: false }
  const next = similarity.bestOf((other) => !lexicon.isNear(value, other))
  const language = languageByScript(text)
  const single =
    language === 'en'
      ? wordStems(text).filter((word) => !isGeneric(word)).length < 2
      : anyVerb.test(text.replace(fillers, ''))
  const least = thresholds[language]
  const byExam = language === 'en' && lexicon.knowledge.finding.get(value)?.knownBy === 'exam'
  const foreign = language === 'zh' && isForeign(lexicon.knowledge.finding.get(value), text)
  const extra =
    more +
    (single ? oneWordPenalty : 0) +
    (byExam ? examPenalty : 0) +
    (foreign ? foreignPenalty : 0) +
    (language === 'zh' ? Math.max(0, foreignShare(lexicon.knowledge, value, text) - maxForeign) : 0)
  const means = score >= least.score + extra && score + 2 * (score - next) >= least.sum + extra
  // One word names the complaint, where it is about as near as a detail of it.
  const whole = single ? lexicon.knowledge.finding.get(value)?.parent?.finding : undefined
  const plain = whole !== undefined && similarity.scoreOf(whole) >= score - maxWholeLag
  return { id: means ? (plain ? whole : value) : undefined, near: score >= minNearScore }
}

/** An English sentence, the finding that it names and what it is most similar to. */
interface NamedFinding extends Pick<SentenceContext, 'lexicon' | 'similarity'> {
  readonly text: string
  readonly id: string
}

/** Whether an English sentence asks for the finding that it names, not for the detail that it is most similar to. */
function namesRather(
  { lexicon, similarity, text, id }: NamedFinding,
  found: readonly FindingMatch[],
): boolean {
  const value = similarity.value ?? ''
  const { parent, attribute } = lexicon.knowledge.finding.get(value) ?? {}
  if (parent === undefined) return false
  const above = lexicon.ancestors.get(value) ?? new Set<string>()
  if (above.has(id)) {
    if (isPlain(text)) return true
    // "When did the breathing trouble start?" asks how long it has been, not how it came on.
    if (attribute === 'onset') return asksSince.test(text)
    // "Do you get these headaches on the bus?" asks for no severity.
    return attribute === 'severity' && !findAttributes(text).includes('severity')
  }
  // "Did the wheezing start suddenly?" is like the onset of a headache in its question words only.
  const mentioned = found.some((one) => above.has(one.value.id))
  const near = similarity.scoreOf(parent.finding) >= similarity.score / 2
  // "With this headache, any pins and needles?" does not ask how bad it is.
  const asked = findAttributes(text).some((one) => one === attribute)
  return isComplaint(lexicon, id) && !mentioned && !(near && asked)
}

/** The finding that a Chinese sentence names rather than the most similar one, `value`; undefined if it may be that. */
function namedInChinese(
  {
    lexicon: { knowledge },
    similarity,
    text,
    id,
  }: Pick<SentenceContext, 'lexicon' | 'similarity'> & {
    readonly text: string
    readonly id: string
  },
  value: string,
): string | undefined {
  const { parent, attribute } = knowledge.finding.get(value) ?? {}
  if (isForeign(knowledge.finding.get(value), text)) return id
  if (parent === undefined) return undefined
  // A detail of a complaint that the sentence does not mention is like it in its question words only.
  if (similarity.scoreOf(parent.finding) < minComplaintScore) return id
  // 烧几天了 asks how long it has been, not how it came on.
  if (attribute === undefined || attribute === 'duration' || !asksHowLong.test(text))
    return undefined
  return isWholeIllness(knowledge, id) ? parent.finding : id
}

/** Whether a sentence names a finding only beside what it is about: by little of its words, and not twice. */
function isFaint(
  { text, similarity }: Pick<NamedFinding, 'text' | 'similarity'>,
  { value: { id }, start, end }: FindingMatch,
  found: readonly FindingMatch[],
): boolean {
  // "Never taken cocaine, or marijuana?"
  const twice = similarity.value === id && found.filter((one) => one.value.id === id).length > 1
  return !twice && similarity.scoreOf(id) < weak.score && end - start < weak.share * text.length
}

/** Chooses the finding of a sentence with known phrases: a named one, the most similar one, or none. */
export function chooseFinding(
  { lexicon, sentence, similarity, fits }: SentenceContext,
  found: readonly FindingMatch[],
): string | undefined {
  const { value, score } = similarity
  const { text } = sentence
  const { ancestors } = lexicon
  const adjustedScore = ({ value: { id }, start, end }: FindingMatch) =>
    similarity.scoreOf(id) +
    (coverageBonus * (end - start)) / text.length -
    (isWholeIllness(lexicon.knowledge, id) ? 1 : 0)
  // "When you cough, is there phlegm?" asks for the phlegm.
  const nearest = found.filter(
    ({ value: { id } }) => !found.some((other) => ancestors.get(other.value.id)?.has(id)),
  )
  const best = nearest.reduce((a, b) => (adjustedScore(b) > adjustedScore(a) ? b : a))
  const { id } = best.value
  if (isGeneric(removeMatches(text, sentence.start, found))) return id
  const language = languageByScript(text)
  if (isFaint({ text, similarity }, best, found)) return undefined
  if (value === undefined || value === id) return id
  if (score < override.score || score - similarity.scoreOf(id) < override.lead) return id
  // "Any breathlessness on the stairs?" names what the topic of the stairs is about, too.
  const topic = lexicon.knowledge.aside.get(value.replace(/^aside /, ''))
  if (!lexicon.knowledge.finding.has(value))
    return topic?.also?.includes(id) &&
      (language === 'en' || score - similarity.scoreOf(id) <= maxTopicLag)
      ? id
      : undefined
  if (languageByScript(text) === 'zh') {
    const rather = namedInChinese({ lexicon, similarity, text, id }, value)
    if (rather !== undefined) return rather
  }
  if (languageByScript(text) === 'en' && namesRather({ lexicon, similarity, text, id }, found))
    return id
  return fits(value) && !ancestors.get(id)?.has(value) ? value : id
}

/** Whether a finding is a symptom of its own, not a detail of one. */
const isComplaint = ({ knowledge }: Lexicon, id: string): boolean => {
  const { kind, attribute, type } = knowledge.finding.get(id) ?? {}
  return kind === 'symptom' && type === 'bool' && attribute === undefined
}

const asksSince =
  /\b(?:when did|how long|since when)\b(?!.*\b(?:sudden\w*|gradual\w*|slow\w*|quick\w*)\b)/

/** Asks how long something has been there and nothing else. */
const asksHowLong =
  /(?:几|多少)(?:天|个?小时|个?月|年|周|个?(?:礼拜|星期))了?$|多(?:久|长时间)了$|什么时候(?:就|开始)?[^，来去做]{1,5}的$/

/** Says when or with what something is so. */
const circumstance =
  /\b(?:when|if|while|after|before|during|at|with|on|in|by|from|make|makes|lying|walking|going|doing)\b/

/** Whether an English question is only whether something is there, and not how, when or with what it is: "more breathless". */
const isPlain = (text: string): boolean =>
  languageByScript(text) === 'en' &&
  isQuestionClause(text) &&
  !circumstance.test(text) &&
  findAttributes(text).length === 0
