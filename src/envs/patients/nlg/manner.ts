/** The persona's manner: remarks on an answer, lost threads and unknown jargon. */
import type { PatientContext } from '../../../patient.js'
import { type Dial, dialLevel } from '../../../persona.js'
import { uniform } from '../../../seed.js'
import { openingPolarity } from '../../../text/reply-openings.js'
import type { Language } from '../../../turn.js'
import { biographySentence } from './biography-sentences.js'
import { theories, theoryOf, wishes, wishOf } from './convictions.js'
import { pickFresh, stemAge, stemOf, stemsOf } from './fresh.js'
import { isGrave } from './grave.js'
import { carerRemarks, type ReplyMoment, remarks } from './manner-sentences.js'
import { speakOfPatient } from './speaker.js'
import { joinSentences } from './stock-sentences.js'

/** P(a remark on an answer), by the level of the dial. */
const remarkChance = [0, 0.12, 0.25, 0.45]
/** Turns after a remark without another. */
const pause = 5
/** Questions of one utterance, or exchanges, from which somebody runs out of patience. */
const patience = { questions: 3, exchanges: 10 } as const

/** Dials that have remarks, in the order in which they are asked. */
const remarkDials: readonly Dial[] = [
  ...(['ashamed', 'anxious', 'selfDiagnosing', 'demanding', 'distrustful', 'pleasing'] as const),
  ...(['impatient', 'verbose', 'confused', 'forgetful', 'lowLiteracy'] as const),
]

/** Dials without remarks in a terse patient. */
const dropsWhenTerse: ReadonlySet<Dial> = new Set<Dial>([
  ...(['verbose', 'selfDiagnosing', 'demanding', 'lowLiteracy', 'forgetful'] as const),
])

/** What the biography tells of the illness, for those who like to tell. */
const detailSlots = ['impact', 'began', 'course'] as const

/** Details of the illness that were not told yet and can be told unasked. */
const tellDetails = (context: PatientContext): readonly string[] =>
  detailSlots.flatMap((slot) => {
    const text = biographySentence(slot, context)
    const fits = text !== undefined && !openingPolarity(text, context.language)
    return fits && !context.dialogue.some(({ reply }) => reply.text.includes(text)) ? [text] : []
  })

/** What a dial has to say at one of the moments. */
function remarksOf(
  dial: Dial,
  answer: string,
  moments: readonly ReplyMoment[],
  context: PatientContext,
): readonly string[] {
  const { demographics } = context.view
  const symptom = moments.includes('symptom')
  if (dial === 'selfDiagnosing') return (symptom && theoryOf(context)) || []
  if (dial === 'demanding') return (symptom && wishOf(context)) || []
  // Two sentences of an answer are enough of a good thing.
  if (dial === 'verbose' && stemsOf(answer, context.language).length > 1) return []
  const details = dial === 'verbose' && symptom ? tellDetails(context) : []
  if (details.length > 0) return details.slice(0, 1)
  const moment = moments.find((one) => remarks[dial]?.[one] !== undefined)
  if (moment === undefined) return []
  const carers = demographics.speaker === 'caregiver' ? carerRemarks[dial]?.[moment] : undefined
  const bank = carers ?? remarks[dial]?.[moment]
  return (bank?.[context.language] ?? []).map((text) => speakOfPatient(text, context))
}

/** A dial's remark; undefined where it has nothing to say that it has not just said. */
function remark(
  dial: Dial,
  answer: string,
  moments: readonly ReplyMoment[],
  topic: string,
  context: PatientContext,
): string | undefined {
  const bank = remarksOf(dial, answer, moments, context)
  const { dialogue } = context
  // Only a badly confused patient asks twice whether that was the question.
  const slight = dial === 'confused' && dialLevel(context.view.persona, dial) < 3
  if (slight && dialogue.some(({ reply }) => bank.some((text) => reply.text.includes(text))))
    return undefined
  const text = pickFresh(bank, context, ['remark', dial, topic], {
    turns: dialogue.length,
    saying: answer,
  })
  const said = dialogue.some(({ reply }) => reply.text.includes(text))
  const stale =
    said || stemAge(stemOf(text, context.language), context, answer) < Number.POSITIVE_INFINITY
  return text === '' || stale ? undefined : text
}

