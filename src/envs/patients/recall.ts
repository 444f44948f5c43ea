/**
 * What a patient tells of one finding: its state in the case, through noise that is drawn once per patient and
 * finding, so that asking again, earlier or in other words gives the same state.
 */
import type { FindingDefinition, Knowledge } from '../../knowledge.js'
import type { PatientContext } from '../../patient.js'
import { uniform } from '../../seed.js'
import type { FindingState } from '../../turn.js'
import { wording } from '../wording.js'

type Listener = Pick<PatientContext, 'view' | 'seed' | 'language'>

/** The topmost ancestor whose state keeps the finding from existing; none for a root or an open gate. */
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
  const open = state === undefined || state === 'unknown' || state === finding.parent?.when
  return open ? undefined : parent
}

/**
 * The state a patient tells: forgetting is drawn first, then a present finding may be denied and an absent one
 * reported. What the patient came in with is not in doubt, and what was not recorded is not known.
 */
export function toldState(
  finding: FindingDefinition,
  closed: boolean,
  { view, seed }: Listener,
): FindingState {
  const { id } = finding
  const { forget, deny, overReport } = view.noise
  const recorded = view.findings.get(id)?.state
  const state = closed ? 'absent' : recorded
  if (state === undefined || !(closed || finding.say[state])) return 'unknown'
  if (view.complaint.findings.includes(id)) return state
  if (forget > 0 && uniform(seed, 'forget', id) < forget) return 'unknown'
  if (closed || finding.type !== 'bool') return state
  if (state === 'present' && deny > 0 && uniform(seed, 'deny', id) < deny) return 'absent'
  if (state === 'absent' && overReport > 0 && uniform(seed, 'over-report', id) < overReport)
    return 'present'
  return state
}

/** The finding's own sentence for a state. */
export const sentenceFor = (
  finding: FindingDefinition,
  state: string,
  { view, seed, language }: Listener,
): string | undefined =>
  wording(finding, state, { seed, language, recorded: view.findings.get(finding.id) })

/** The sentence for a finding that cannot be there: its closed ancestor's, or its own where that one was misreported. */
export function closedSentence(
  finding: FindingDefinition,
  gate: FindingDefinition,
  listener: Listener,
): string | undefined {
  const state = listener.view.findings.get(gate.id)?.state ?? 'absent'
  const misreported = toldState(gate, false, listener) !== state
  const own = misreported ? sentenceFor(finding, 'absent', listener) : undefined
  return own ?? sentenceFor(gate, gate.say.absent ? 'absent' : state, listener)
}
