/** Dialogue focus: the complaint that questions like "Where exactly?" or "How long has it been?" refer to. */
import type { FindingDefinition, Knowledge } from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import type { PatientContext, Reply } from '../../../patient.js'
import type { RevealedFinding } from '../../../turn.js'
import type { AskedAttribute } from './attributes.js'
import type { SimilarityMatch } from './similarity.js'

/** One thing an utterance asks about. */
export interface Topic {
  /** The finding that answers it. */
  readonly finding: string
  /** The complaint, where an attribute of one was asked for. */
  readonly of?: string
  readonly attribute?: AskedAttribute
  /** Not named: taken for it by similarity. */
  readonly guessed?: boolean
  /** Named with words of another member of its list. */
  readonly joined?: boolean
  /** Named by technical words alone. */
  readonly jargon?: boolean
  /** No finding records this attribute of the complaint; `finding` is the complaint itself. */
  readonly missing?: boolean
}

/** Findings that record an attribute, by complaint and attribute; those of the whole illness under ''. */
type Details = ReadonlyMap<string, ReadonlyMap<AskedAttribute, string>>

const detailTable = perKnowledge((knowledge): Details => {
  const details = new Map<string, Map<AskedAttribute, string>>()
  for (const { id, attribute, parent } of knowledge.findings) {
    if (attribute === undefined) continue
    // A grandchild belongs to its parent, and to the parent's ancestors that have no nearer detail.
    const above = parent ? findAncestors(knowledge, id) : ['']
    for (const complaint of above) {
      const own = details.get(complaint) ?? new Map<AskedAttribute, string>()
      if (!own.has(attribute)) own.set(attribute, id)
      details.set(complaint, own)
    }
  }
  return details
})

/** Finds the ancestors of a finding, the nearest first. */
export function findAncestors({ finding }: Knowledge, id: string): readonly string[] {
  const above: string[] = []
  for (let at = finding.get(id)?.parent; at; at = finding.get(at.finding)?.parent)
    above.push(at.finding)
  return above
}

/** The attribute of a finding that holds what is asked for more closely. */
// biome-ignore format: one line
const widerAttribute: { readonly [attribute in AskedAttribute]?: AskedAttribute } = { side: 'site', score: 'severity', spell: 'duration' }

/** The finding that has a number on an instrument, such as how high a fever is. */
const readFinding = perKnowledge(({ details, finding }) =>
  finding.get(details.find(({ attribute }) => attribute === 'reading')?.of?.[0] ?? ''),
)

/** What a complaint looks like: of a cough, the colour of the phlegm. */
function characterOf(details: Details, complaint: string): string | undefined {
  const found = details.get(complaint)?.get('character')
  return found === undefined ? undefined : (characterOf(details, found) ?? found)
}

/** The topic of an attribute of a complaint: the finding that records it, else the complaint, as `missing`. */
export function attributeTopic(
  knowledge: Knowledge,
  complaint: string,
  attribute: AskedAttribute,
): Topic {
  // Only one thing is read off an instrument.
  const read = attribute === 'reading' ? readFinding(knowledge) : undefined
  if (read) return { finding: read.id, of: read.parent?.finding ?? read.id, attribute }
  const details = detailTable(knowledge)
  const own = details.get(complaint)
  // Whether it is there at night says nothing of whether it comes and goes.
  const timing = attribute === 'pattern' ? own?.get('timing') : undefined
  const pattern = knowledge.finding.get(timing ?? '')?.type === 'cat' ? timing : undefined
  const detail =
    own?.get(attribute) ??
    pattern ??
    (attribute === 'which' ? (own?.get('site') ?? own?.get('character')) : undefined) ??
    own?.get(widerAttribute[attribute] ?? attribute) ??
    (attribute === 'colour' ? characterOf(details, complaint) : undefined) ??
    details.get('')?.get(attribute)
  return detail === undefined
    ? { finding: complaint, of: complaint, attribute, missing: true }
    : { finding: detail, of: complaint, attribute }
}

/** How far the similarity of a detail in a yes-or-no question may be below that of its complaint. */
const maxDetailLag = 0.2

/**
 * The topic of a named finding: the finding itself, or one of its `wanted` attributes.
 * @param presence whether the sentence is a yes-or-no question
 */
