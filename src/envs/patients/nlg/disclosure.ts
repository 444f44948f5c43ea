/** Disclosure: whether a patient withholds a sensitive finding, and which findings are volunteered. */
import type { FindingDefinition } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { uniformInt } from '../../../seed.js'
import { normaliseText } from '../../../text/phrase-search.js'
import { reportedState } from './recall.js'

/** Tactful words, in the normal form, that make it easier to speak of a sensitive matter. */
const tactful =
  /\b(?:between us|confidential|confidence|private|privately|in private|stays? (?:here|in this room|with me)|(?:nothing|none of it|no word) .{0,20}leaves? (?:here|this room)|you can trust me|many (?:people|patients|women|men)|lots of people|common|nothing to be ashamed|no shame|not (?:here to )?judg\w+|no judg\w+|if you dont mind|if (?:thats|it is|its) (?:ok|okay|all right|alright)|i have to ask|ask everyone|ask everybody)\b|保密|隐私|不会(?:告诉|说出去|外传)|只有(?:我们|你我)|很多人|不少人|不用不好意思|别不好意思|不丢人|没什么丢人|不会(?:笑话|评判)|方便(?:说|问|讲)|每个(?:病人|患者)都(?:要|会)?问|例行/

/** Whether an utterance is tactful. */
export const isTactful = (utterance: string): boolean => tactful.test(normaliseText(utterance).text)

/** The trust needed to disclose a finding; 0 if it is always disclosed. */
function neededTrust({ stigma }: FindingDefinition, { view: { persona } }: PatientContext): number {
  if (stigma === 0) return 0
  const guard = Math.max(dialLevel(persona, 'distrustful'), dialLevel(persona, 'ashamed'))
  return Math.max(0, stigma + guard - 3)
}

/** Trust that tactful words add: as much later on as where they are said. */
const tact = 2

/** Trust so far: turns with kind words or an earlier question about the finding, and tactful words once. */
function trust({ dialogue }: PatientContext, utterance: string, finding: string): number {
  let sum = 0
  for (const { reply } of dialogue)
    if (reply.understood === 'courtesy' || reply.asked.includes(finding)) sum += 1
  const told = isTactful(utterance) || dialogue.some((one) => isTactful(one.utterance))
  return told ? sum + tact : sum
}

/** Whether the patient has reported a finding before. */
export const wasReported = ({ dialogue }: PatientContext, id: string): boolean =>
  dialogue.some(({ reply }) => reply.told.some(({ finding }) => finding === id))

/**
 * Whether the patient withholds a finding. Its state does not matter, so that withholding reveals nothing; a finding
 * reported before is not withheld.
 */
export function withholds(
  finding: FindingDefinition,
  utterance: string,
  context: PatientContext,
): boolean {
  const needed = neededTrust(finding, context)
  if (needed === 0 || wasReported(context, finding.id)) return false
  return trust(context, utterance, finding.id) < needed
}

/** Complaints that the patient volunteers: present, reported as present, not yet reported, and not sensitive. */
export function findingsToVolunteer(
  complaints: readonly FindingDefinition[],
  context: PatientContext,
): readonly FindingDefinition[] {
  const { view, seed, dialogue } = context
  const { persona } = view
  const reserved = dialLevel(persona, 'distrustful') >= 3
  if (reserved && !dialogue.some(({ reply }) => reply.understood === 'courtesy')) return []
  const present = complaints.flatMap((finding) => {
    const recorded = view.findings.get(finding.id)
    return recorded?.state === 'present' && recorded.stigma === 0
      ? [{ finding, salience: recorded.salience }]
      : []
  })
  const next: FindingDefinition[] = []
  for (const { finding } of present.sort((a, b) => b.salience - a.salience)) {
    if (view.complaint.findings.includes(finding.id) || wasReported(context, finding.id)) continue
    if (reportedState(finding, false, context) !== 'present') continue
    next.push(finding)
    const most =
      dialLevel(persona, 'terse') >= 2
        ? 1
        : 1 +
          uniformInt(2, seed, 'open', next[0]?.id ?? '') +
          (dialLevel(persona, 'verbose') >= 2 ? 1 : 0)
    if (next.length >= most) break
  }
  return next
}
