/**
 * Natural-language understanding of a doctor's utterance: its dialogue act and the findings it asks about, by exact
 * phrases of the knowledge base first, then by similarity. Understands both languages at all times. Reads no case.
 * Long because each rule depends on what the rules before it left undecided.
 */
import type { FindingAttribute, Knowledge } from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import { memoizeText } from '../../../platform/memoize.js'
import { inTurn } from '../../../platform/slices.js'
import type { NormalisedText, PhraseMatch } from '../../../text/phrase-search.js'
import { findPhrases, normaliseText } from '../../../text/phrase-search.js'
import * as act from './acts.js'
import { isQuestionClause } from './acts.js'
import { findAsides, isAsideMatch } from './asides.js'
import { findAttributes, isGeneric, isPersonal, looseAttribute } from './attributes.js'
import { classifyAct, expectation } from './classify.js'
import { removeDisfluencies } from './disfluency.js'
import { matchFindingList } from './finding-list.js'
import type { FindingMatch, SentenceContext } from './finding-match.js'
import {
  chooseFinding,
  dropCrossClauseMatches,
  guessFinding,
  isFindingMatch,
  removeMatches,
} from './finding-match.js'
import { attributeTopic, findingTopic, isWholeIllness, type Topic } from './focus.js'
import { getLexicons, type Lexicon, type LexiconEntry, NotReady } from './lexicon.js'
import type { ParsedUtterance } from './parsed-utterance.js'
import { findRecap } from './recap.js'
import { joinTags, type Sentence, splitSentences } from './sentences.js'
import type { SimilarityMatch } from './similarity.js'

/** What one sentence asks. */
interface SentenceMeaning {
  readonly topics: readonly Topic[]
  readonly loose: readonly FindingAttribute[]
  /** What it asks that no finding answers. */
  readonly asides: readonly string[]
  /** A finding it was similar enough to, to ask what was meant. */
  readonly near?: string
}

/** Added to the thresholds of similarity where the sentence is likely to be about something else. */
const doubtPenalty = 0.3
/** Added to them where the sentence names something that no finding answers. */
const asidePenalty = 0.15
/** How far a topic's score in the whole utterance may be below the best score. */
const maxLag = 0.45
/** Least score of an aside, which no finding answers. */
const minAsideScore = 0.5
/** Characters of an utterance that are read; the rest is ignored. */
const maxLength = 2000
/** Characters of the longest text that similarity and spelling correction are used for. */
const maxFuzzyLength = 160
/** Longer texts are interpreted anew each time, so that the cache holds no large strings. */
const cacheBounds = { most: 4096, longest: 512 } as const

/** Whether a finding can be asked for: one about relatives in a sentence about relatives, any in another. */
const fitsPerson = (lexicon: Lexicon, relatives: boolean) => {
  return (id: string): boolean => !relatives || lexicon.familyFindings.has(id)
}

const nothing: SentenceMeaning = { topics: [], loose: [], asides: [] }

/** A similarity match computed on first use: building its index takes a while. */
function lazyMatch(alike: () => SimilarityMatch): SimilarityMatch {
  let made: SimilarityMatch | undefined
  const similarity = (): SimilarityMatch => {
    made ??= alike()
    return made
  }
  return {
    get value() {
      return similarity().value
    },
    get score() {
      return similarity().score
    },
    get next() {
      return similarity().next
    },
    scoreOf: (id) => similarity().scoreOf(id),
  }
}

const noMatch: SimilarityMatch = { value: undefined, score: 0, next: 0, scoreOf: () => 0 }

/**
 * Which sentences are about relatives. "And any diabetes?" after a question about the family is about the family, too.
 */
function aboutRelatives(sentences: readonly Sentence[]): readonly boolean[] {
  let before = false
  return sentences.map(({ text }) => {
    const named = act.family.test(text) && !act.witness.test(text)
    before = named || (before && act.continues.test(text))
    return before
  })
}

