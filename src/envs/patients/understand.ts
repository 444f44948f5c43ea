/**
 * What a doctor's utterance asks, found in the words of the knowledge base: exact phrases first, then the
 * likest question. Both languages are understood whichever is spoken. Nothing of any case is read here.
 */
import type { Knowledge } from '../../knowledge.js'
import type { Attribute } from '../../knowledge-file.js'
import type { Match, Normal } from '../../phrases.js'
import { findPhrases, normal } from '../../phrases.js'
import * as act from './acts.js'
import { isQuestionClause } from './acts.js'
import { attributesIn } from './attributes.js'
import type { Topic } from './focus.js'
import { topicIn } from './focus.js'
import type { Entry, Lexicon } from './lexicon.js'
import { lexiconOf } from './lexicon.js'
import { likest } from './likeness.js'
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

/** Least cosine, and least lead over the next finding, at which the likest finding is meant. */
const alike = { score: 0.5, lead: 0.06 }
/** The same where another finding is named in so many words. */
const instead = { score: 0.75, lead: 0.2 }
/** Least cosine at which a question is taken to ask more closely of a finding that it names. */
const closer = 0.5
/** Least cosine at which it is worth asking what was meant. */
const nearly = 0.35

const longestFuzzy = 160
/** A longer question without a known complaint is about something else. */
const longestLoose = 48
const memoSize = 4096
/** Longer texts are read anew each time, so that the memo holds no large strings. */
const longestMemo = 512

type FindingMatch = Match<Extract<Entry, { readonly kind: 'finding' }>>

const isFinding = (match: Match<Entry>): match is FindingMatch => match.value.kind === 'finding'

const joined = /\b(?:or|and)\b|或|和|还是|以及|及/

/** Whether two matches stand side by side in a list, so that both are meant. */
function listed({ text, clauses }: Normal, a: Match<unknown>, b: Match<unknown>): boolean {
  const [from, to] = a.start < b.start ? [a.end, b.start] : [b.end, a.start]
  if (from >= to) return clauses.some(({ end }) => end === from && from === to)
  const between = text.slice(from, to)
  return joined.test(between) || (between === ' ' && clauses.some(({ end }) => end === from))
}

/** "Does the chest pain spread?" asks about the spreading, not about the pain. */
const narrowed = (
  lexicon: Lexicon,
  read: Normal,
  matches: readonly FindingMatch[],
): readonly FindingMatch[] =>
  matches.filter(
    (above) =>
      !matches.some(
        (match) =>
          lexicon.ancestors.get(match.value.id)?.has(above.value.id) && !listed(read, above, match),
      ),
  )

/** A relative's headache is not the patient's: such a match counts only with the relative in it. */
const ofPatient = (knowledge: Knowledge, { text }: Normal, family: boolean) =>
  family
    ? ({ value, start, end }: FindingMatch) =>
        knowledge.finding.get(value.id)?.kind === 'family' ||
        act.family.test(text.slice(start, end))
    : () => true

/** The sentence less the matched phrases, which say what it is about and not what of it. */
function without(text: string, start: number, matches: readonly Match<unknown>[]): string {
  let rest = ''
  let from = 0
  for (const match of matches) {
    rest += `${text.slice(from, match.start - start)} `
    from = Math.max(from, match.end - start)
  }
  return rest + text.slice(from)
}

const nothing: Heard = { topics: [], loose: [], nearly: false }

/** A named finding as a topic: itself, or what the sentence asks of it. */
function topicOf(
  { knowledge }: Lexicon,
  id: string,
  wanted: readonly Attribute[],
  presence: boolean,
): Topic {
  const finding = knowledge.finding.get(id)
  const of = finding?.parent?.finding
  if (finding?.attribute !== undefined)
    return { finding: id, attribute: finding.attribute, ...(of === undefined ? {} : { of }) }
  if (finding?.kind !== 'symptom') return { finding: id }
  for (const attribute of wanted) {
    const topic = topicIn(knowledge, id, attribute)
    if (!topic.missing) return topic
  }
  const [first] = wanted
  return first === undefined || presence ? { finding: id } : topicIn(knowledge, id, first)
}

