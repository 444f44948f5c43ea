/** Answers to topics that no finding models: a denial, an answer from the biography, or what people say. */
import type { Aside, ConversationAct, FindingDefinition } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { normaliseText } from '../../../text/phrase-search.js'
import type { RevealedFinding, Understanding } from '../../../turn.js'
import { findAttributes } from '../nlu/attributes.js'
import { isKnown } from '../nlu/focus.js'
import type { AnswerInput } from './answer-input.js'
import { biographySentence, ownQuestion } from './biography-sentences.js'
import { denySentence } from './denials.js'
import { ownDetail } from './details.js'
import { wasReported } from './disclosure.js'
import { findingSentence } from './finding-sentences.js'
import { pickFresh } from './fresh.js'
import { closedGate, reportedState } from './recall.js'
import { introduceCarer, speakOfPatient, yearsOf } from './speaker.js'
import { smallChildSentences, speechSentences, unknownTopicSentences } from './speech-sentences.js'
import { pickStockSentence } from './stock-sentences.js'

/** An answer to asides: sentences, what they reveal, and how the question was understood. */
export interface AsideAnswer {
  readonly sentences: readonly string[]
  readonly told: readonly RevealedFinding[]
  readonly how: Extract<Understanding, 'answered' | 'unknown' | 'courtesy'>
}

/** Findings that are told in answer to one broad question. */
const mostTold = 2

/** The patient's last words, for a doctor who did not catch them. */
const lastWords = ({ dialogue }: PatientContext): string | undefined => dialogue.at(-1)?.reply.text

/** A caregiver holds a child younger than this. */
const heldUpTo = 5

/** The sentences for an act of conversation, by who speaks. */
function speechBank(act: ConversationAct, context: PatientContext): readonly string[] {
  const { view, language } = context
  const small =
    view.demographics.speaker === 'caregiver' && (yearsOf(context) ?? heldUpTo) < heldUpTo
  const bank = (small ? smallChildSentences[act] : undefined) ?? speechSentences[act]
  return bank[language].map((text) => speakOfPatient(text, context))
}

/** The reply to an act of conversation. */
export function speechSentence(act: ConversationAct, context: PatientContext): string {
  const again = act === 'repeat' ? lastWords(context) : undefined
  if (again !== undefined) return again
  const question = act === 'any-questions' ? ownQuestion(context) : undefined
  const asked = context.dialogue.some(({ reply }) => question && reply.text.includes(question))
  if (question !== undefined && !asked) return question
  return pickFresh(speechBank(act, context), context, ['speech', act, context.dialogue.length])
}

/** The findings of an aside that the patient has and needs no trust to tell, each with its sentence. */
function tellPresent({ also = [], unless = [] }: Aside, input: AnswerInput) {
  const { knowledge, context, absentPolicy } = input
  return [...also, ...unless].flatMap((id) => {
    const finding = knowledge.finding.get(id)
    if (!finding || (finding.stigma > 0 && !wasReported(context, id))) return []
    const gate = closedGate(knowledge, finding, context.view)
    if (reportedState(finding, gate !== undefined, context, absentPolicy) !== 'present') return []
    const sentence = findingSentence(finding, 'present', context, { unasked: true })
    return sentence === undefined ? [] : [{ id, sentence }]
  })
}

/** Of what a question asks for a detail of: the last one spoken of, or else the first medicine that the patient has. */
function detailedFinding(
  { detailOf = [] }: Aside,
  input: AnswerInput,
): FindingDefinition | undefined {
  const { knowledge, context, absentPolicy } = input
  const told = context.dialogue.flatMap(({ reply }) => reply.told).filter(isKnown)
  const spoken = told.findLast(({ finding }) => detailOf.includes(finding))?.finding
  const all = detailOf.flatMap((id) => knowledge.finding.get(id) ?? [])
  return (
    all.find(({ id }) => id === spoken) ??
    all.find((finding) => {
      const gate = closedGate(knowledge, finding, context.view)
      const state = reportedState(finding, gate !== undefined, context, absentPolicy)
      return finding.kind === 'medication' && state === 'present'
    })
  )
}

