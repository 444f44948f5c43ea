/** Topics of a sentence that no finding answers: by the phrases that name them, else by similarity. */
import type { Aside } from '../../../knowledge/knowledge.js'
import type { PhraseMatch } from '../../../text/phrase-search.js'
import { family } from './acts.js'
import { isGeneric } from './attributes.js'
import { evidence } from './evidence/evidence.js'
import {
  type FindingMatch,
  languageByScript,
  type PhrasedSentence,
  removeMatches,
  type SentenceContext,
} from './finding-match.js'
import { isWholeIllness } from './focus.js'
import type { LexiconEntry } from './lexicon.js'

/** Prefix of an aside among the values of similarity. */
const prefix = 'aside '
/** The value of similarity that stands for an aside. */
export const asideValue = (id: string): string => prefix + id
/** Least score, and least sum of the score and twice its lead, at which the most similar aside is taken. */
const thresholds = {
  zh: { score: 0.42, sum: 0.62 },
  en: { score: 0.3, sum: 0.6 },
} as const

/** Least evidence for an aside, where a phrase names it and where the sentence is like it. */
const leastEvidence = { named: 0.05, like: 0.15 } as const

/** Share of a clause in phrases of an aside from which it is about that. */
const mostlyNamed = { en: 0.25, zh: 0.18 } as const

/** A phrase match that names an aside. */
export type AsideMatch = PhraseMatch<Extract<LexiconEntry, { readonly kind: 'aside' }>>

/** Whether a match names an aside. */
export const isAsideMatch = (match: PhraseMatch<LexiconEntry>): match is AsideMatch =>
  match.value.kind === 'aside'

/** The topic of the patient's own illnesses, for what is like a question about those of relatives. */
const pastHealth = 'past-health'

/** The topic itself, unless it is about relatives, whom a Chinese sentence does not name: 以前有胆结石吗. */
const ownTopic = (id: string, text: string): string =>
  id.startsWith('family-') && languageByScript(text) === 'zh' && !family.test(text)
    ? pastHealth
    : id

/** The aside a sentence without a named topic is most similar to; undefined where none is similar enough. */
export function guessAside({ sentence, similarity }: SentenceContext): string | undefined {
  const { value, score, next } = similarity
  if (!value?.startsWith(prefix)) return undefined
  // "Who is?" is like a question in its small words only.
  if (languageByScript(sentence.text) === 'en' && isGeneric(sentence.text)) return undefined
  const least = thresholds[languageByScript(sentence.text)]
  const means = score >= least.score && score + 2 * (score - next) >= least.sum
  return means ? ownTopic(value.slice(prefix.length), sentence.text) : undefined
}

/** Words of time that may stand beside any question. */
const timeWords = /以前|从前|过去|以往|曾经|原来|原先|多长|时间/g

/** Whether a phrase names no complaint: it only says when, how long or that it was before. */
const isFrame = (
  { lexicon, read }: SentenceContext,
  { value, start, end }: FindingMatch,
): boolean =>
  isWholeIllness(lexicon.knowledge, value.id) ||
  isGeneric(read.text.slice(start, end).replace(timeWords, ''))

/** Least score of a named symptom at which the sentence is a question about it as its author might have put it. */
const sureScore = 0.8
/** Least score at which it is one about a detail of the symptom. */
const detailScore = 0.7

/**
 * Whether the aside that a Chinese sentence names is what it asks, and the findings it names only say of what, when or
 * for example: "What did you do about the cough?", "How long have you had nosebleeds?".
 */