/** Everything that the dials can remark, by language; what a case makes of it is looked for by its beginning. */
const everyRemark = (language: Language): readonly string[] => [
  ...[remarks, carerRemarks].flatMap((dials) =>
    Object.values(dials)
      .flatMap((moments) => Object.values(moments))
      .flatMap((bank) => bank[language]),
  ),
  ...[...theories, ...wishes].flatMap((bank) => bank[language]),
]
const allRemarks = { en: everyRemark('en'), zh: everyRemark('zh') } as const

/** Whether the patient has remarked on something lately. */
function hasRemarked(context: PatientContext): boolean {
  const recent = context.dialogue.slice(-pause)
  return allRemarks[context.language].some((remarked) => {
    const text = speakOfPatient(remarked, context)
    return recent.some(({ reply }) => reply.text.endsWith(text))
  })
}

/**
 * Adds a remark of the persona to an answer, at most one: two would be a caricature. None follows what is grave, nor one
 * of the turns before.
 * @param moments tells what the answer was about, the most telling first; nothing for one that nobody comments on
 * @param topic key of what the answer is about
 * @param questions number of questions that it answers @default 1
 */
export function applyManner(
  answer: string,
  moments: () => readonly ReplyMoment[],
  topic: string,
  context: PatientContext,
  questions = 1,
): string {
  const { view, seed, language } = context
  // Most patients have few dials turned.
  const dials = remarkDials.filter((dial) => view.persona[dial] !== undefined)
  if (dials.length === 0) return answer
  const about = moments()
  if (about.length === 0 || isGrave(answer)) return answer
  const worn = questions >= patience.questions || context.dialogue.length >= patience.exchanges
  const terse = dialLevel(view.persona, 'terse') >= 2
  for (const dial of dials) {
    const level = dialLevel(view.persona, dial)
    if (level === 0 || (terse && dropsWhenTerse.has(dial))) continue
    if (dial === 'impatient' && !worn) continue
    if (uniform(seed, 'remark', dial, topic) >= (remarkChance[level] ?? 0)) continue
    const added = remark(dial, answer, about, topic, context)
    if (added === undefined) continue
    return hasRemarked(context) ? answer : joinSentences([answer, added], language)
  }
  return answer
}

/** P(asks to hear a question again), by the level of the dial. */
const lossChance = [0, 0.12, 0.25, 0.4]
/** Turns for which kind words keep a confused patient on the thread. */
const reassuredTurns = 4
/** Turns in which a patient who is not very confused loses it once at most. */
const lostOnce = 20
/** Stigma of what a doctor asks so plainly that nobody loses the thread. */
const grave = 3

/** Words, or Chinese characters, of a question so short that nobody loses its thread. */
const longestBrief = { en: 12, zh: 10 } as const
const isBrief = (utterance: string): boolean => {
  const han = /\p{Script=Han}/u.test(utterance)
  return han
    ? (utterance.match(/\p{Script=Han}/gu)?.length ?? 0) <= longestBrief.zh
    : utterance.split(/\s+/).length <= longestBrief.en
}

/** Whether a confused patient loses the thread: only at a new, longer question, and not for some turns after kind words. */
export function losesThread(
  topic: string,
  asked: readonly string[],
  context: PatientContext,
  utterance: string,
): boolean {
  const { view, seed, dialogue } = context
  const level = dialLevel(view.persona, 'confused')
  if (level === 0 || (level < 3 && isBrief(utterance))) return false
  // Only a badly confused patient loses it twice.
  const lately = level < 3 ? dialogue : dialogue.slice(-reassuredTurns)
  if (lately.some(({ reply }) => reply.understood === 'unclear')) return false
  if (dialogue.slice(-reassuredTurns).some(({ reply }) => reply.understood === 'courtesy'))
    return false
  if (dialogue.some(({ reply }) => asked.some((id) => reply.asked.includes(id)))) return false
  const lost = dialogue.slice(-lostOnce).some(({ reply }) => reply.understood === 'unclear')
  if ((lost && level < 3) || asked.some((id) => (view.findings.get(id)?.stigma ?? 0) >= grave))
    return false
  return uniform(seed, 'thread', topic) < (lossChance[level] ?? 0)
}

/** P(a technical term is not known), by the level of the dial. */
const unknownChance = [0, 0.35, 0.7, 1]

/** Whether the patient knows the technical terms for a finding. */
export const knowsJargon = (finding: string, { view, seed }: PatientContext): boolean =>
  uniform(seed, 'jargon', finding) >= (unknownChance[dialLevel(view.persona, 'lowLiteracy')] ?? 0)
