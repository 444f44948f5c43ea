/**
 * What a doctor's utterance asks, found in the words of the knowledge base: exact phrases first, then the
 * likest question. Both languages are understood whichever is spoken. Nothing of any case is read here.
 */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import type { Attribute } from '../../../knowledge/schema.js'
import type { Match, Normal } from '../../../text/phrase-search.js'
import { findPhrases, normal } from '../../../text/phrase-search.js'
import * as act from './acts.js'
import { isQuestionClause } from './acts.js'
import { attributesIn, isGeneric, isPersonal, looseIn } from './attributes.js'
import type { Topic } from './focus.js'
import { isWhole, topicIn, topicOf } from './focus.js'
import type { Entry, Lexicon } from './lexicon.js'
import { lexiconOf } from './lexicon.js'
import type { Likest } from './likeness.js'
import { listed } from './listed.js'
import type { Hearing } from './meant.js'
import { apart, guessed, isFinding, settled, without } from './meant.js'
import type { Sentence } from './sentences.js'
import { sentencesOf } from './sentences.js'

/** What an utterance was taken for. */
export interface Understood {
  /** How many questions it held. */
  readonly questions: number
  /** What it asks about, in its order. */
  readonly topics: readonly Topic[]
  /** Attributes it asks for without naming a complaint. */
  readonly loose: readonly Attribute[]
  readonly kind:
    | 'finding'
    | 'attribute'
    | 'open'
    | 'diagnosis-request'
    | 'injection'
    | 'exam-request'
    | 'advice'
    | 'courtesy'
    | 'ambiguous'
    | 'unclear'
}

/** What one sentence asks. */
interface Heard {
  readonly topics: readonly Topic[]
  readonly loose: readonly Attribute[]
  /** Something was nearly understood. */
  readonly nearly: boolean
}

/** How much more likeness it takes where the sentence is likely to be about something else. */
const doubtful = 0.3
/** How far behind the likest finding of a whole utterance a part of it may be. */
const behind = 0.45
/** Least likeness to something that no finding answers. */
const sureAside = 0.5
/** Characters of an utterance that are read at all. */
const longest = 2000
const longestFuzzy = 160
const memoSize = 4096
/** Longer texts are read anew each time, so that the memo holds no large strings. */
const longestMemo = 512

/** Whether something is the patient's and not a relative's, in a sentence that may speak of relatives. */
const ofPatient = (lexicon: Lexicon, { text }: Sentence) => {
  const relatives = act.family.test(text) && !act.witness.test(text)
  return (id: string): boolean => !relatives || lexicon.shared.has(id)
}

const nothing: Heard = { topics: [], loose: [], nearly: false }

/** A likeness that is computed when it is first looked at: the index behind it takes a while to make. */
function whenNeeded(alike: () => Likest): Likest {
  let made: Likest | undefined
  const like = (): Likest => {
    made ??= alike()
    return made
  }
  return {
    get value() {
      return like().value
    },
    get score() {
      return like().score
    },
    get next() {
      return like().next
    },
    scoreOf: (id) => like().scoreOf(id),
  }
}

const unlike: Likest = { value: undefined, score: 0, next: 0, scoreOf: () => 0 }

const example = /\b(?:such as|for example|for instance|like when)\b|比如|例如|譬如/

/** The attributes a sentence asks for without naming a complaint, as a whole or clause by clause. */
function looseAll({ text, clauses }: Normal, sentence: Sentence): readonly Attribute[] {
  const whole = looseIn(sentence.text)
  if (whole !== undefined) return [whole]
  const parts = clauses
    .filter(({ start, end }) => start >= sentence.start && end <= sentence.end)
    .map(({ start, end }) => looseIn(text.slice(start, end)))
  const loose = parts.flatMap((attribute) => attribute ?? [])
  return loose.length === parts.length ? loose : []
}