export function findingTopic(
  knowledge: Knowledge,
  id: string,
  wanted: readonly AskedAttribute[],
  presence: boolean,
  similarity: SimilarityMatch,
): Topic {
  const finding = knowledge.finding.get(id)
  const of = finding?.parent?.finding
  if (finding?.attribute !== undefined)
    return { finding: id, attribute: finding.attribute, ...(of === undefined ? {} : { of }) }
  if (finding?.kind !== 'symptom') return { finding: id }
  const all = wanted.map((attribute) => attributeTopic(knowledge, id, attribute))
  const own = all.find(
    (topic) =>
      !topic.missing &&
      (!presence ||
        (knowledge.finding.get(topic.finding)?.parent &&
          similarity.scoreOf(topic.finding) >= similarity.scoreOf(id) - maxDetailLag)),
  )
  if (own) return own
  return presence ? { finding: id } : (all[0] ?? { finding: id })
}

/** Whether a finding is an attribute of the whole illness, such as its duration. */
export function isWholeIllness({ finding }: Knowledge, id: string): boolean {
  const definition = finding.get(id)
  return definition?.attribute !== undefined && definition.parent === undefined
}

/** Exchanges back that the doctor's last topic is remembered, and one other than a complaint. */
const [topicMemory, historyMemory] = [6, 2] as const

/**
 * The symptom that a finding is of: itself, or where it only describes another one, that one. Undefined where it
 * belongs to no symptom.
 */
function symptomOf(knowledge: Knowledge, id: string): string | undefined {
  for (const one of [id, ...findAncestors(knowledge, id)]) {
    const definition = knowledge.finding.get(one)
    if (definition?.kind !== 'symptom') return undefined
    const describes = definition.attribute !== undefined && !detailTable(knowledge).has(one)
    if (definition.type === 'bool' && !describes) return one
  }
  return undefined
}

/** Whether a finding was told as something the patient has. */
export const isKnown = ({ state }: RevealedFinding): boolean =>
  state !== 'absent' && state !== 'unknown'

/** The reply to the last question about a finding, where it is recent. */
const lastAnswer = ({ dialogue }: PatientContext): Reply | undefined =>
  dialogue.slice(-historyMemory).findLast(({ reply }) => reply.asked.length > 0)?.reply

/** What the doctor has just asked about, in any state, the last one first. */
export const lastAsked = (context: PatientContext): readonly string[] =>
  [...(lastAnswer(context)?.asked ?? [])].reverse()

/** What a reply says that the patient has: told, or asked for a detail that was then answered as of something known. */
const saidPresent = (
  { finding }: Knowledge,
  { asked, told }: Reply,
  { view, dialogue }: PatientContext,
): readonly string[] => {
  const admitted = (id: string): boolean =>
    dialogue.some(({ reply }) => reply.told.some((one) => one.finding === id && isKnown(one)))
  const detailed = asked.filter(
    (id) =>
      !told.some((one) => one.finding === id) &&
      (finding.get(id)?.stigma === 0 || admitted(id)) &&
      view.findings.get(id)?.state === 'present',
  )
  return [...told.filter(isKnown).map((one) => one.finding), ...detailed]
}

/** What the patient has just said to have, the last one first. */
export function lastPresent(knowledge: Knowledge, context: PatientContext): readonly string[] {
  const answer = lastAnswer(context)
  return answer ? [...saidPresent(knowledge, answer, context)].reverse() : []
}

/** What the patient has just told that is no symptom and fits: a habit, a medicine, a journey. */
export function lastHistory(
  knowledge: Knowledge,
  context: PatientContext,
  fits: (definition: FindingDefinition, told: RevealedFinding) => boolean = (_, told) =>
    isKnown(told),
): string | undefined {
  const answer = lastAnswer(context)
  if (!answer) return undefined
  const said = saidPresent(knowledge, answer, context)
    .filter((id) => !answer.told.some(({ finding }) => finding === id))
    .map((finding) => ({ finding, state: 'present' }))
  return [...said, ...answer.told].findLast((told) => {
    const definition = knowledge.finding.get(told.finding)
    return definition && definition.kind !== 'symptom' && fits(definition, told)
  })?.finding
}