/** That the patient has nothing of what a question asks for a detail of. */
function denyDetailed({ detailOf = [] }: Aside, input: AnswerInput): AsideAnswer | undefined {
  const { knowledge, context, absentPolicy } = input
  const told = context.dialogue.flatMap(({ reply }) => reply.told.map((one) => one.finding))
  const last = told.findLast((id) => detailOf.includes(id))
  const finding = knowledge.finding.get(last ?? detailOf[0] ?? '')
  if (!finding || reportedState(finding, false, context, absentPolicy) !== 'absent')
    return undefined
  const sentence = findingSentence(finding, 'absent', context, { unasked: true })
  return sentence === undefined
    ? undefined
    : {
        sentences: [sentence],
        told: [{ finding: finding.id, state: 'absent' }],
        how: 'answered',
      }
}

/** A detail of what the patient takes, and that they take it where that was not told. */
function tellDetail(aside: Aside, input: AnswerInput): AsideAnswer | undefined {
  const { knowledge, context, utterance } = input
  const finding = detailedFinding(aside, input)
  if (!finding) return denyDetailed(aside, input)
  const [attribute] = findAttributes(normaliseText(utterance).text)
  const detail = ownDetail(knowledge, finding.id, attribute ?? 'which', context)
  if (detail === undefined) return undefined
  if (wasReported(context, finding.id)) return { sentences: [detail], told: [], how: 'answered' }
  const first = findingSentence(finding, 'present', context, { unasked: true })
  return {
    sentences: [...(first === undefined ? [] : [first]), detail],
    told: first === undefined ? [] : [{ finding: finding.id, state: 'present' }],
    how: 'answered',
  }
}

/** What a patient has more to say of only where they have it. */
const owned: ReadonlySet<string> = new Set(['social', 'medication'])

/** The denial of a habit that a question takes for granted: "How many a day?" of somebody who does not smoke. */
function denyHabit({ also = [] }: Aside, input: AnswerInput): AsideAnswer | undefined {
  const { knowledge, context, absentPolicy } = input
  const [finding, ...others] = also.flatMap((id) => knowledge.finding.get(id) ?? [])
  if (!finding || others.length > 0 || !owned.has(finding.kind)) return undefined
  if (reportedState(finding, false, context, absentPolicy) !== 'absent') return undefined
  const sentence = findingSentence(finding, 'absent', context, { unasked: false })
  return sentence === undefined
    ? undefined
    : { sentences: [sentence], told: [{ finding: finding.id, state: 'absent' }], how: 'answered' }
}

/** The denial of what a question takes for granted: "When was the reaction to penicillin?" of who is allergic to nothing. */
function denyGranted({ after = [] }: Aside, input: AnswerInput): AsideAnswer | undefined {
  const { knowledge, context, absentPolicy, granted = '' } = input
  const finding = after.includes(granted) ? knowledge.finding.get(granted) : undefined
  if (!finding || reportedState(finding, false, context, absentPolicy) !== 'absent')
    return undefined
  const sentence = findingSentence(finding, 'absent', context, { unasked: true })
  return sentence === undefined
    ? undefined
    : { sentences: [sentence], told: [{ finding: granted, state: 'absent' }], how: 'answered' }
}

/** Asks a relative who they are. */
const asksWho =
  /\bare you (?:his|her|the|their)\b|[您你]是.{0,5}(?:妈|爸|奶|爷|姥|母亲|父亲|家长|儿子|女儿|闺女|老伴|爱人|家属|什么人|谁)|(?:孩子|宝宝)的?(?:妈妈|爸爸)吧/i

/** The topic of how the patient is. */
const inGeneral = 'general-state'