/** What one sentence asks about. */
function askedIn(
  lexicon: Lexicon,
  read: Normal,
  sentence: Sentence,
  all: readonly Match<Entry>[],
): Heard {
  const { start, end, text, inquires, fragment } = sentence
  const here = all.filter((match) => match.start >= start && match.start < end)
  const own = ofPatient(lexicon, sentence)
  const fits = (id: string): boolean => lexicon.knowledge.finding.has(id) && own(id)
  const found = here
    .filter(isFinding)
    .filter(
      ({ value, start: from, end: to }) =>
        fits(value.id) || act.family.test(read.text.slice(from, to)),
    )
    // What follows "such as" only explains what came before.
    .filter(({ start: from }, m) => m === 0 || !example.test(text.slice(0, from - start)))
  const whole = found.find((match) => match.start === start && match.end >= end)
  const exact = lexicon.whole(text)
  const offers = act.offer.test(text) && !act.isRequest(text)
  if (!exact && !whole && ((!inquires && !fragment) || offers)) return nothing
  const details = found.filter(({ value }) => isWhole(lexicon.knowledge, value.id))
  const wanted = [
    ...details.flatMap(({ value }) => lexicon.knowledge.finding.get(value.id)?.attribute ?? []),
    ...attributesIn(without(text, start, found)),
  ]
  // "How long have you had the cough?" asks the duration of it, whatever the form.
  const presence = isQuestionClause(text) && details.length === 0
  const like = text.length > longestFuzzy ? unlike : whenNeeded(() => lexicon.alike(text))
  const topics = (ids: readonly string[]): Heard => ({
    ...nothing,
    topics: ids.map((id) => {
      const jargon = found.some(({ value }) => value.id === id && value.jargon)
      const known = found.some(({ value }) => value.id === id && !value.jargon)
      const topic = topicOf(lexicon.knowledge, id, wanted, presence, like)
      return jargon && !known ? { ...topic, jargon } : topic
    }),
  })
  if (exact !== undefined)
    return { ...nothing, topics: [topicOf(lexicon.knowledge, exact, [], true, unlike)] }
  if (whole) return topics([whole.value.id])
  const open = act.openQuestion.test(text)
  // "What has been going on?" speaks of the whole illness too.
  if (open && (found.length === details.length || act.exceptFor.test(text))) return nothing
  const hearing: Hearing = { lexicon, read, sentence, like, fits }
  const about = found.filter((match) => !details.includes(match))
  const list = listed(hearing, about)
  if (list.length > 0) return topics(list)
  const named = found.length > 0 ? settled(hearing, about.length > 0 ? about : found) : undefined
  if (named !== undefined) return topics([named])
  const other = here.some((match) => !isFinding(match)) || act.diagnosisRequest.test(text)
  if (other && !act.history.test(text)) return nothing
  const loose = looseAll(read, sentence)
  if (loose.length > 0) return { ...nothing, loose }
  if (isGeneric(text) || isPersonal(text)) return nothing
  const unsure = !inquires || (other && !act.family.test(text))
  const { id, near } = guessed(hearing, unsure ? doubtful : 0)
  return id === undefined ? { ...nothing, nearly: near } : topics([id])
}

function actOf(text: string, matches: readonly Match<Entry>[]): Understood['kind'] {
  const named = (kind: Entry['kind']) => matches.some(({ value }) => value.kind === kind)
  if ((named('disease') || act.diagnosisRequest.test(text)) && !act.history.test(text))
    return 'diagnosis-request'
  if (act.openQuestion.test(text)) return 'open'
  if (named('exam') || act.examTalk.test(text)) return 'exam-request'
  if (act.advice.test(text)) return 'advice'
  return act.courtesy.test(text) ? 'courtesy' : 'unclear'
}

const sameTopic = (a: Topic, b: Topic): boolean => a.finding === b.finding

/** "Any headache? Where exactly?": an attribute of what the same utterance asked about before. */
function followed(
  { knowledge }: Lexicon,
  loose: readonly Attribute[],
  before: readonly Heard[],
): readonly Topic[] {
  if (loose.length === 0) return []
  const last = before.findLast(({ topics }) => topics.length > 0)?.topics.at(-1)
  const complaint = last?.of ?? last?.finding
  if (complaint === undefined || knowledge.finding.get(complaint)?.kind !== 'symptom') return []
  return loose.map((attribute) => topicIn(knowledge, complaint, attribute))
}

