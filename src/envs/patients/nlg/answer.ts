/** Answers of the rule patient: to the findings an utterance asks about, or to an open question. */

import { textInLanguage } from '../../../case.js'
import { isInapplicable } from '../../../inference/generative-model.js'
import { ageInYears } from '../../../inference/posterior.js'
import type { FindingDefinition } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { normaliseText } from '../../../text/phrase-search.js'
import type { RevealedFinding, Understanding } from '../../../turn.js'
import { type AskedAttribute, findAttributes } from '../nlu/attributes.js'
import { asksIfRight } from '../nlu/closings/recap.js'
import type { Topic } from '../nlu/focus.js'
import type { AnswerDraft, AnswerInput } from './answer-input.js'
import { answerAsides, moreOfTopics } from './aside-answers.js'
import { asksTheSame } from './asked-again.js'
import { detailSentence, ownDetail } from './details.js'
import { findingsToVolunteer, wasReported, withholds } from './disclosure.js'
import { closedGateSentence, findingSentence, isOpenQuestion } from './finding-sentences.js'
import { pickFresh } from './fresh.js'
import { knowsJargon } from './manner.js'
import { moreOfIllness } from './more-of-illness.js'
import { canSlip, closedGate, deniedAncestor, reportedState } from './recall.js'
import { mootSentence } from './speaker.js'
import { unsureDetailSentences } from './speech-sentences.js'
import {
  introduced,
  joinOnce,
  joinSentences,
  type Occasion,
  pickStockSentence,
  stockSentences,
} from './stock-sentences.js'

/** The answer to one topic. */
export interface Answer {
  readonly how: Extract<
    Understanding,
    'answered' | 'unknown' | 'exam-only' | 'repeated' | 'withheld' | 'unclear'
  >
  readonly sentence: string
  readonly told?: RevealedFinding
  /** Introduced as given before ("As I said: …"). */
  readonly again?: boolean
  /** Says no more than that the patient does not know. */
  readonly unsure?: boolean
}

/** Whether the patient points out a repeated answer. An interpreter does not: "She says:" already ends in a colon. */
const pointsOutRepeats = ({ view: { demographics, persona } }: PatientContext): boolean =>
  demographics.speaker !== 'interpreter' && dialLevel(persona, 'terse') < 2

/**
 * Answers a question about one finding by the state the patient reports.
 * @param same whether it asks for no more than was told @default by its words
 */
function answerFinding(
  finding: FindingDefinition,
  input: AnswerInput,
  topic: Topic,
  same?: boolean,
): Answer {
  const { knowledge, utterance, context, absentPolicy, saying = '' } = input
  const { view } = context
  const gate = closedGate(knowledge, finding, view)
  const state = reportedState(finding, gate !== undefined, context, absentPolicy)
  const before = wasReported(context, finding.id)
  // In Chinese nobody says to have told before what they do not know.
  const tells = state !== 'unknown' || context.language === 'en'
  const again =
    before && tells && pointsOutRepeats(context) && (same ?? asksTheSame(finding, topic, utterance))
  const open = isOpenQuestion(utterance)
  const several = input.several === true
  const wanted = { unasked: again, quoted: again, open, saying, several }
  const own =
    gate && state === 'absent'
      ? closedGateSentence(finding, gate, context, wanted)
      : findingSentence(finding, state, context, wanted)
  const unsure = canSlip(finding) ? 'unknown' : 'unnoticed'
  const sentence = own ?? pickStockSentence(unsure, context, utterance, saying)
  const how = before ? 'repeated' : state === 'unknown' ? 'unknown' : 'answered'
  const told = { finding: finding.id, state }
  return { how, sentence, again, told, unsure: own === undefined }
}

/** Whether the patient's sex or age rules the finding out. */
const isRuledOut = (
  finding: FindingDefinition,
  { view: { demographics } }: PatientContext,
): boolean =>
  isInapplicable({ finding }, { sex: demographics.sex, age: ageInYears(demographics.age) })

/** Answers an attribute that no finding records, where the patient has the complaint. */
function answerDefault(topic: Topic, finding: FindingDefinition, input: AnswerInput): Answer {
  const { knowledge, context, absentPolicy } = input
  const closed = closedGate(knowledge, finding, context.view) !== undefined
  const has = reportedState(finding, closed, context, absentPolicy) === 'present'
  if (!has || topic.attribute === undefined) return answerFinding(finding, input, topic)
  const sentence = detailSentence(knowledge, finding.id, topic.attribute, context)
  return { how: 'answered', sentence }
}