const example = /\b(?:such as|for example|for instance|like when)\b|比如|例如|譬如/

/** The attributes a sentence asks for without naming a complaint, as a whole or clause by clause. */
function sentenceAttributes(
  { text, clauses }: NormalisedText,
  sentence: Sentence,
): readonly FindingAttribute[] {
  const whole = looseAttribute(sentence.text)
  if (whole !== undefined) return [whole]
  const parts = clauses
    .filter(({ start, end }) => start >= sentence.start && end <= sentence.end)
    .map(({ start, end }) => looseAttribute(text.slice(start, end)))
  const loose = parts.flatMap((attribute) => attribute ?? [])
  return loose.length === parts.length ? loose : []
}

/** A sentence with the phrases found in it. */
interface PhrasedSentence extends SentenceContext {
  /** All phrases in it. */
  readonly here: readonly PhraseMatch<LexiconEntry>[]
  /** Those that name a finding it can be about. */
  readonly found: readonly FindingMatch[]
  /** It is about the patient's relatives. */
  readonly relatives: boolean
}

/** Selects the phrase matches of one sentence. */
function matchPhrases(
  lexicon: Lexicon,
  read: NormalisedText,
  sentence: Sentence,
  all: readonly PhraseMatch<LexiconEntry>[],
  relatives: boolean,
): PhrasedSentence {
  const { start, end, text } = sentence
  const here = all.filter((match) => match.start >= start && match.start < end)
  const fitsSentence = fitsPerson(lexicon, relatives)
  const fits = (id: string): boolean => lexicon.knowledge.finding.has(id) && fitsSentence(id)
  const found = here
    .filter(isFindingMatch)
    .filter(
      ({ value, start: from, end: to }) =>
        fits(value.id) || act.family.test(read.text.slice(from, to)),
    )
    // What follows "such as" only explains what came before.
    .filter(({ start: from }, m) => m === 0 || !example.test(text.slice(0, from - start)))
  const similarity =
    text.length > maxFuzzyLength ? noMatch : lazyMatch(() => lexicon.findSimilar(text))
  return { lexicon, read, sentence, similarity, fits, here, found, relatives }
}

/** The part of a sentence that excludes something: "apart from the cough, …". */
function excludedPart(text: string): { readonly from: number; readonly to: number } | undefined {
  const word = act.exclusion.exec(text)
  if (!word) return undefined
  const before = /之外|以外/.test(word[0])
  if (before) return { from: 0, to: word.index }
  const length = act.excludedEnd.exec(text.slice(word.index + word[0].length))?.index
  return {
    from: word.index,
    to: length === undefined ? text.length : word.index + word[0].length + length,
  }
}

/** The topic that a question about relatives is about, where none of its words is known. */
const relativesAside = 'family-health'

/** Interprets one sentence: its findings, then what no finding answers. */
function interpretSentence(given: PhrasedSentence): SentenceMeaning {
  const { lexicon, sentence, here, relatives } = given
  const { text, inquires, fragment } = sentence
  const meaning = interpretFindings(given)
  const known = lexicon.knowledge.aside
  const silent = !inquires && !(fragment && here.some(isAsideMatch))
  const says = here.some(isAsideMatch)
  if (act.asksDiagnosis(text)) return meaning
  if (silent || (!says && act.offer.test(text) && !act.isRequest(text))) return meaning
  const named = meaning.topics.length > 0
  if (!named && !says && act.openQuestion.test(text)) return meaning
  const asides = findAsides(given, here, named, (id) => {
    const aside = known.get(id)
    return aside?.denied !== undefined && !aside.also
  })
  if (asides.length > 0) return named ? { ...meaning, asides } : { ...nothing, asides }
  const family = !named && relatives && inquires && known.has(relativesAside)
  return family ? { ...nothing, asides: [relativesAside] } : meaning
}