/** Of several topics, those that the whole utterance is not much less like than its likest. */
function plausible(
  lexicon: Lexicon,
  { text }: Normal,
  matches: readonly Match<Entry>[],
  topics: readonly Topic[],
): readonly Topic[] {
  if (topics.length < 2 || text.length > longestFuzzy) return topics
  if (isGeneric(without(text, 0, matches))) return topics
  const { score, scoreOf } = lexicon.alike(text)
  const kept = topics.filter(({ finding }) => score - scoreOf(finding) < behind)
  return kept.length > 0 ? kept : topics
}

const isVague = ({ kind }: Understood): boolean => kind === 'unclear' || kind === 'ambiguous'

/** Whether a text is surely about something that no finding answers, so that there is nothing to mend. */
function isAside({ knowledge, alike }: Lexicon, text: string): boolean {
  const { value, score } = alike(normal(text).text)
  return value !== undefined && !knowledge.finding.has(value) && score >= sureAside
}

/** Reads an utterance as it is written; one that says nothing so, with its slips mended, by letter and by sound. */
function interpret(lexicon: Lexicon, utterance: string): Understood {
  const text = utterance.slice(0, longest)
  const written = reading(lexicon, text)
  if (!isVague(written) || text.length > longestFuzzy || isAside(lexicon, text)) return written
  for (const mend of [lexicon.spelt, lexicon.sounded]) {
    const mended = mend(text)
    const heard = mended === text ? written : reading(lexicon, mended)
    if (!isVague(heard)) return heard
  }
  return written
}

/** What a text asks as it is written. */
function reading(lexicon: Lexicon, text: string): Understood {
  const read = normal(text)
  const asked = lexicon.whole(read.text)
  if (asked !== undefined)
    return {
      questions: 1,
      topics: [topicOf(lexicon.knowledge, asked, [], true, unlike)],
      loose: [],
      kind: 'finding',
    }
  const sentences = sentencesOf(read)
  const questions = sentences.reduce((sum, s) => sum + s.questions, 0)
  if (act.injection.test(read.text)) return { questions, topics: [], loose: [], kind: 'injection' }
  const matches = apart(read, findPhrases(lexicon.tree(read.text), read))
  const inquiring = sentences.filter(({ inquires }) => inquires)
  const heard = (inquiring.length > 0 ? inquiring : sentences).map((s) =>
    askedIn(lexicon, read, s, matches),
  )
  const named = heard
    .flatMap((one, h) => [...one.topics, ...followed(lexicon, one.loose, heard.slice(0, h))])
    .filter((topic, i, all) => all.findIndex((other) => sameTopic(other, topic)) === i)
  const topics = plausible(lexicon, read, matches, named)
  if (topics.length > 0) return { questions, topics, loose: [], kind: 'finding' }
  const kind = actOf(read.text, matches)
  const loose = [...new Set(heard.flatMap((one) => one.loose))]
  const vague = kind === 'unclear' || kind === 'courtesy'
  if (vague && loose.length > 0) return { questions, topics, loose, kind: 'attribute' }
  const near = kind === 'unclear' && heard.some((one) => one.nearly)
  return { questions, topics, loose: [], kind: near ? 'ambiguous' : kind }
}

/** What the utterance asks: a pure function of the knowledge base and the text, in bounded time. */
export function understand(knowledge: Knowledge, utterance: string): Understood {
  const lexicon = lexiconOf(knowledge)
  const known = lexicon.memo.get(utterance)
  if (known) return known
  const understood = interpret(lexicon, utterance)
  if (utterance.length <= longestMemo) {
    if (lexicon.memo.size >= memoSize) lexicon.memo.clear()
    lexicon.memo.set(utterance, understood)
  }
  return understood
}
