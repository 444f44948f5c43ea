/**
 * Recall: the state of a finding that a patient reports. Noise is drawn once per patient and finding, so that asking
 * again, earlier or in other words gives the same state.
 */
import { isUnforgettable } from '../../../inference/generative-model.js'
import { type FindingDefinition, type Knowledge, opensGate } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { pickWeighted, uniform } from '../../../seed.js'
import type { FindingState } from '../../../turn.js'

type RecallContext = Pick<PatientContext, 'view' | 'seed'>

/**
 * What a question about an unrecorded finding gives. Of the three published conventions, which give different
 * information, `unknown` says so, `deny` reports it absent, and `sample` draws it from the background rate.
 */
export type AbsentPolicy = 'unknown' | 'deny' | 'sample'

/** The topmost ancestor whose state rules the finding out (a closed gate); none for a root or an open gate. */
export function closedGate(
  knowledge: Knowledge,
  finding: FindingDefinition,
  view: PatientContext['view'],
): FindingDefinition | undefined {
  const parent = finding.parent && knowledge.finding.get(finding.parent.finding)
  if (!parent) return undefined
  const above = closedGate(knowledge, parent, view)
  if (above) return above
  const state = view.findings.get(parent.id)?.state
  const open =
    state === undefined ||
    state === 'unknown' ||
    (finding.parent !== undefined && opensGate(finding.parent, state))
  return open ? undefined : parent
}

/** The state reported of a finding that the case does not record. */
function unrecordedState(
  finding: FindingDefinition,
  policy: AbsentPolicy,
  seed: number,
): FindingState {
  const { id, type, leak, states } = finding
  if (policy === 'sample') {
    const chances = typeof leak === 'number' ? [1 - leak, leak] : states.map((s) => leak[s] ?? 0)
    return states[pickWeighted(chances, seed, 'unrecorded', id)] ?? 'unknown'
  }
  return policy === 'deny' && type === 'bool' ? 'absent' : 'unknown'
}

/** P(forgotten) and P(reported the wrong way round) that a persona adds to the tier's noise, by the level of the dial. */
const forgetChance = [0, 0.05, 0.12, 0.25]
const fabricateChance = [0, 0.1, 0.2, 0.35]

/** Details of a symptom that slip the mind: when it began, and how often it came. */
const slippery: ReadonlySet<string | undefined> = new Set(['onset', 'duration', 'timing'])

/**
 * Whether a forgetful person can forget something: a date, an illness of old, a medicine, what relatives have; never what
 * is felt now, nor a habit.
 */
export const canSlip = ({ kind, attribute }: FindingDefinition): boolean =>
  kind === 'symptom' ? slippery.has(attribute) : kind !== 'social'

/**
 * The state a patient reports of a finding. Forgetting is drawn first, then a present finding may be denied and an
 * absent one over-reported. The chief complaint has no noise; unrecorded findings follow `policy`.
 * @param closed whether the gate of the finding is closed
 */
export function reportedState(
  finding: FindingDefinition,
  closed: boolean,
  { view, seed }: RecallContext,
  policy: AbsentPolicy = 'unknown',
): FindingState {
  const { id } = finding
  const { deny, overReport } = view.noise
  const forget = isUnforgettable(finding) ? 0 : view.noise.forget
  const recorded = view.findings.get(id)?.state
  const state = closed ? 'absent' : (recorded ?? unrecordedState(finding, policy, seed))
  if (!(closed || finding.say[state])) return 'unknown'
  if (view.complaint.findings.includes(id)) return state
  const lost = canSlip(finding) ? (forgetChance[dialLevel(view.persona, 'forgetful')] ?? 0) : 0
  const unsure = forget + lost - forget * lost
  if (unsure > 0 && uniform(seed, 'forget', id) < unsure) return 'unknown'
  if (closed || finding.type !== 'bool') return state
  const made = fabricateChance[dialLevel(view.persona, 'fabricating')] ?? 0
  if (made > 0 && uniform(seed, 'fabricate', id) < made)
    return state === 'present' ? 'absent' : 'present'
  if (state === 'present' && deny > 0 && uniform(seed, 'deny', id) < deny) return 'absent'
  if (state === 'absent' && overReport > 0 && uniform(seed, 'over-report', id) < overReport)
    return 'present'
  return state
}

/**
 * The ancestor of a finding that the patient denies though it is there: who has said that nothing hurts does not tell
 * where it hurts; undefined where what the patient reports leaves the finding open, or it is ruled out in any case.
 */
export function deniedAncestor(
  knowledge: Knowledge,
  finding: FindingDefinition,
  context: RecallContext,
): FindingDefinition | undefined {
  const parent = finding.parent && knowledge.finding.get(finding.parent.finding)
  if (!parent || !finding.parent || closedGate(knowledge, finding, context.view)) return undefined
  const above = deniedAncestor(knowledge, parent, context)
  if (above) return above
  const state = reportedState(parent, false, context)
  return state === 'unknown' || opensGate(finding.parent, state) ? undefined : parent
}
