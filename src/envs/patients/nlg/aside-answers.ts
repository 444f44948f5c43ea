/** Answers to topics that no finding models: a denial, an answer from the biography, or what people say. */
import { textInLanguage } from '../../../case.js'
import { ageInYears } from '../../../inference/posterior.js'
import type { Aside, ConversationAct } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { pronounForSex, toThirdPerson } from '../../../text/third-person.js'
import type { Language, RevealedFinding, Understanding } from '../../../turn.js'
import type { AnswerInput } from './answer-input.js'
import { denySentence } from './denials.js'
import { wasReported } from './disclosure.js'
import { pickFresh } from './fresh.js'
import { closedGate, findingSentence, reportedState } from './recall.js'
import { speechSentences, unknownTopicSentences } from './speech-sentences.js'
import { pickStockSentence } from './stock-sentences.js'

/** An answer to asides: sentences, what they reveal, and how the question was understood. */
export interface AsideAnswer {
  readonly sentences: readonly string[]
  readonly told: readonly RevealedFinding[]
  readonly how: Extract<Understanding, 'answered' | 'unknown' | 'courtesy'>
}

/** Findings that are told in answer to one broad question. */
const mostTold = 2

/** The patient's age in words, in months below two years. */
function ageInWords({ view }: PatientContext, language: Language): string {
  const age = ageInYears(view.demographics.age)
  if (age === undefined) return language === 'zh' ? '几十岁' : 'old enough'
  if (age >= 2) return language === 'zh' ? `${Math.floor(age)}岁` : `${Math.floor(age)}`
  const months = Math.round(age * 12)
  return language === 'zh' ? `${months}个月` : `${months} months old`
}

/** Rewrites a sentence of the knowledge base for the speaker: in the third person for a caregiver. */
export const adaptToSpeaker = (sentence: string, { view, language }: PatientContext): string =>
  view.demographics.speaker === 'caregiver'
    ? toThirdPerson(sentence, language, pronounForSex(view.demographics.sex))
    : sentence

/** The answer of the biography to a slot; undefined where the case has none. */
export function biographySentence(slot: string, context: PatientContext): string | undefined {
  const text = context.view.biography?.[slot]
  if (!text) return undefined
  const own = textInLanguage(text, context.language)
  return adaptToSpeaker(own.replaceAll('{age}', ageInWords(context, context.language)), context)
}

/** The patient's last words, for a doctor who did not catch them. */
const lastWords = ({ dialogue }: PatientContext): string | undefined => dialogue.at(-1)?.reply.text

/** The reply to an act of conversation. */
export function speechSentence(act: ConversationAct, context: PatientContext): string {
  const again = act === 'repeat' ? lastWords(context) : undefined
  if (again !== undefined) return again
  const question = act === 'any-questions' ? biographySentence('question', context) : undefined
  const asked = context.dialogue.some(({ reply }) => question && reply.text.includes(question))
  if (question !== undefined && !asked) return question
  const turn = context.dialogue.length
  return pickFresh(speechSentences[act][context.language], context, ['speech', act, turn])
}

/** The findings of an aside that the patient has and needs no trust to tell, each with its sentence. */
function tellPresent({ also = [] }: Aside, input: AnswerInput) {
  const { knowledge, context, absentPolicy } = input
  return also.flatMap((id) => {
    const finding = knowledge.finding.get(id)
    if (!finding || finding.stigma > 0) return []
    const gate = closedGate(knowledge, finding, context.view)
    if (reportedState(finding, gate !== undefined, context, absentPolicy) !== 'present') return []
    const sentence = findingSentence(finding, 'present', context, true)
    return sentence === undefined ? [] : [{ id, sentence: adaptToSpeaker(sentence, context) }]
  })
}

/** Answers one aside that is no denial. */
function answerAside(aside: Aside, input: AnswerInput): AsideAnswer {
  const { context } = input
  if (aside.act !== undefined)
    return { sentences: [speechSentence(aside.act, context)], told: [], how: 'courtesy' }
  const all = tellPresent(aside, input)
  // What was not told before comes first.
  const present = [
    ...all.filter(({ id }) => !wasReported(context, id)),
    ...all.filter(({ id }) => wasReported(context, id)),
  ].slice(0, mostTold)
  if (present.length > 0)
    return {
      sentences: present.map(({ sentence }) => sentence),
      told: present.map(({ id }) => ({ finding: id, state: 'present' })),
      how: 'answered',
    }
  const own = aside.slot === undefined ? undefined : biographySentence(aside.slot, context)
  if (own !== undefined) return { sentences: [own], told: [], how: 'answered' }
  if (aside.denied)
    return { sentences: [denySentence([aside], context)], told: [], how: 'answered' }
  const turn = context.dialogue.length
  const bank = unknownTopicSentences[aside.slot === undefined ? 'no' : 'content'][context.language]
  const unknown = aside.slot === undefined || context.view.biography
  const sentence = unknown
    ? pickFresh(bank, context, ['unmodelled', turn])
    : pickStockSentence('unknown', context, input.utterance)
  return { sentences: [sentence], told: [], how: 'unknown' }
}

/** Answers the asides of an utterance, those that are denied in one sentence. */
export function answerAsides(ids: readonly string[], input: AnswerInput): AsideAnswer {
  const asides = ids.flatMap((id) => input.knowledge.aside.get(id) ?? [])
  const plain = asides.filter(({ denied, also }) => denied && !also)
  const others = asides.filter((aside) => !plain.includes(aside))
  const parts = others.map((aside) => answerAside(aside, input))
  const denied =
    plain.length > 0 ? [adaptToSpeaker(denySentence(plain, input.context), input.context)] : []
  const rank = (['answered', 'unknown'] as const).find((how) =>
    parts.some((part) => part.how === how),
  )
  return {
    sentences: [...parts.flatMap(({ sentences }) => sentences), ...denied],
    told: parts.flatMap(({ told }) => told),
    how: denied.length > 0 ? 'answered' : (rank ?? 'courtesy'),
  }
}