/** Interprets one sentence: by an exact question, the phrases it names, or similarity. */
function interpretFindings(given: PhrasedSentence): SentenceMeaning {
  const { lexicon, sentence, similarity, found } = given
  const { start, end, text, inquires, fragment } = sentence
  const whole = found.find((match) => match.start === start && match.end >= end)
  const exact = lexicon.exactQuestion(text)
  const offers = act.offer.test(text) && !act.isRequest(text)
  if (!exact && !whole && ((!inquires && !fragment) || offers)) return nothing
  if (exact !== undefined)
    return { ...nothing, topics: [findingTopic(lexicon.knowledge, exact, [], true, noMatch)] }
  const details = found.filter(({ value }) => isWholeIllness(lexicon.knowledge, value.id))
  const wanted = [
    ...details.flatMap(({ value }) => lexicon.knowledge.finding.get(value.id)?.attribute ?? []),
    ...findAttributes(removeMatches(text, start, found)),
  ]
  // "How long have you had the cough?" asks for its duration, whatever its form.
  const presence = isQuestionClause(text) && details.length === 0
  const topics = (ids: readonly string[]): SentenceMeaning => ({
    ...nothing,
    topics: ids.map((id) => {
      const jargon = found.some(({ value }) => value.id === id && value.jargon)
      const known = found.some(({ value }) => value.id === id && !value.jargon)
      const topic = findingTopic(lexicon.knowledge, id, wanted, presence, similarity)
      return jargon && !known ? { ...topic, jargon } : topic
    }),
  })
  return whole ? topics([whole.value.id]) : interpretNamed(given, details, topics)
}

/** Interprets a sentence by the findings it names, where it is not about something else. */
function interpretNamed(
  given: PhrasedSentence,
  details: readonly FindingMatch[],
  topics: (ids: readonly string[]) => SentenceMeaning,
): SentenceMeaning {
  const { sentence, found } = given
  const { start, text } = sentence
  const open = act.openQuestion.test(text) && !act.wholeIllness.test(text)
  const excludes = excludedPart(text)
  const about = found.filter(
    (match) =>
      !details.includes(match) &&
      !(excludes && match.start - start >= excludes.from && match.end - start <= excludes.to),
  )
  // "What has been going on?" is about the whole illness too, "anything apart from the fever?" about the rest.
  if (open && about.length === 0) return nothing
  const list = matchFindingList(given, about)
  if (list.length > 0) return topics(list)
  const named =
    found.length > 0 ? chooseFinding(given, about.length > 0 ? about : found) : undefined
  return named === undefined ? interpretUnnamed(given, topics) : topics([named])
}

/** Interprets a sentence that names no finding: an attribute of the focus, or the most similar finding. */
function interpretUnnamed(
  given: PhrasedSentence,
  topics: (ids: readonly string[]) => SentenceMeaning,
): SentenceMeaning {
  const { read, sentence, here } = given
  const { text, inquires } = sentence
  const known = given.lexicon.knowledge.aside
  const other =
    here.some((match) => !isFindingMatch(match) && !isAsideMatch(match)) ||
    act.diagnosisRequest.test(text)
  if (other && !act.history.test(text)) return nothing
  const loose = sentenceAttributes(read, sentence)
  if (loose.length > 0) return { ...nothing, loose }
  if (isGeneric(text) || isPersonal(text)) return nothing
  const unsure = !inquires || (other && !act.family.test(text))
  // A named topic speaks against every finding but those that belong to it.
  const asides = here.filter(isAsideMatch).map(({ value }) => known.get(value.id))
  const belongs = (id: string | undefined) =>
    asides.some((aside) => id !== undefined && aside?.also?.includes(id))
  const doubt = asides.length > 0 && !belongs(given.similarity.value) ? asidePenalty : 0
  const { id, near } = guessFinding(given, unsure ? doubtPenalty : doubt)
  if (id !== undefined) {
    const meaning = topics([id])
    return { ...meaning, topics: meaning.topics.map((topic) => ({ ...topic, guessed: true })) }
  }
  const nearest = near ? given.similarity.value : undefined
  return nearest === undefined ? nothing : { ...nothing, near: nearest }
}

