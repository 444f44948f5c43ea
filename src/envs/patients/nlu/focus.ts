/** Dialogue focus: the complaint that questions like "Where exactly?" or "How long has it been?" refer to. */
import type {
  FindingAttribute,
  FindingDefinition,
  Knowledge,
} from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import type { PatientContext } from '../../../patient.js'
import type { SimilarityMatch } from './similarity.js'

/** One thing an utterance asks about. */
export interface Topic {
  /** The finding that answers it. */
  readonly finding: string
  /** The complaint, where an attribute of one was asked for. */
  readonly of?: string
  readonly attribute?: FindingAttribute
  /** Not named: taken for it by similarity. */
  readonly guessed?: boolean
  /** Named by technical words alone. */
  readonly jargon?: boolean
  /** No finding records this attribute of the complaint; `finding` is the complaint itself. */
  readonly missing?: boolean
}

/** Findings that record an attribute, by complaint and attribute; those of the whole illness under ''. */
type Details = ReadonlyMap<string, ReadonlyMap<FindingAttribute, string>>

const detailTable = perKnowledge((knowledge): Details => {
  const details = new Map<string, Map<FindingAttribute, string>>()
  for (const { id, attribute, parent } of knowledge.findings) {
    if (attribute === undefined) continue
    // A grandchild belongs to its parent, and to the parent's ancestors that have no nearer detail.
    const above = parent ? findAncestors(knowledge, id) : ['']
    for (const complaint of above) {
      const own = details.get(complaint) ?? new Map<FindingAttribute, string>()
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

/** The topic of an attribute of a complaint: the finding that records it, else the complaint, as `missing`. */
export function attributeTopic(
  knowledge: Knowledge,
  complaint: string,
  attribute: FindingAttribute,
): Topic {
  const details = detailTable(knowledge)
  const detail = details.get(complaint)?.get(attribute) ?? details.get('')?.get(attribute)
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
  wanted: readonly FindingAttribute[],
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

const isComplaint = (finding: FindingDefinition | undefined): boolean => finding?.kind === 'symptom'

/** Exchanges back that the doctor's last topic is remembered. */
const topicMemory = 6

/** The complaint that a finding belongs to: its topmost ancestor, where that is a symptom. */
function complaintOf(knowledge: Knowledge, id: string): string | undefined {
  const root = findAncestors(knowledge, id).at(-1) ?? id
  const definition = knowledge.finding.get(root)
  return isComplaint(definition) && definition?.attribute === undefined ? root : undefined
}

/** Complaints that the doctor asked about and the patient has, the last one first. */
function askedComplaints(knowledge: Knowledge, { dialogue }: PatientContext): string[] {
  return dialogue
    .slice(-topicMemory)
    .reverse()
    .flatMap(({ reply: { asked, told } }) =>
      told.filter(
        ({ finding, state }) =>
          state !== 'absent' && state !== 'unknown' && asked.includes(finding),
      ),
    )
    .flatMap(({ finding }) => complaintOf(knowledge, finding) ?? [])
}

/**
 * The complaint that doctor and patient are talking about: the last one the doctor asked about that the patient has,
 * else the chief complaint, never one that was merely volunteered, unless only it fits. Undefined where the patient has
 * none that fits.
 * @param fits whether the question can be about a complaint @default all fit
 */
export function dialogueFocus(
  knowledge: Knowledge,
  context: PatientContext,
  fits: (id: string) => boolean = () => true,
): string | undefined {
  const { dialogue, view } = context
  const chief = view.complaint.findings.map((id) => complaintOf(knowledge, id) ?? id)
  const volunteered = [...dialogue]
    .reverse()
    .flatMap(({ reply }) => reply.told)
    .filter(({ state }) => state === 'present')
    .flatMap(({ finding }) => complaintOf(knowledge, finding) ?? [])
  const present = [...view.findings.values()]
    .filter(({ state, stigma }) => state === 'present' && stigma === 0)
    .sort((a, b) => b.salience - a.salience)
    .flatMap(({ id }) => complaintOf(knowledge, id) ?? [])
  return [...askedComplaints(knowledge, context), ...chief, ...volunteered, ...present].find(fits)
}