/** Asks for a number or a date, which a rough answer does not give. */
const exact =
  /\b(?:how many|exact\w*|precise\w*|(?:which|what) (?:day|date|hour))\b|几[天个周月年小]|多少[天个周月年小]|具体|准确|确切|哪(?:一)?[天年月]|几号|到底/i

/** Asks which medicine it is. */
const namesMedicine =
  /\b(?:what|which|name|names|called|list)\b|什么药|啥药|哪[种些几]|药名|叫什么|名字/i

/** Details that a question may ask for beside whether a finding is there: "Do you vomit every day?" */
const beside: ReadonlySet<AskedAttribute> = new Set([
  ...(['side', 'score', 'reading', 'colour', 'frequency', 'amount'] as const),
  ...(['spell', 'last', 'latency', 'doing', 'which', 'purpose'] as const),
])

/** What a question asks of a finding that the finding itself does not say. */
function wantedDetails(
  topic: Topic,
  answer: Answer,
  { knowledge, utterance, several }: AnswerInput,
): readonly AskedAttribute[] {
  const read = normaliseText(utterance)
  const named = several || asksIfRight(read) ? [] : findAttributes(read.text)
  const { kind } = knowledge.finding.get(topic.finding) ?? {}
  // How long a symptom has been there is a finding of its own, how long a medicine has been taken is none.
  const since = kind === 'medication' || kind === 'antecedent' || kind === 'social'
  const wanted = named.filter((one) => beside.has(one) || (since && one === 'duration'))
  if (topic.attribute === undefined) {
    return kind === 'medication' && namesMedicine.test(utterance) ? ['which', ...wanted] : wanted
  }
  // A rough answer is not said again where there is a number.
  const whole = answer.how === 'repeated' || exact.test(utterance)
  return whole || beside.has(topic.attribute) ? [topic.attribute, ...wanted] : wanted
}

/** The answer about a finding with the detail that no finding records, or that alone where the rest was told. */
function addDetail(topic: Topic, answer: Answer, input: AnswerInput): Answer {
  const { knowledge, context } = input
  const { told, sentence, how } = answer
  if (told === undefined || told.state === 'unknown') return answer
  for (const attribute of wantedDetails(topic, answer, input)) {
    const detail = ownDetail(knowledge, topic.finding, attribute, context, told.state === 'absent')
    if (detail === undefined) continue
    if (how === 'repeated') return { how: 'answered', sentence: detail }
    return { ...answer, sentence: joinSentences([sentence, detail], context.language) }
  }
  return answer
}

/** Asks, in Chinese, which of two ways a symptom is, or whether it comes at some occasion. */
const asksDetail =
  /(?:是|的时候|了|着)[^。？！]{1,16}还是(?!有|没|说)|(?:开车|走路|走动|坐着|躺着|站着|干活|吃饭|生气|紧张|休息|上班|爬楼|跑步|睡觉|睡着)的?时候?[^，。？！]{0,4}(?:犯|发作)过?/

/** Answers one topic, or declines to. */
function answerTopic(topic: Topic, input: AnswerInput): Answer | undefined {
  const { knowledge, utterance, context, saying } = input
  const because = (how: Answer['how'], occasion: Occasion): Answer => ({
    how,
    sentence: pickStockSentence(occasion, context, utterance, saying),
  })
  const finding = knowledge.finding.get(topic.finding)
  if (!finding) return topic.missing ? because('unknown', 'no-detail') : undefined
  if (topic.missing) return answerDefault(topic, finding, input)
  if (finding.knownBy === 'exam' && !context.view.findings.has(finding.id))
    return because('exam-only', 'exam-only')
  // "Burning or discharge down below?" asks a man of what he can have.
  if (isRuledOut(finding, context) && topic.joined) return undefined
  if (isRuledOut(finding, context))
    return topic.guessed
      ? because('unknown', 'no-detail')
      : { how: 'unknown', sentence: mootSentence(finding, context) }
  if (topic.jargon && !knowsJargon(finding.id, context)) return because('unclear', 'jargon')
  if (withholds(finding, utterance, context)) return because('withheld', 'withheld')
  const denied = deniedAncestor(knowledge, finding, context)
  if (denied) return answerFinding(denied, input, topic, true)
  const answer = addDetail(topic, answerFinding(finding, input, topic), input)
  const plain = finding.type === 'bool' && finding.kind === 'symptom' && !finding.attribute
  if (!plain || answer.told?.state !== 'present' || !asksDetail.test(utterance)) return answer
  const bank = unsureDetailSentences[context.language]
  // 是睡不着还是醒得早 asks for what it is like, 是饭前还是饭后 does not.
  const kind = findAttributes(normaliseText(utterance).text).every((one) => one === 'character')
    ? ownDetail(knowledge, finding.id, 'character', context)
    : undefined
  const said = kind ?? pickFresh(bank, context, ['unsure-detail', finding.id])
  if (answer.how === 'repeated') return { how: kind ? 'answered' : 'unknown', sentence: said }
  return { ...answer, sentence: joinSentences([answer.sentence, said], context.language) }
}

