/** Retrieval of the recorded passages that answer an utterance, by the words and the concepts they share. */
import { memoizeText } from '../../../platform/memoize.js'
import { type Concepts, questionConcepts } from './concepts.js'
import {
  conceptSet,
  type DialogueRecord,
  isOwnFrame,
  type Passage,
  splitSentences,
  type Weight,
  type WordSet,
  wordSet,
} from './record-index.js'

/** Added to the score, times the share of the question's words that the recorded answer has. */
const answerWeight = 0.35
/** Score of two questions with the same concepts, whatever their words. */
const sameConcepts = 0.85
/** Factor of the score of two questions about different things that share words. */
const otherConcepts = 0.35
/** Score of a sentence that holds everything asked about. */
const holdsAll = 0.65
/** Score of a passage of the profile whose topic is asked about. */
const sameTopic = 0.8
/** Similarity of a whole utterance at which it is the recorded question itself. */
const recorded = 0.9
/** Most passages of one reply. */
const most = 3
const tie = 1e-9

/** The passages that answer an utterance. */
export interface PassageMatch {
  /** Similarity of the best of them, from 0 to 1. */
  readonly score: number
  /** What its last question is about. */
  readonly about: Concepts
  /** One list for each thing asked: the passages that answer it equally well. */
  readonly parts: readonly (readonly Passage[])[]
}

/** One thing asked. */
interface Query {
  readonly words: WordSet
  readonly concepts: WordSet
  readonly about: Concepts
}

/** Cosine of two sets of words, weighted by idf. */
function cosine(a: WordSet, b: WordSet, weight: Weight): number {
  let dot = 0
  let squareA = 0
  let squareB = 0
  for (const word of a) {
    const square = weight(word) ** 2
    squareA += square
    if (b.has(word)) dot += square
  }
  if (dot === 0) return 0
  for (const word of b) squareB += weight(word) ** 2
  return dot / Math.sqrt(squareA * squareB)
}

/** Share of the words of `a` that `b` has too, weighted by idf. */
function coverage(a: WordSet, b: WordSet, weight: Weight): number {
  let all = 0
  let shared = 0
  for (const word of a) {
    all += weight(word)
    if (b.has(word)) shared += weight(word)
  }
  return all > 0 ? shared / all : 0
}

/** Share of the concepts that two questions have in common, of all they have. */
function jaccard(a: WordSet, b: WordSet): number {
  let shared = 0
  for (const concept of a) if (b.has(concept)) shared++
  return shared === 0 ? 0 : shared / (a.size + b.size - shared)
}

/** Whether a question asks for no other symptom, part of a history or aspect of a symptom than a recorded one. */
function sameKind(query: Query, concepts: WordSet): boolean {
  const { aspects, frames, symptoms } = query.about
  if (!symptoms.every((symptom) => concepts.has(symptom))) return false
  const others = [...concepts]
  const own = frames.filter(isOwnFrame)
  if (own.length > 0 ? !own.some((one) => concepts.has(one)) : others.some(isOwnFrame)) return false
  return aspects.length === 0 || aspects.some((aspect) => concepts.has(aspect))
}

/** Similarity of a question to the question of a recorded exchange. */
function exchangeScore(query: Query, { asked, words }: Passage, weight: Weight): number {
  let best = 0
  for (const one of asked) {
    const alike = cosine(query.words, one.words, weight)
    const same = jaccard(query.concepts, one.concepts)
    const comparable = query.concepts.size > 0 && one.concepts.size > 0
    if (comparable && (same === 0 || !sameKind(query, one.concepts)))
      best = Math.max(best, alike > recorded ? alike : otherConcepts * alike)
    else best = Math.max(best, alike, sameConcepts * same)
  }
  return best === 0 ? 0 : best + answerWeight * best * coverage(query.words, words, weight)
}

/** Score of what a passage says, whatever was asked: all that the question is about has to be in it. */
function statementScore({ about, words }: Query, passage: Passage, weight: Weight): number {
  const frames = about.frames.filter(isOwnFrame)
  const wanted = [...about.symptoms, ...frames, ...about.aspects]
  const { said, finding } = passage
  if (wanted.length === 0 || !wanted.every((concept) => said.has(concept))) return 0
  if (frames.length === 0 && [...said].some(isOwnFrame)) return 0
  // "Is it bad?" is about the illness, not about whatever else is bad.
  if (about.symptoms.length + frames.length === 0 && finding && finding.topic !== 'course') return 0
  return holdsAll + answerWeight * coverage(words, passage.words, weight)
}