export function asideLeads(given: PhrasedSentence): boolean {
  const { lexicon, here, found, sentence, similarity } = given
  const { aside, finding } = lexicon.knowledge
  const { text } = sentence
  if (languageByScript(text) === 'en' || lexicon.exactQuestion(text) !== undefined) return false
  const named = here.filter(isAsideMatch)
  if (named.length === 0 || found.length === 0) return false
  if (found.every((match) => isFrame(given, match))) return true
  const spoken = named.filter(
    (one) => !found.some((other) => one.start < other.end && other.start < one.end),
  )
  const { value, score } = similarity
  const parents = lexicon.ancestors.get(value ?? '')
  if (score >= detailScore && found.some((one) => parents?.has(one.value.id))) return false
  const ofSymptom = found.every(({ value: { id } }) => {
    const { kind, attribute } = finding.get(id) ?? {}
    return kind === 'symptom' && attribute === undefined && similarity.scoreOf(id) < sureScore
  })
  return ofSymptom && spoken.some(({ value }) => aside.get(value.id)?.ofComplaint)
}

/** Whether an aside in English asks for more of a finding that the sentence names: "How many cigarettes a day?". */
function asksMore(
  { lexicon, sentence }: SentenceContext,
  here: readonly PhraseMatch<LexiconEntry>[],
  id: string,
): boolean {
  const { detail, also } = lexicon.knowledge.aside.get(id) ?? {}
  if (!detail || !also || languageByScript(sentence.text) !== 'en') return false
  return here.some(({ value }) => value.kind === 'finding' && also.includes(value.id))
}

/** The topic of how old the patient is. */
const ageAside = 'age-birthday'

/** Of the asides of a Chinese sentence, those that an age is not only the time of: 多大年龄结婚的. */
function withoutAge(
  { read, sentence }: SentenceContext,
  here: readonly PhraseMatch<LexiconEntry>[],
  ids: readonly string[],
): readonly string[] {
  if (ids.length < 2 || !ids.includes(ageAside) || languageByScript(sentence.text) === 'en')
    return ids
  const named = here.filter(isAsideMatch)
  const age = named.find(({ value }) => value.id === ageAside)
  const clause = read.clauses.find((one) => age && one.start <= age.start && one.end >= age.end)
  const beside = named.some(
    (one) =>
      one.value.id !== ageAside && clause && one.start >= clause.start && one.end <= clause.end,
  )
  return beside ? ids.filter((id) => id !== ageAside) : ids
}

/** A topic of a part of the body or a function in general, or of illnesses of old in general. */
const inGeneral = /-general$|^past-health$/
/** Joins two things that are asked for alike. */
const joins = /[和跟与及]|还有|或/

/** Of the asides of a Chinese sentence, without those that only say where the other of their clause is: 眼睛做过手术吗. */
function withoutFrame(
  { read, sentence }: SentenceContext,
  here: readonly PhraseMatch<LexiconEntry>[],
  ids: readonly string[],
): readonly string[] {
  if (languageByScript(sentence.text) === 'en' || ids.every((id) => inGeneral.test(id))) return ids
  const named = here.filter(isAsideMatch)
  const clauseOf = ({ start, end }: AsideMatch) =>
    read.clauses.find((one) => one.start <= start && one.end >= end)
  return ids.filter((id) => {
    const frame = named.find(({ value }) => value.id === id)
    const clause = frame && clauseOf(frame)
    if (!inGeneral.test(id) || !clause) return true
    if (joins.test(read.text.slice(clause.start, clause.end))) return true
    return !named.some((one) => !inGeneral.test(one.value.id) && clauseOf(one) === clause)
  })
}

/** The topic of what the patient is called, and words that ask for the name of something else. */
const nameAside = 'name'
const nameOfMedicine =
  /药(?!师)|什么病|(?:医院|大夫|医生)叫|\bnames? of (?!(?:the )?(?:patient|child|baby|girl|boy)\b)|\bthe names\b|\b(?:medic\w+|tablets?|pills?|inhalers?|drugs?)\b/

/** How much of a sentence speaks for an aside, beside other values that it names; all of it for one that is known by phrases alone. */
function asideEvidence(
  given: SentenceContext,
  value: string,
  named: readonly string[] = [],
): number {
  const { also = [], text } = given.lexicon.knowledge.aside.get(value.slice(prefix.length)) ?? {}
  if (text?.[languageByScript(given.sentence.text)].length === 0) return 1
  return evidence(given, value, named, also)
}