const sameTopic = (a: Topic, b: Topic): boolean => a.finding === b.finding

/** Resolves "Any headache? Where exactly?": attributes of what the same utterance asked about before. */
function resolveAttributes(
  { knowledge }: Lexicon,
  loose: readonly FindingAttribute[],
  before: readonly SentenceMeaning[],
): readonly Topic[] {
  if (loose.length === 0) return []
  const last = before.findLast(({ topics }) => topics.length > 0)?.topics.at(-1)
  const complaint = last?.of ?? last?.finding
  if (complaint === undefined || knowledge.finding.get(complaint)?.kind !== 'symptom') return []
  return loose.map((attribute) => attributeTopic(knowledge, complaint, attribute))
}

/** Of several topics, keeps those whose score in the whole utterance is not far below the best. */
function dropUnlikely(
  lexicon: Lexicon,
  { text }: NormalisedText,
  matches: readonly PhraseMatch<LexiconEntry>[],
  topics: readonly Topic[],
): readonly Topic[] {
  if (topics.length < 2 || text.length > maxFuzzyLength) return topics
  if (isGeneric(removeMatches(text, 0, matches))) return topics
  const { score, scoreOf } = lexicon.findSimilar(text)
  const kept = topics.filter(({ finding }) => score - scoreOf(finding) < maxLag)
  return kept.length > 0 ? kept : topics
}

const isVague = ({ kind }: ParsedUtterance): boolean =>
  kind === 'unclear' || kind === 'ambiguous' || kind === 'unmodelled'

/** Whether a text is surely about something that no finding answers, so that it needs no spelling correction. */
function isAside(lexicon: Lexicon, text: string): boolean {
  const { value, score } = lexicon.findSimilar(normaliseText(text).text)
  return value !== undefined && !lexicon.knowledge.finding.has(value) && score >= minAsideScore
}

/** Whether a text has the words of an aside, not only some that are similar. */
function namesAside(lexicon: Lexicon, text: string): boolean {
  const read = normaliseText(text)
  return findPhrases(lexicon.tree(read.text), read).some(isAsideMatch)
}

/** Interprets an utterance as written; if that fails, with its spelling and then its homophones corrected. */
function interpret(lexicon: Lexicon, utterance: string): ParsedUtterance {
  const whole = utterance.slice(0, maxLength)
  // An author's own question may repeat a word.
  const known = lexicon.exactQuestion(normaliseText(whole).text) !== undefined
  const text = known ? whole : removeDisfluencies(whole)
  if (!/[\p{L}\p{N}]/u.test(text) && /[\p{L}\p{N}]/u.test(utterance))
    return {
      questions: 0,
      topics: [],
      loose: [],
      asides: [],
      kind: 'courtesy',
      speech: 'backchannel',
    }
  const written = interpretText(lexicon, text)
  const aside = written.kind === 'aside' && !namesAside(lexicon, text)
  if (!(aside || isVague(written)) || text.length > maxFuzzyLength) return written
  if (!aside && isAside(lexicon, text)) return written
  for (const correct of [lexicon.correctSpelling, lexicon.correctHomophones]) {
    const corrected = correct(text)
    const understood = corrected === text ? written : interpretText(lexicon, corrected)
    if (aside ? understood.kind === 'finding' : !isVague(understood)) return understood
  }
  return written
}

/** What the sentences of a text ask, and the phrases in it. */
function readSentences(lexicon: Lexicon, read: NormalisedText, sentences: readonly Sentence[]) {
  const matches = dropCrossClauseMatches(read, findPhrases(lexicon.tree(read.text), read))
  const inquiring = sentences.filter(({ inquires }) => inquires)
  const heard = inquiring.length > 0 ? inquiring : sentences
  const relatives = aboutRelatives(heard)
  const meanings = heard.map((s, h) =>
    interpretSentence(matchPhrases(lexicon, read, s, matches, relatives[h] === true)),
  )
  return { matches, meanings }
}

