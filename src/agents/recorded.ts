/** The recorded doctor: replays what the doctor of a recorded dialogue asked, and concludes the same. */
import type { Agent } from '../agent.js'
import type { Case, DoctorView } from '../case.js'
import { doctorView, inLanguage, primary } from '../case.js'
import type { Action, Language } from '../turn.js'

/** What is known of a patient before the first question, as one string. */
const intakeKey = ({ complaint, demographics }: DoctorView): string =>
  JSON.stringify([complaint.zh, complaint.en, demographics.age, demographics.sex])

function conclusion({ gold }: Case, language: Language): Action {
  const diagnosis = inLanguage(primary(gold).name, language)
  return gold.recommendation
    ? { kind: 'diagnose', diagnosis, recommendation: inLanguage(gold.recommendation, language) }
    : { kind: 'diagnose', diagnosis }
}

/**
 * A doctor that knows the cases it meets: asks the recorded questions in their order, as many as the turns
 * allow, and then names the recorded diagnosis with the recorded advice. It has seen the answer, so it is
 * the ceiling of recorded dialogues and nothing else. Of two cases with one intake it plays the first.
 * It throws a RangeError for a patient it has no record of.
 */
export function recordedDoctor(cases: readonly Case[]): Agent {
  const known = new Map<string, Case>()
  for (const truth of cases) {
    const key = intakeKey(doctorView(truth))
    if (!known.has(key)) known.set(key, truth)
  }
  return ({ intake, turns, turnsLeft, language }) => {
    const truth = known.get(intakeKey(intake))
    if (!truth)
      throw new RangeError(
        `Expected the intake of one of ${cases.length} recorded cases, got \`${inLanguage(intake.complaint, language)}\``,
      )
    const questions = truth.findings.flatMap(({ question }) => question ?? [])
    const asked = turns.filter(({ action }) => action.kind === 'ask').length
    const next = questions[asked]
    return {
      action:
        next !== undefined && turnsLeft > 1
          ? { kind: 'ask', text: inLanguage(next, language) }
          : conclusion(truth, language),
    }
  }
}