/** Symptoms that the doctor asked about and the patient has, the last one first. */
const askedSymptoms = (knowledge: Knowledge, context: PatientContext): string[] =>
  context.dialogue
    .slice(-topicMemory)
    .reverse()
    .flatMap(({ reply }) =>
      saidPresent(knowledge, reply, context).filter((id) => reply.asked.includes(id)),
    )
    .flatMap((id) => symptomOf(knowledge, id) ?? [])

/**
 * The symptoms that a question can go on about, the likeliest first: those the doctor asked about, then what the patient
 * came with, the last ones first.
 */
export const followedSymptoms = (
  knowledge: Knowledge,
  context: PatientContext,
): readonly string[] => [
  ...new Set([
    ...askedSymptoms(knowledge, context),
    ...context.view.complaint.findings.flatMap((id) => symptomOf(knowledge, id) ?? id),
  ]),
]

/**
 * The symptom that doctor and patient are talking about: the first of {@link followedSymptoms}, never one that was merely
 * volunteered, unless only it fits. Undefined where the patient has none that fits.
 * @param fits whether the question can be about a symptom @default all fit
 */
export function dialogueFocus(
  knowledge: Knowledge,
  context: PatientContext,
  fits: (id: string) => boolean = () => true,
): string | undefined {
  const { dialogue, view } = context
  const volunteered = [...dialogue]
    .reverse()
    .flatMap(({ reply }) => reply.told)
    .filter(({ state }) => state === 'present')
    .flatMap(({ finding }) => symptomOf(knowledge, finding) ?? [])
  const present = [...view.findings.values()]
    .filter(({ state, stigma }) => state === 'present' && stigma === 0)
    .sort((a, b) => b.salience - a.salience)
    .flatMap(({ id }) => symptomOf(knowledge, id) ?? [])
  return [...followedSymptoms(knowledge, context), ...volunteered, ...present].find(fits)
}

/** What a question can ask of a finding that is no symptom, by its kind. */
const askedOfHistory: {
  readonly [kind in FindingDefinition['kind']]?: readonly AskedAttribute[]
} = {
  social: ['duration', 'spell', 'frequency', 'amount', 'which', 'character', 'severity'],
  medication: ['duration', 'frequency', 'amount', 'which', 'character', 'purpose', 'last'],
  allergy: ['which', 'character', 'severity', 'frequency'],
  // biome-ignore format: one line
  antecedent: ['duration', 'frequency', 'site', 'which', 'character', 'severity', 'amount', 'purpose', 'latency'],
  family: ['which', 'character'],
}

/** What of a habit or a medicine that was denied is met with the denial again. */
const ofDenied: ReadonlySet<AskedAttribute> = new Set(['amount', 'frequency', 'which', 'spell'])

/**
 * The topic of an attribute that a question asks for without naming a finding: of what the doctor has just asked about,
 * else of the symptom both are talking about. Undefined where the patient has no symptom that fits.
 * @param fits whether the question can be about a symptom
 */
export function followedTopic(
  knowledge: Knowledge,
  context: PatientContext,
  attribute: AskedAttribute,
  fits: (id: string) => boolean,
): Topic | undefined {
  // "How many days exactly?" goes on about the whole illness.
  const last = lastAsked(context)[0] ?? ''
  if (isWholeIllness(knowledge, last) && knowledge.finding.get(last)?.attribute === attribute)
    return { finding: last, attribute }
  const history = lastHistory(
    knowledge,
    context,
    // "How much in a week?" after a no is met with the no again; "since when?" is about the illness.
    ({ id, kind }, told) =>
      askedOfHistory[kind]?.includes(attribute) === true &&
      fits(id) &&
      (isKnown(told) || ofDenied.has(attribute)),
  )
  if (history !== undefined) return { finding: history, of: history, attribute, missing: true }
  // Only what comes in spells can be asked for their length, and only what spreads for where it spreads to.
  const inSpells = (id: string) =>
    (attribute === 'spell' || attribute === 'radiation') &&
    fits(id) &&
    !attributeTopic(knowledge, id, attribute).missing
  const focus =
    followedSymptoms(knowledge, context).find(inSpells) ?? dialogueFocus(knowledge, context, fits)
  if (focus === undefined) return undefined
  const topics = [focus, ...findAncestors(knowledge, focus)].map((id) =>
    attributeTopic(knowledge, id, attribute),
  )
  const own = topics.find(({ missing, finding }) => !missing && !isWholeIllness(knowledge, finding))
  return own ?? topics[0]
}