/** The topics of several sentences, without those that the whole text makes unlikely. */
function collectTopics(
  lexicon: Lexicon,
  read: NormalisedText,
  matches: readonly PhraseMatch<LexiconEntry>[],
  meanings: readonly SentenceMeaning[],
): readonly Topic[] {
  const named = meanings
    .flatMap((one, h) => [
      ...one.topics,
      ...resolveAttributes(lexicon, one.loose, meanings.slice(0, h)),
    ])
    .filter((topic, i, all) => all.findIndex((other) => sameTopic(other, topic)) === i)
  return dropUnlikely(lexicon, read, matches, named)
}

/** Interprets a text as it is written. */
function interpretText(lexicon: Lexicon, text: string): ParsedUtterance {
  const read = normaliseText(text)
  const asked = lexicon.exactQuestion(read.text)
  const empty = { topics: [], loose: [], asides: [] } as const
  if (asked !== undefined) {
    const topic = findingTopic(lexicon.knowledge, asked, [], true, noMatch)
    return { ...empty, questions: 1, topics: [topic], kind: 'finding' }
  }
  const sentences = joinTags(splitSentences(read))
  const questions = sentences.reduce((sum, s) => sum + s.questions, 0)
  const none = { ...empty, questions }
  if (act.injection.test(read.text)) return { ...none, kind: 'injection' }
  const { matches, meanings } = readSentences(lexicon, read, sentences)
  const topics = collectTopics(lexicon, read, matches, meanings)
  const asides = [...new Set(meanings.flatMap((one) => one.asides))]
  if (topics.length > 0) {
    const recap = findRecap(read, matches.filter(isFindingMatch))
    return { ...none, topics, asides, ...(recap ? { recap } : {}), kind: 'finding' }
  }
  if (asides.length > 0) return { ...none, asides, kind: 'aside' }
  const found = classifyAct(read.text, sentences, matches)
  const loose = [...new Set(meanings.flatMap((one) => one.loose))]
  const vague = ['unclear', 'courtesy', 'unmodelled'].includes(found.kind)
  if (vague && loose.length > 0) return { ...none, loose, about: read.text, kind: 'attribute' }
  const near = meanings.find((one) => one.near !== undefined)?.near
  const expects = expectation(sentences)
  if (near !== undefined && (found.kind === 'unclear' || found.kind === 'unmodelled'))
    return { ...none, near, expects, kind: 'ambiguous' }
  return { ...none, ...found, ...(found.kind === 'unmodelled' ? { expects } : {}) }
}

const interpreters = perKnowledge((knowledge) => {
  const { atOnce, whenReady } = getLexicons(knowledge)
  return {
    atOnce: memoizeText((utterance: string) => interpret(atOnce, utterance), cacheBounds),
    whenReady: memoizeText((utterance: string) => interpret(whenReady, utterance), cacheBounds),
  }
})

/** Interprets an utterance: a pure function of the knowledge base and the text, in bounded time. */
export const understand = (knowledge: Knowledge, utterance: string): ParsedUtterance =>
  interpreters(knowledge).atOnce(utterance)

/**
 * Interprets an utterance and gives what `use` makes of it, without holding up the event loop: a promise where a part of
 * the lexicon is needed for the first time, and is made in slices, or where there are many callers at once.
 */
export const understandInSlices = <T>(
  knowledge: Knowledge,
  utterance: string,
  use: (parsed: ParsedUtterance) => T,
): T | Promise<T> =>
  inTurn(() => {
    let parsed: ParsedUtterance
    try {
      parsed = interpreters(knowledge).whenReady(utterance)
    } catch (error) {
      if (!(error instanceof NotReady)) throw error
      return error.prepare().then(() => understandInSlices(knowledge, utterance, use))
    }
    return use(parsed)
  })