/** Answers one aside that is no denial. Long because each kind of answer gives way to the next one, in order. */
function answerAside(aside: Aside, input: AnswerInput): AsideAnswer {
  const { context } = input
  if (aside.act !== undefined)
    return { sentences: [speechSentence(aside.act, context)], told: [], how: 'courtesy' }
  const detail = tellDetail(aside, input)
  if (detail) return detail
  const own = aside.slot === undefined ? undefined : biographySentence(aside.slot, context)
  // "Hello, how are you?" is a greeting, and not what the patient came to tell.
  const greets = aside.id === inGeneral && context.dialogue.length === 0
  const all = greets ? [] : tellPresent(aside, input)
  const fresh = all.filter(({ id }) => !wasReported(context, id))
  // What was told before is said again only where there is nothing else, or what else there is would deny it.
  const contrary = all.some(({ id }) => aside.unless?.includes(id))
  const rest = own !== undefined && !contrary ? [] : all
  const present = (fresh.length > 0 ? fresh : rest).slice(0, mostTold)
  if (present.length > 0) {
    const more = aside.detail && own !== undefined ? [own] : []
    return {
      sentences: [...present.map(({ sentence }) => sentence), ...more],
      told: present.map(({ id }) => ({ finding: id, state: 'present' })),
      how: 'answered',
    }
  }
  const granted = own === undefined ? denyGranted(aside, input) : undefined
  if (granted) return granted
  const habit = aside.detail ? denyHabit(aside, input) : undefined
  if (habit) return habit
  const carer = asksWho.test(input.utterance) ? introduceCarer(context) : undefined
  if (own !== undefined && carer !== undefined)
    return { sentences: [carer], told: [], how: 'answered' }
  if (own !== undefined) {
    const keeps = aside.slot === 'operations' && stillHas.test(input.utterance)
    const sentence = keeps ? own.replace(/^No, /, 'Yes, ') : own
    return { sentences: [sentence], told: [], how: 'answered' }
  }
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

/** Asks for the amount of a habit. */
const howMany = /\bhow (?:many|much)\b/i

/**
 * The sentences of asides that ask for more of the topics of the same utterance, and the other asides.
 * @param asked the topics
 * @param told what the answers to them tell
 */
export function moreOfTopics(
  ids: readonly string[],
  asked: ReadonlySet<string>,
  told: readonly RevealedFinding[],
  { knowledge, context, utterance }: AnswerInput,
) {
  const of = (id: string) => knowledge.aside.get(id)?.also?.filter((one) => asked.has(one)) ?? []
  const habits = ({ also = [] }: Aside) =>
    also.every((id) => knowledge.finding.get(id)?.kind === 'social')
  const counted = howMany.test(utterance) ? knowledge.asides.filter(habits) : []
  const more = [...new Set([...ids, ...counted.map(({ id }) => id)])].filter(
    (id) => knowledge.aside.get(id)?.detail && of(id).length > 0,
  )
  const sentences = more.flatMap((id) => {
    const { slot } = knowledge.aside.get(id) ?? {}
    const has = of(id).every((one) => {
      const state = told.find(({ finding }) => finding === one)?.state
      const { kind, stigma = 0 } = knowledge.finding.get(one) ?? {}
      return state === 'present' || !(state === undefined ? stigma > 0 : owned.has(kind ?? ''))
    })
    return (has && slot !== undefined && biographySentence(slot, context)) || []
  })
  return { sentences, rest: ids.filter((id) => !more.includes(id)) }
}

/** Asks whether the patient still has what an operation takes out, so that nobody operated on says yes. */
const stillHas = /\bstill (?:got|have|had|there|in)\b/i

/** Answers the asides of an utterance, those that are denied in one sentence. */
export function answerAsides(ids: readonly string[], input: AnswerInput): AsideAnswer {
  const asides = ids.flatMap((id) => input.knowledge.aside.get(id) ?? [])
  const plain = asides.filter(
    (aside) => aside.denied && !aside.also && tellPresent(aside, input).length === 0,
  )
  const others = asides.filter((aside) => !plain.includes(aside))
  const parts = others.map((aside) => answerAside(aside, input))
  const denied = plain.length > 0 ? [denySentence(plain, input.context)] : []
  const rank = (['answered', 'unknown'] as const).find((how) =>
    parts.some((part) => part.how === how),
  )
  return {
    sentences: [...parts.flatMap(({ sentences }) => sentences), ...denied],
    told: parts.flatMap(({ told }) => told),
    how: denied.length > 0 ? 'answered' : (rank ?? 'courtesy'),
  }
}
