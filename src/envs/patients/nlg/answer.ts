/** Answers of the rule patient: to the findings an utterance asks about, or to an open question. */

import { isInapplicable } from '../../../inference/generative-model.js'
import { ageInYears } from '../../../inference/posterior.js'
import type { FindingDefinition, Knowledge } from '../../../knowledge/knowledge.js'
import type { PatientContext, Reply } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { pronounForSex, toThirdPerson } from '../../../text/third-person.js'
import type { RevealedFinding, Understanding } from '../../../turn.js'
import type { Topic } from '../nlu/focus.js'
import { findingsToVolunteer, wasReported, withholds } from './disclosure.js'
import { knowsJargon } from './manner.js'
import type { AbsentPolicy } from './recall.js'
import { closedGate, closedGateSentence, findingSentence, reportedState } from './recall.js'
import { joinSentences, type Occasion, pickStockSentence } from './stock-sentences.js'

/** An answer before the persona's manner and the speaker are applied. */
export type AnswerDraft = Pick<Reply, 'text' | 'understood' | 'told'>

interface Answer {
  readonly how: Extract<
    Understanding,
    'answered' | 'unknown' | 'exam-only' | 'repeated' | 'withheld' | 'unclear'
  >
  readonly sentence: string
  readonly told?: RevealedFinding
  /** Introduced as given before ("As I said: …"). */
  readonly again?: boolean
}

/** An utterance, and everything its answer depends on. */
export interface AnswerInput {
  readonly knowledge: Knowledge
  readonly utterance: string
  readonly absentPolicy: AbsentPolicy
  readonly context: PatientContext
}

/** Whether the patient points out a repeated answer. An interpreter does not: "She says:" already ends in a colon. */
const pointsOutRepeats = ({ view: { demographics, persona } }: PatientContext): boolean =>
  demographics.speaker !== 'interpreter' && dialLevel(persona, 'terse') < 2

/** Rewrites a sentence of the knowledge base for the speaker: in the third person for a caregiver. */
const adaptToSpeaker = (sentence: string, { view, language }: PatientContext): string =>
  view.demographics.speaker === 'caregiver'
    ? toThirdPerson(sentence, language, pronounForSex(view.demographics.sex))
    : sentence

/** Answers a question about one finding by the state the patient reports. */
function answerFinding(finding: FindingDefinition, input: AnswerInput): Answer {
  const { knowledge, utterance, context, absentPolicy } = input
  const { view } = context
  const gate = closedGate(knowledge, finding, view)
  const state = reportedState(finding, gate !== undefined, context, absentPolicy)
  const before = wasReported(context, finding.id)
  const again = before && pointsOutRepeats(context)
  const own =
    gate && state === 'absent'
      ? closedGateSentence(finding, gate, context)
      : findingSentence(finding, state, context, again)
  const sentence =
    own === undefined
      ? pickStockSentence('unknown', context, utterance)
      : adaptToSpeaker(own, context)
  const how = before ? 'repeated' : state === 'unknown' ? 'unknown' : 'answered'
  return { how, sentence, again, told: { finding: finding.id, state } }
}

/** Whether the patient's sex or age rules the finding out. */
const isRuledOut = (
  finding: FindingDefinition,
  { view: { demographics } }: PatientContext,
): boolean =>
  isInapplicable({ finding }, { sex: demographics.sex, age: ageInYears(demographics.age) })

/** Answers one topic, or declines to. */
function answerTopic(topic: Topic, input: AnswerInput): Answer | undefined {
  const { knowledge, utterance, context } = input
  const because = (how: Answer['how'], occasion: Occasion): Answer => ({
    how,
    sentence: pickStockSentence(occasion, context, utterance),
  })
  if (topic.missing) return because('unknown', 'no-detail')
  const finding = knowledge.finding.get(topic.finding)
  if (!finding) return undefined
  if (finding.knownBy === 'exam' && !context.view.findings.has(finding.id))
    return because('exam-only', 'exam-only')
  if (isRuledOut(finding, context)) return because('unknown', 'moot')
  if (topic.jargon && !knowsJargon(finding.id, context)) return because('unclear', 'jargon')
  if (withholds(finding, utterance, context)) return because('withheld', 'withheld')
  return answerFinding(finding, input)
}

/** How an answer of several parts counts as understood: as the first of these that one part is. */
const precedence = ['answered', 'unknown', 'withheld', 'repeated', 'exam-only', 'unclear'] as const

/** Answers the first `most` topics, and asks the doctor to put the others one at a time. */
export function answerTopics(
  topics: readonly Topic[],
  most: number,
  input: AnswerInput,
): AnswerDraft {
  const { context, utterance } = input
  const answers = topics.slice(0, most).flatMap((topic) => answerTopic(topic, input) ?? [])
  const first = answers.findIndex(({ again }) => again)
  const parts = answers.flatMap(({ sentence }, i) =>
    i === first ? [pickStockSentence('again', context, utterance), sentence] : [sentence],
  )
  if (topics.length > most) parts.push(pickStockSentence('one-at-a-time', context, utterance))
  return {
    text: joinSentences(parts.length > 1 ? [...new Set(parts)] : parts, context.language),
    understood: precedence.find((rank) => answers.some(({ how }) => how === rank)) ?? 'unknown',
    told: answers.flatMap(({ told }) => told ?? []),
  }
}

/** Answers an open question with complaints the patient has not reported yet, if there are any. */
export function volunteerFindings(
  complaints: readonly FindingDefinition[],
  { utterance, context }: AnswerInput,
): AnswerDraft {
  const next = findingsToVolunteer(complaints, context)
  const texts = next.flatMap((finding) => findingSentence(finding, 'present', context, true) ?? [])
  const spoken = texts.map((text) => adaptToSpeaker(text, context))
  return {
    text: joinSentences(
      spoken.length > 0 ? spoken : [pickStockSentence('nothing-more', context, utterance)],
      context.language,
    ),
    understood: 'open',
    told: next.map(({ id }) => ({ finding: id, state: 'present' })),
  }
}
