/**
 * A case: one patient's truth, with four typed views of it.
 *
 * Each view is a different type, told apart by its `view` tag, so that handing the grader's view to a
 * patient does not compile. A view is built by copying what its reader may know, never by deleting.
 */

import type { Persona } from './persona.js'
import type * as schema from './storage/case-schema.js'

/** A text in one language or both. */
export type Text = schema.Text
export type Code = schema.Code
/** A recorded fact about the patient; what is not listed was not recorded, which is not the same as absent. */
export type Finding = schema.Finding
/** An examination's result, fixed when the case was made. */
export type ExamResult = schema.ExamResult
export type Gold = schema.Gold
/** How often answers go wrong; truth-preserving when `deny` and `overReport` are 0. */
export type Noise = schema.Noise
/** One patient's truth. Files hold one a line (JSONL). */
export type Case = schema.Case

/** The text in `language`, or in the other one where it is not written. */
export const inLanguage = (text: Text, language: 'zh' | 'en'): string =>
  text[language] ?? text.en ?? text.zh ?? ''

/** What the doctor is told before the first turn. */
export interface DoctorView {
  readonly view: 'doctor'
  readonly demographics: Case['demographics']
  readonly complaint: Text
}

/** What the patient knows of themselves: no examination findings, no diagnosis. */
export interface PatientView {
  readonly view: 'patient'
  readonly caseId: string
  readonly demographics: Case['demographics']
  readonly complaint: Case['chiefComplaint']
  readonly findings: ReadonlyMap<string, Finding>
  readonly noise: Noise
  readonly persona: Persona
}

/** What examinations can find: results fixed with the case, no diagnosis. */
export interface ExaminerView {
  readonly view: 'examiner'
  readonly caseId: string
  readonly demographics: Case['demographics']
  readonly findings: ReadonlyMap<string, Finding>
  readonly results: ReadonlyMap<string, ExamResult>
  readonly examDefault: Case['examDefault']
}

/** Everything, for whoever scores. */
export interface GraderView {
  readonly view: 'grader'
  readonly caseId: string
  readonly complaint: Case['chiefComplaint']
  readonly findings: readonly Finding[]
  readonly gold: Gold
  readonly provenance: Case['provenance']
}

export const doctorView = (truth: Case): DoctorView => ({
  view: 'doctor',
  demographics: truth.demographics,
  complaint: truth.chiefComplaint.text,
})

export const patientView = (truth: Case): PatientView => ({
  view: 'patient',
  caseId: truth.id,
  demographics: truth.demographics,
  complaint: truth.chiefComplaint,
  findings: new Map(
    truth.findings.filter((f) => f.knownBy === 'patient').map((f) => [f.id, f] as const),
  ),
  noise: truth.noise,
  persona: truth.persona,
})

export const examinerView = (truth: Case): ExaminerView => ({
  view: 'examiner',
  caseId: truth.id,
  demographics: truth.demographics,
  findings: new Map(
    truth.findings.filter((f) => f.knownBy === 'exam').map((f) => [f.id, f] as const),
  ),
  results: new Map(truth.exams.map((result) => [result.exam, result] as const)),
  examDefault: truth.examDefault,
})

export const graderView = (truth: Case): GraderView => ({
  view: 'grader',
  caseId: truth.id,
  complaint: truth.chiefComplaint,
  findings: truth.findings,
  gold: truth.gold,
  provenance: truth.provenance,
})

/** The primary diagnosis of a case. */
export function primary(gold: Gold): Gold['dx'][number] {
  // The schema asks for at least one diagnosis.
  return gold.dx.find((dx) => dx.role === 'primary') ?? (gold.dx[0] as Gold['dx'][number])
}