/** Whether the clauses that name an aside by a phrase say enough of it: "is it single again?" is not about being married. */
function isNamedWell(
  given: SentenceContext,
  here: readonly PhraseMatch<LexiconEntry>[],
  id: string,
): boolean {
  const { read, sentence, lexicon } = given
  // A symptom beside it is no rival: "What caused the dizziness?"
  const named = here.flatMap(({ value }) => {
    if (value.kind === 'finding') return [value.id]
    return value.kind === 'aside' && value.id !== id ? [asideValue(value.id)] : []
  })
  const own = here.filter((match) => isAsideMatch(match) && match.value.id === id)
  return own.some(({ start: at }) => {
    const clause = read.clauses.find(({ start, end }) => start <= at && end > at) ?? sentence
    const from = Math.max(clause.start, sentence.start)
    const to = Math.min(clause.end, sentence.end)
    const text = read.text.slice(from, to)
    const inside = own.filter(({ start, end }) => start >= from && end <= to)
    const covered = inside.reduce((sum, { start, end }) => sum + end - start, 0)
    if (covered >= mostlyNamed[languageByScript(text)] * text.length) return true
    if (isGeneric(removeMatches(text, from, inside))) return true
    const similarity = lexicon.findSimilar(text)
    return asideEvidence({ ...given, similarity }, asideValue(id), named) >= leastEvidence.named
  })
}

/** Asks for the name of what the sentence before spoke of: 什么药？叫什么名字？ */
const bareName = /^那?叫(?:什么|啥)(?:名字|名儿?)?[呢啊呀]?$/

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
  const { text } = given.sentence
  const medicine =
    nameOfMedicine.test(text) || (bareName.test(text) && nameOfMedicine.test(given.read.text))
  const ids = here
    .filter(isAsideMatch)
    .map(({ value }) => value.id)
    .filter((id) => !(medicine && id === nameAside))
  if (named) return [...new Set(ids.filter((id) => isDenied(id) || asksMore(given, here, id)))]
  if (ids.length > 0) {
    const meant = withoutFrame(given, here, withoutAge(given, here, [...new Set(ids)]))
    return meant.filter((id) => isNamedWell(given, here, id))
  }
  const guessed = guessAside(given)
  if (guessed === undefined || (medicine && guessed === nameAside)) return []
  // Courtesies are known by their words: a question that is merely similar to one is none.
  const { act } = given.lexicon.knowledge.aside.get(guessed) ?? {}
  const evident = asideEvidence(given, given.similarity.value ?? '') >= leastEvidence.like
  return act === undefined && evident ? [guessed] : []
}

/** What is asked of the patient, and the same of relatives. */
const ofRelatives: ReadonlyMap<string, string> = new Map([
  ['cancer-history', 'family-cancer'],
  ['past-health', 'family-health'],
  ['cause', 'family-health'],
  ['began', 'family-health'],
])

/** The topic of what nobody in the family has. */
const familyElse = 'family-illness'

/**
 * Asides of a sentence about relatives: an illness is theirs, and how they are is asked for only where nothing else is.
 * @param asides those of the knowledge base
 */
export function asidesOfRelatives(
  ids: readonly string[],
  asides: ReadonlyMap<string, Aside>,
): readonly string[] {
  const theirs = ids.map((id) => {
    const own = !id.startsWith('family') && asides.get(id)?.denied !== undefined
    const other =
      ofRelatives.get(id) ?? (/^(?!family).*-history$/.test(id) ? 'family-health' : undefined)
    const named = other ?? (own ? familyElse : id)
    return asides.has(named) ? named : id
  })
  const illness = theirs.filter((id) => id !== 'parents-siblings')
  const broad = illness.filter((id) => id !== 'family-health')
  const kept = broad.length > 0 ? broad : illness
  return [...new Set(kept.length > 0 ? kept : theirs)]
}
