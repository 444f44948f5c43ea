/**
 * Details that no finding records: which side, how often, how much, what the medicine is called. Each patient has one
 * answer, drawn by the seed without regard to the disease, so that it says nothing of it and never changes.
 */
import { ageInYears } from '../../../inference/posterior.js'
import { type Detail, fitsBand, type Knowledge } from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { uniformInt } from '../../../seed.js'
import type { AskedAttribute } from '../nlu/attributes.js'
import { biographySentence } from './biography-sentences.js'
import { pickFresh } from './fresh.js'
import { closedGate, reportedState } from './recall.js'
import { adaptToSpeaker } from './speaker.js'
import type { SentenceBank } from './stock-sentences.js'

const vague: SentenceBank = {
  en: [
    "I couldn't tell you that any more exactly.",
    "I really can't put it more precisely.",
    "That's as much as I know.",
    'Exactly? No idea.',
    'More than that I could only guess.',
  ],
  zh: [
    '再细的我就说不上来了。',
    '更具体的我也说不清。',
    '就知道这么多。',
    '细的记不清了。',
    '说不了那么细。',
  ],
}

const painful = /\b(?:pain|ache|aches|headache|sore)\b|疼|痛/

/** Whether a finding is a kind of pain, by its name. */
export const isPain = ({ finding }: Knowledge, id: string): boolean => {
  const name = finding.get(id)?.name
  return name !== undefined && (painful.test(name.en.toLowerCase()) || painful.test(name.zh))
}

/** The details of an attribute: by finding, and those of any symptom under ''. */
type OfAttribute = ReadonlyMap<string, readonly Detail[]>

const detailTable = perKnowledge(({ details }): ReadonlyMap<AskedAttribute, OfAttribute> => {
  const table = new Map<AskedAttribute, Map<string, Detail[]>>()
  for (const detail of details) {
    const own = table.get(detail.attribute) ?? new Map<string, Detail[]>()
    table.set(detail.attribute, own)
    for (const id of detail.of ?? [''])
      if (own.get(id)?.push(detail) === undefined) own.set(id, [detail])
  }
  return table
})

/** What is said instead, where nothing is written of an attribute. */
const instead: { readonly [attribute in AskedAttribute]?: readonly AskedAttribute[] } = {
  side: ['site'],
  score: ['severity'],
  amount: ['severity'],
  which: ['side'],
}

/** Whether a detail fits the patient's age and what the patient tells of other findings. */
function fits(knowledge: Knowledge, { ages, when = {} }: Detail, context: PatientContext): boolean {
  const { demographics } = context.view
  if (!fitsBand({ ages }, { age: ageInYears(demographics.age) })) return false
  return Object.entries(when).every(([id, states]) => {
    const finding = knowledge.finding.get(id)
    if (!finding) return false
    const closed = closedGate(knowledge, finding, context.view) !== undefined
    return states.includes(reportedState(finding, closed, context))
  })
}

/** One of the facts of a detail, in words not said lately. */
function factSentence(
  { attribute, draw = attribute, shared, facts = [] }: Detail,
  finding: string,
  context: PatientContext,
): string {
  const { seed, language, dialogue } = context
  const keys = shared ? [draw] : [draw, finding]
  const fact = facts[uniformInt(facts.length, seed, 'detail', ...keys)]
  const words = pickFresh(fact?.[language] ?? [], context, [
    ...['detail-words', finding, attribute],
    dialogue.length,
  ])
  return adaptToSpeaker(words, context)
}

/** Whether a detail is written for who does not have the finding: the last period of who has not missed any. */
const saysOfAbsent = ({ when }: Detail, finding: string): boolean =>
  when?.[finding]?.includes('absent') === true

/** What is written of an attribute, as this patient says it of a finding; undefined where nothing fits. */
function writtenDetail(
  knowledge: Knowledge,
  finding: string,
  attribute: AskedAttribute,
  context: PatientContext,
  of = finding,
  absent = false,
): string | undefined {
  for (const detail of detailTable(knowledge).get(attribute)?.get(of) ?? []) {
    if (!fits(knowledge, detail, context) || (absent && !saysOfAbsent(detail, finding))) continue
    if (detail.slot === undefined) return factSentence(detail, finding, context)
    const told = biographySentence(detail.slot, context)
    if (told !== undefined) return told
  }
  return undefined
}

/** Of a symptom of which nothing is written, what any symptom has. */
const anySymptom = ''

/** Marks out of ten are not for everybody. */
const marksFit = ({ view: { persona } }: PatientContext): boolean =>
  dialLevel(persona, 'lowLiteracy') < 2

/**
 * The detail that is written of this very finding, such as a side or a number; undefined where none is.
 * @param absent whether the patient does not have the finding @default false
 */
export const ownDetail = (
  knowledge: Knowledge,
  finding: string,
  attribute: AskedAttribute,
  context: PatientContext,
  absent = false,
): string | undefined =>
  attribute === 'score' && !marksFit(context)
    ? undefined
    : writtenDetail(knowledge, finding, attribute, context, finding, absent)

/** The patient's answer about an attribute of a complaint, or of what else was asked about, that no finding records. */
export function detailSentence(
  knowledge: Knowledge,
  finding: string,
  attribute: AskedAttribute,
  context: PatientContext,
): string {
  const asked = [attribute, ...(instead[attribute] ?? [])]
  const marks = (one: AskedAttribute) => one === 'score' || one === 'severity'
  const wanted = marksFit(context) ? asked : asked.filter((one) => one !== 'score')
  const symptom = knowledge.finding.get(finding)?.kind === 'symptom'
  const levels = symptom ? [finding, anySymptom] : [finding]
  for (const of of levels)
    for (const one of wanted) {
      if (of !== anySymptom && marks(one) && !marksFit(context)) continue
      const said = writtenDetail(knowledge, finding, one, context, of)
      if (said !== undefined) return said
    }
  const { dialogue, language } = context
  return pickFresh(vague[language], context, ['vague', finding, dialogue.length])
}
