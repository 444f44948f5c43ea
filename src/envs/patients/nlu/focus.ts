/** What is being spoken of, for questions that do not name it: "Where exactly?", "How long has it been?". */
import type { FindingDefinition, Knowledge } from '../../../knowledge/knowledge.js'
import type { Attribute } from '../../../knowledge/schema.js'
import type { PatientContext } from '../../../patient.js'
import type { Likest } from './likeness.js'

/** One thing an utterance asks about. */
export interface Topic {
  /** The finding that answers it. */
  readonly finding: string
  /** The complaint, where an attribute of one was asked for. */
  readonly of?: string
  readonly attribute?: Attribute
  /** Named by technical words alone. */
  readonly jargon?: boolean
  /** No finding records this attribute of the complaint; `finding` is the complaint itself. */
  readonly missing?: boolean
}

/** Findings that say more of another one, by complaint and attribute; those of the whole illness under ''. */
type Details = ReadonlyMap<string, ReadonlyMap<Attribute, string>>

const made = new WeakMap<Knowledge, Details>()

function detailsOf(knowledge: Knowledge): Details {
  const known = made.get(knowledge)
  if (known) return known
  const details = new Map<string, Map<Attribute, string>>()
  for (const { id, attribute, parent } of knowledge.findings) {
    if (attribute === undefined) continue
    // A grandchild is of its parent and of what that belongs to, where nothing nearer is.
    const above = parent ? ancestorsOf(knowledge, id) : ['']
    for (const complaint of above) {
      const own = details.get(complaint) ?? new Map<Attribute, string>()
      if (!own.has(attribute)) own.set(attribute, id)
      details.set(complaint, own)
    }
  }
  made.set(knowledge, details)
  return details
}

/** What a finding hangs from, the nearest first. */
export function ancestorsOf({ finding }: Knowledge, id: string): readonly string[] {
  const above: string[] = []
  for (let at = finding.get(id)?.parent; at; at = finding.get(at.finding)?.parent)
    above.push(at.finding)
  return above
}

/** What an attribute of a complaint is asked of: the finding that records it, or the complaint in vain. */
export function topicIn(knowledge: Knowledge, complaint: string, attribute: Attribute): Topic {
  const details = detailsOf(knowledge)
  const detail = details.get(complaint)?.get(attribute) ?? details.get('')?.get(attribute)
  return detail === undefined
    ? { finding: complaint, of: complaint, attribute, missing: true }
    : { finding: detail, of: complaint, attribute }
}

/** How much less like than the complaint its detail may be that a yes-or-no question mentions. */
const mentioned = 0.2
/** A named finding as a topic: itself, or what the sentence asks of it. */
export function topicOf(
  knowledge: Knowledge,
  id: string,
  wanted: readonly Attribute[],
  presence: boolean,
  like: Likest,
): Topic {
  const finding = knowledge.finding.get(id)
  const of = finding?.parent?.finding
  if (finding?.attribute !== undefined)
    return { finding: id, attribute: finding.attribute, ...(of === undefined ? {} : { of }) }
  if (finding?.kind !== 'symptom') return { finding: id }
  const all = wanted.map((attribute) => topicIn(knowledge, id, attribute))
  const own = all.find(
    (topic) =>
      !topic.missing &&
      (!presence ||
        (knowledge.finding.get(topic.finding)?.parent &&
          like.scoreOf(topic.finding) >= like.scoreOf(id) - mentioned)),
  )
  if (own) return own
  return presence ? { finding: id } : (all[0] ?? { finding: id })
}

/** Whether a finding says something of the whole illness, as how long it has lasted. */
export function isWhole({ finding }: Knowledge, id: string): boolean {
  const definition = finding.get(id)
  return definition?.attribute !== undefined && definition.parent === undefined
}

const isComplaint = (finding: FindingDefinition | undefined): boolean => finding?.kind === 'symptom'

/** The complaint last spoken of and not denied; before any, the one the patient came with. */
export function focusOf(knowledge: Knowledge, { dialogue, view }: PatientContext): string {
  for (let turn = dialogue.length - 1; turn >= 0; turn--)
    for (const { finding, state } of [...(dialogue[turn]?.reply.told ?? [])].reverse()) {
      if (state === 'absent' || state === 'unknown') continue
      const root = ancestorsOf(knowledge, finding).at(-1) ?? finding
      const definition = knowledge.finding.get(root)
      if (isComplaint(definition) && definition?.attribute === undefined) return root
    }
  return view.complaint.findings[0] ?? ''
}