/** Score of a passage of a profile: 0 where its topic is not asked about. */
function topicScore({ about, words }: Query, { finding, words: said }: Passage, weight: Weight) {
  if (finding?.topic === undefined || !about.frames.includes(`@${finding.topic}`)) return 0
  return sameTopic + answerWeight * coverage(words, said, weight)
}

const passageScore = (query: Query, passage: Passage, weight: Weight): number =>
  Math.min(
    1,
    Math.max(
      exchangeScore(query, passage, weight),
      statementScore(query, passage, weight),
      topicScore(query, passage, weight),
    ),
  )

interface Best {
  readonly score: number
  readonly passages: readonly Passage[]
}

/** The best passages of a list of scored ones; of equals the one with the higher `exact` first. */
function bestOf(scored: readonly { passage: Passage; score: number; exact?: number }[]): Best {
  const score = scored.reduce((best, one) => Math.max(best, one.score), 0)
  const passages = scored
    .filter((one) => one.score > score - tie)
    .sort((a, b) => (b.exact ?? 0) - (a.exact ?? 0))
    .map(({ passage }) => passage)
  return { score, passages }
}

/** "When it hurts, …": says when, and is not what is asked about. */
const whenClause =
  /^.{0,12}?(?:的时候|时候|时(?=[，,]))(?=.{3})|^(?:and |so )?(?:when|while) [^,?]{3,40},/

function toQuery(sentence: string): Query {
  const about = questionConcepts(sentence.replace(whenClause, ''))
  return { words: wordSet(sentence), concepts: conceptSet(about), about }
}

/** One query for each symptom of a question that names several. */
const perSymptom = (query: Query): readonly Query[] =>
  query.about.symptoms.map((symptom) => {
    const about = { ...query.about, symptoms: [symptom] }
    return { words: new Set<string>(), concepts: conceptSet(about), about }
  })

/** An utterance as read: its words, and its questions, or itself where it has no question mark. */
const readUtterance = memoizeText(
  (utterance): Pick<PassageMatch, 'about'> & { words: WordSet; queries: readonly Query[] } => {
    const questions = splitSentences(utterance).filter((sentence) => /[?？]/.test(sentence))
    const queries = (questions.length > 0 ? questions : [utterance]).map(toQuery)
    const last = questions.at(-1) ?? utterance
    const about = questionConcepts(last.replace(whenClause, ''))
    return { words: wordSet(utterance), queries, about }
  },
  { most: 2000, longest: 500 },
)

/** Finds the passages that answer each question of an utterance with at least the score `least`. */
export function findPassages(
  utterance: string,
  { passages, weight }: DialogueRecord,
  least: number,
): PassageMatch {
  const { words, queries, about } = readUtterance(utterance)
  const whole = bestOf(
    passages.map((passage) => {
      const exact = cosine(words, passage.question, weight)
      return { passage, score: exact, exact: coverage(words, passage.words, weight) }
    }),
  )
  if (whole.score >= recorded) return { score: whole.score, about, parts: [whole.passages] }
  const find = (query: Query): Best =>
    bestOf(passages.map((passage) => ({ passage, score: passageScore(query, passage, weight) })))
  const found = queries.flatMap((query) => {
    const best = find(query)
    if (best.score >= least || query.about.symptoms.length < 2) return [best]
    // A bare "no" was said to another list: only passages that name the symptom answer for it.
    return perSymptom(query).map((one) =>
      bestOf(passages.map((passage) => ({ passage, score: statementScore(one, passage, weight) }))),
    )
  })
  const good = found.filter(({ score }) => score >= least)
  const parts = good.filter(
    ({ passages: [first] }, at) => good.findIndex((other) => other.passages[0] === first) === at,
  )
  return {
    score: good.reduce((best, { score }) => Math.max(best, score), 0),
    about,
    parts: parts.slice(0, most).map((part) => part.passages),
  }
}