/** The findings a sentence names or is like, and whether it was nearly like one. */
function meant(
  lexicon: Lexicon,
  read: Normal,
  { text }: Sentence,
  found: readonly FindingMatch[],
): { readonly ids: readonly string[]; readonly near: boolean } {
  const named = narrowed(lexicon, read, found)
  const ids = [...new Set(named.map(({ value }) => value.id))]
  if (text.length > longestFuzzy) return { ids, near: false }
  const { value, score, next } = likest(lexicon.alike(text), text)
  const lead = score - next
  if (value === undefined) return { ids, near: false }
  if (ids.length === 0) {
    const sure = score >= alike.score && lead >= alike.lead
    return { ids: sure ? [value] : [], near: score >= nearly }
  }
  const above = (id: string, other: string) => lexicon.ancestors.get(id)?.has(other) ?? false
  if (ids.includes(value)) return { ids, near: false }
  const under = ids.find((id) => above(value, id))
  if (under !== undefined && score >= closer)
    return { ids: ids.map((id) => (id === under ? value : id)), near: false }
  const better =
    score >= instead.score && lead >= instead.lead && !ids.some((id) => above(id, value))
  return { ids: better ? [value] : ids, near: false }
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
  const found = here
    .filter(isFinding)
    .filter(ofPatient(lexicon.knowledge, read, act.family.test(text)))
  const whole = found.find((match) => match.start === start && match.end >= end)
  const wanted = attributesIn(without(text, start, found))
  const presence = isQuestionClause(text)
  const topics = (ids: readonly string[]): readonly Topic[] =>
    ids.map((id) => {
      const jargon = found.some(({ value }) => value.id === id && value.jargon)
      const known = found.some(({ value }) => value.id === id && !value.jargon)
      const topic = topicOf(lexicon, id, wanted, presence)
      return jargon && !known ? { ...topic, jargon } : topic
    })
  if (whole) return { ...nothing, topics: topics([whole.value.id]) }
  if (!inquires && !fragment) return nothing
  const open = act.openQuestion.test(text)
  if (open && (act.exceptFor.test(text) || found.length === 0)) return nothing
  if (found.length === 0 && here.length > 0) return nothing
  if (found.length === 0 && act.diagnosisRequest.test(text)) return nothing
  const { ids, near } = meant(lexicon, read, sentence, found)
  if (ids.length > 0) return { ...nothing, topics: topics(ids) }
  const loose = wanted.length > 0 && text.length <= longestLoose ? wanted.slice(0, 1) : []
  return { topics: [], loose, nearly: near }
}

function actOf(text: string, matches: readonly Match<Entry>[]): Understood['kind'] {
  const named = (kind: Entry['kind']) => matches.some(({ value }) => value.kind === kind)
  if (named('disease') || (act.diagnosisRequest.test(text) && !act.history.test(text)))
    return 'diagnosis-request'
  if (act.openQuestion.test(text)) return 'open'
  if (named('exam') || act.examTalk.test(text)) return 'exam-request'
  if (act.advice.test(text)) return 'advice'
  return act.courtesy.test(text) ? 'courtesy' : 'unclear'
}

const sameTopic = (a: Topic, b: Topic): boolean => a.finding === b.finding

function interpret(lexicon: Lexicon, utterance: string): Understood {
  const read = normal(utterance)
  const sentences = sentencesOf(read)
  const questions = sentences.reduce((sum, s) => sum + s.questions, 0)
  if (act.injection.test(read.text)) return { questions, topics: [], loose: [], kind: 'injection' }
  const matches = findPhrases(lexicon.tree(read.text), read)
  const inquiring = sentences.filter(({ inquires }) => inquires)
  const heard = (inquiring.length > 0 ? inquiring : sentences).map((s) =>
    askedIn(lexicon, read, s, matches),
  )
  const topics = heard
    .flatMap((one) => one.topics)
    .filter((topic, i, all) => all.findIndex((other) => sameTopic(other, topic)) === i)
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