/** How an answer of several parts counts as understood: as the first of these that one part is. */
export const precedence = [
  'answered',
  'unknown',
  'withheld',
  'repeated',
  'exam-only',
  'unclear',
] as const

/** The sentences of several answers, with a few words before the first that was given before. */
function joinAnswers(answers: readonly Answer[], { context }: AnswerInput): readonly string[] {
  const first = answers.findIndex(({ again }) => again)
  return answers.flatMap(({ sentence }, i) => {
    if (sentence === '') return []
    if (i !== first) return [sentence]
    const { language, dialogue } = context
    const words = pickFresh(stockSentences.again[language], context, ['again', dialogue.length])
    return [introduced(words, sentence, language)]
  })
}

/** The answers to topics one after the other, so that each begins otherwise than the one before. */
export function answerInTurn(topics: readonly Topic[], input: AnswerInput): readonly Answer[] {
  const answers: Answer[] = []
  let saying = ''
  const first = topics.length > 1 ? { ...input, several: true } : input
  for (const topic of topics) {
    const answer = answerTopic(topic, saying === '' ? first : { ...first, saying })
    if (!answer) continue
    // Not knowing several things takes one sentence.
    const twice = answer.unsure && answers.some(({ unsure }) => unsure)
    if (twice) {
      answers.push({ ...answer, sentence: '' })
      continue
    }
    answers.push(answer)
    saying = answer.sentence + (saying && ` ${saying}`)
  }
  return answers
}

/**
 * Answers the first `most` topics, and asks the doctor to put the others one at a time.
 * @param asides topics that no finding answers, answered after the others
 */
export function answerTopics(
  topics: readonly Topic[],
  most: number,
  input: AnswerInput,
  asides: readonly string[] = [],
): AnswerDraft {
  const { context, utterance } = input
  const answers = answerInTurn(topics.slice(0, most), input)
  const asked = new Set(topics.flatMap(({ finding, of }) => [finding, ...(of ? [of] : [])]))
  const more = moreOfTopics(
    asides,
    asked,
    answers.flatMap(({ told }) => told ?? []),
    input,
  )
  const others = answerAsides(more.rest, input)
  // What was told before need not be said again beside what is new.
  const fresh =
    more.sentences.length > 0 ? answers.filter(({ how }) => how !== 'repeated') : answers
  const said = joinAnswers(fresh, input)
  // The amount of a habit may be part of the answer to it.
  const added = more.sentences.filter((one) => !said.some((other) => other.includes(one)))
  const parts = [...said, ...added, ...others.sentences]
  const plea = topics.length > most ? pickStockSentence('one-at-a-time', context, utterance) : ''
  return {
    text: joinOnce(parts, context.language),
    understood: precedence.find((rank) => answers.some(({ how }) => how === rank)) ?? 'unknown',
    told: [...answers.flatMap(({ told }) => told ?? []), ...others.told],
    ...(plea && { plea }),
  }
}

/** What the patient came with, said again where the doctor asks for it before anything else about the illness. */
const openingWords = ({ view, dialogue, language }: PatientContext): readonly string[] =>
  dialogue.every(({ reply }) => reply.asked.length + reply.told.length === 0) &&
  view.complaint.findings.length > 0
    ? [textInLanguage(view.complaint.text, language)]
    : []

/**
 * Answers an open question with complaints the patient has not reported yet, if there are any; the first one of a
 * consultation with what the patient came with too.
 */
export function volunteerFindings(
  complaints: readonly FindingDefinition[],
  { utterance, context }: AnswerInput,
): AnswerDraft {
  const next = findingsToVolunteer(complaints, context)
  const more = moreOfIllness(utterance, context)
  const spoken = more.length > 0 ? [...more] : [...openingWords(context)]
  for (const finding of next) {
    const wanted = { unasked: true, more: spoken.length > 0, saying: spoken.join(' ') }
    spoken.push(...[findingSentence(finding, 'present', context, wanted) ?? []].flat())
  }
  return {
    text: joinSentences(
      spoken.length > 0 ? spoken : [pickStockSentence('nothing-more', context, utterance)],
      context.language,
    ),
    understood: 'open',
    told: next.map(({ id }) => ({ finding: id, state: 'present' })),
  }
}
