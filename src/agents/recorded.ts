/** The recorded doctor: replays a recorded dialogue's questions and its diagnosis. */
import type { Agent } from '../agent.js'
import type { Case, DoctorView } from '../case.js'
import { doctorView, primaryDiagnosis, textInLanguage } from '../case.js'
import type { Action, Language } from '../turn.js'

/** Key of an intake: everything known of a patient before the first question, as one string. */
const intakeKey = ({ complaint, demographics }: DoctorView): string =>
  JSON.stringify([complaint.zh, complaint.en, demographics.age, demographics.sex])

/** The diagnosis that a case's record ends with, and its advice. */
export function recordedDiagnosis({ gold }: Case, language: Language): Action {
  const diagnosis = textInLanguage(primaryDiagnosis(gold).name, language)
  return gold.recommendation
    ? { kind: 'diagnose', diagnosis, recommendation: textInLanguage(gold.recommendation, language) }
    : { kind: 'diagnose', diagnosis }
}

/**
 * Makes a doctor that is given the cases it will meet: it asks the recorded questions in order, as many as the
 * turns allow, then gives the recorded diagnosis and advice. It knows the answer, so it is only the ceiling for
 * recorded dialogues. Of two cases with the same intake it plays the first. It throws a RangeError for a patient
 * whose intake is of none of the cases.
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
        `Expected the intake of one of ${cases.length} recorded cases, got \`${textInLanguage(intake.complaint, language)}\``,
      )
    const questions = truth.findings.flatMap(({ question }) => question ?? [])
    const asked = turns.filter(({ action }) => action.kind === 'ask').length
    const next = questions[asked]
    return {
      action:
        next !== undefined && turnsLeft > 1
          ? { kind: 'ask', text: textInLanguage(next, language) }
          : recordedDiagnosis(truth, language),
    }
  }
}
