/**
 * What a patient tells of one finding: its state in the case, through noise that is drawn once per patient and
 * finding, so that asking again, earlier or in other words gives the same state.
 */
import type { FindingDefinition, Knowledge } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { dialOf } from '../../../persona.js'
import { pickWeighted, uniform } from '../../../seed.js'
import type { FindingState } from '../../../turn.js'
import { wording } from '../../wording.js'

type Listener = Pick<PatientContext, 'view' | 'seed' | 'language'>

/**
 * What becomes of a question about something the case does not record, three published answers to which give
 * different information: `unknown` says so, `deny` takes it for absent, `sample` draws it from the background.
 */
export type AbsentPolicy = 'unknown' | 'deny' | 'sample'

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

function unrecorded(finding: FindingDefinition, policy: AbsentPolicy, seed: number): FindingState {
  const { id, type, leak, states } = finding
  if (policy === 'sample') {
    const chances = typeof leak === 'number' ? [1 - leak, leak] : states.map((s) => leak[s] ?? 0)
    return states[pickWeighted(chances, seed, 'unrecorded', id)] ?? 'unknown'
  }
  return policy === 'deny' && type === 'bool' ? 'absent' : 'unknown'
}

/** P(not remembered) and P(told the wrong way round) that a persona adds to the tier's noise, by dial. */
const forgetting = [0, 0.05, 0.12, 0.25]
const fabrication = [0, 0.1, 0.2, 0.35]

/**
 * The state a patient tells: forgetting is drawn first, then a present finding may be denied and an absent one
 * reported. What the patient came in with is not in doubt, and what was not recorded is as `policy` says.
 */
export function toldState(
  finding: FindingDefinition,
  closed: boolean,
  { view, seed }: Listener,
  policy: AbsentPolicy = 'unknown',
): FindingState {
  const { id } = finding
  const { forget, deny, overReport } = view.noise
  const recorded = view.findings.get(id)?.state
  const state = closed ? 'absent' : (recorded ?? unrecorded(finding, policy, seed))
  if (!(closed || finding.say[state])) return 'unknown'
  if (view.complaint.findings.includes(id)) return state
  const lost = forgetting[dialOf(view.persona, 'forgetful')] ?? 0
  const unsure = forget + lost - forget * lost
  if (unsure > 0 && uniform(seed, 'forget', id) < unsure) return 'unknown'
  if (closed || finding.type !== 'bool') return state
  const made = fabrication[dialOf(view.persona, 'fabricating')] ?? 0
  if (made > 0 && uniform(seed, 'fabricate', id) < made)
    return state === 'present' ? 'absent' : 'present'
  if (state === 'present' && deny > 0 && uniform(seed, 'deny', id) < deny) return 'absent'
  if (state === 'absent' && overReport > 0 && uniform(seed, 'over-report', id) < overReport)
    return 'present'
  return state
}

/** P(the shortest sentence there is), by how terse the patient is. */
const brevity = [0, 0.4, 0.8, 1]

/**
 * The finding's own sentence for a state; often the shortest one of a terse patient.
 * @param unasked it answers no question just put
 */
export const sentenceFor = (
  finding: FindingDefinition,
  state: string,
  { view, seed, language }: Listener,
  unasked = false,
): string | undefined => {
  const brief = brevity[dialOf(view.persona, 'terse')] ?? 0
  return wording(finding, state, {
    ...{ seed, language, unasked },
    recorded: view.findings.get(finding.id),
    shortest: brief > 0 && uniform(seed, 'terse', finding.id) < brief,
  })
}

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
