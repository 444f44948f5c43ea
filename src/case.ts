/**
 * The case: one patient's ground truth, and its typed views for doctor, patient, examiner and grader.
 *
 * Each view is a type of its own with a `view` tag, so handing the grader's view to a patient does not compile.
 * A view is built by copying permitted fields, never by deleting.
 */

import type { Persona } from './persona.js'
import { readOnlyMap } from './platform/freeze.js'
import { memoizeByIdentity } from './platform/memoize.js'

/** Terminologies that a code may come from. */
export const codeSystems = ['icd10', 'icd11', 'snomed', 'hpo', 'loinc', 'mondo', 'local'] as const

/** Kinds of finding. */
export const findingKinds = [
  'symptom',
  'antecedent',
  'medication',
  'allergy',
  'family',
  'social',
  'sign',
  'vital',
  'lab',
  'imaging',
  'pathology',
] as const

/** What a passage of a written record is about, for questions by kind ("any allergies?"). */
export const recordTopics = [
  ...(['complaint', 'course', 'system', 'past', 'surgery', 'transfusion', 'infection'] as const),
  ...(['allergy', 'medicine', 'smoking', 'alcohol', 'habits', 'menstrual', 'births'] as const),
  ...(['family', 'job', 'marriage', 'home', 'age', 'sex', 'name'] as const),
  ...(['idea', 'concern', 'expectation', 'other'] as const),
] as const

/** One of {@link recordTopics}. */
export type RecordTopic = (typeof recordTopics)[number]

/** A text in one language or both. */
export interface Text {
  readonly zh?: string | undefined
  readonly en?: string | undefined
}

/** A code of a terminology. */
export interface Code {
  readonly system: (typeof codeSystems)[number]
  readonly code: string
}

/** A recorded fact about the patient. An unlisted finding was not recorded, which is not the same as absent. */
export interface Finding {
  readonly id: string
  readonly kind: (typeof findingKinds)[number]
  /** `present`, `absent`, `unknown`, or a categorical finding's value. */
  readonly state: string
  /** The measured number behind the state. */
  readonly value?: number | undefined
  readonly knownBy: 'patient' | 'exam'
  /** How readily the patient mentions it after an open question, 0 to 1. */
  readonly salience: number
  /** How reluctantly the patient mentions it, 0 to 3. */
  readonly stigma: number
  /** Diagnostic weight, as history coverage counts it. */
  readonly weight?: number | undefined
  /** A recorded dialogue's own words: the doctor's question and the patient's answer. */
  readonly question?: Text | undefined
  readonly utterance?: Text | undefined
  /** What a passage of a written profile is about; a recorded exchange has its question instead. */
  readonly topic?: RecordTopic | undefined
}

/** Result of an examination, fixed when the case was made. */
export interface ExamResult {
  readonly exam: string
  readonly findings: readonly string[]
  readonly report: Text
  readonly abnormal: boolean
  readonly unavailable: boolean
}

/** A diagnosis with its accepted names and codes. */
export interface Diagnosis {
  readonly id: string
  readonly name: Text
  readonly aliases: readonly string[]
  readonly codes: readonly Code[]
  /** 1 is life-threatening, 5 is minor. */
  readonly severity?: number | undefined
}

/** Reference answer of a case: diagnoses, examinations, red flags, triage, recommended actions. */
export interface Gold {
  readonly dx: readonly (Diagnosis & { readonly role: 'primary' | 'comorbid' })[]
  /** Other diagnoses that earn partial credit. */
  readonly acceptable: readonly (Diagnosis & { readonly credit: number })[]
  readonly differential?: readonly { readonly id: string; readonly p: number }[] | undefined
  readonly exams?:
    | {
        readonly required: readonly string[]
        readonly neutral: readonly string[]
        readonly harmful: readonly string[]
      }
    | undefined
  readonly redFlags: readonly {
    readonly finding: string
    readonly mustAsk: boolean
    readonly action: string
  }[]
  readonly triage?:
    | { readonly scale: 'ESI' | 'MTS' | 'CTAS' | 'local5'; readonly level: number }
    | undefined
  readonly actions: readonly {
    readonly id: string
    readonly text: Text
    readonly polarity: 'recommend' | 'contraindicated'
    readonly weight: number
  }[]
  /** The recorded doctor's advice, in imported dialogues. */
  readonly recommendation?: Text | undefined
}

/** Probabilities of wrong answers. Answers are truthful when `deny` and `overReport` are 0. */
export interface Noise {
  /** P(an answer is "I don't know"), whatever the truth. */
  readonly forget: number
  /** P(a present finding is denied). */
  readonly deny: number
  /** P(an absent finding is reported). */
  readonly overReport: number
}

/** What a patient can tell of their life, by question (`job`, `home`, `course`); `{age}` stands for the age. */
export type Biography = Readonly<Record<string, Text>>

/** One patient's ground truth. Case files hold one per line (JSONL); `storage/case-schema.ts` checks them. */
export interface Case {
  readonly schema: 'bedside-case/1'
  readonly id: string
  readonly seed?: number | undefined
  readonly provenance: {
    readonly source: string
    readonly license: string
    readonly url?: string | undefined
    readonly synthetic: boolean
    readonly generator?: string | undefined
    /** A marker to test whether a trained model has seen this case. */
    readonly canary?: string | undefined
    readonly redistributable: boolean
    readonly split?: 'train' | 'heldout' | undefined
  }
  readonly demographics: {
    readonly age?: { readonly v: number; readonly unit: 'day' | 'month' | 'year' } | undefined
    readonly sex?: 'F' | 'M' | 'X' | undefined
    readonly pregnant?: boolean | undefined
    readonly speaker: 'self' | 'caregiver' | 'interpreter'
    readonly relation?: Text | undefined
  }
  readonly chiefComplaint: { readonly text: Text; readonly findings: readonly string[] }
  readonly findings: readonly Finding[]
  readonly biography?: Biography | undefined
  readonly exams: readonly ExamResult[]
  /** Result of an examination not listed here. */
  readonly examDefault: 'normal' | 'unavailable' | 'simulate'
  readonly noise: Noise
  readonly persona: Persona
  readonly gold: Gold
  readonly difficulty?:
    | {
        readonly tier?: string | undefined
        readonly bayesCeiling?: number | undefined
        readonly confusability?: number | undefined
      }
    | undefined
}

/** The text in `language`, with the other language as fallback. */
export const textInLanguage = (text: Text, language: 'zh' | 'en'): string =>
  text[language] ?? text.en ?? text.zh ?? ''

/** The doctor's view: demographics and complaint, known before the first turn. */
export interface DoctorView {
  readonly view: 'doctor'
  readonly demographics: Case['demographics']
  readonly complaint: Text
}

/**
 * The patient's view: findings known to the patient, without examination findings, diagnosis or id (the id of a
 * generated case or a twin tells its disease).
 */
export interface PatientView {
  readonly view: 'patient'
  readonly demographics: Case['demographics']
  readonly complaint: Case['chiefComplaint']
  readonly findings: ReadonlyMap<string, Finding>
  readonly biography?: Biography | undefined
  readonly noise: Noise
  readonly persona: Persona
}

/** What every examiner may know of a case. */
interface ExaminerFields {
  readonly demographics: Case['demographics']
  readonly complaint: Text
  /** What the patient knows of the illness: the history that is written down before an examination. */
  readonly history: ReadonlyMap<string, Finding>
  readonly findings: ReadonlyMap<string, Finding>
  readonly results: ReadonlyMap<string, ExamResult>
  readonly examDefault: Case['examDefault']
}

/** The examiner's view: complaint, history, examination findings and fixed results, without diagnosis. */
export interface ExaminerView extends ExaminerFields {
  readonly view: 'examiner'
}

/** The view of an examiner who is told the diagnosis, as DiagGym is; a type of its own, so that no other one is. */
export interface InformedExaminerView extends ExaminerFields {
  readonly view: 'informed-examiner'
  readonly diagnoses: Gold['dx']
}

/** The grader's view, for rewards: all findings and the gold, without persona or noise. */
export interface GraderView {
  readonly view: 'grader'
  readonly caseId: string
  readonly complaint: Case['chiefComplaint']
  readonly findings: readonly Finding[]
  readonly gold: Gold
  readonly provenance: Case['provenance']
}

/** Copies the doctor's view of a case. */
export const doctorView = (truth: Case): DoctorView => ({
  view: 'doctor',
  demographics: truth.demographics,
  complaint: truth.chiefComplaint.text,
})

/** Findings by who knows them. Siblings share them: to copy them was a quarter of what a short consultation allocates. */
const findingsByKnower = memoizeByIdentity((findings: Case['findings']) => {
  const known = (who: Finding['knownBy']) =>
    readOnlyMap(findings.filter(({ knownBy }) => knownBy === who).map((one) => [one.id, one]))
  return { patient: known('patient'), exam: known('exam') }
})

const resultsByExam = memoizeByIdentity((exams: Case['exams']) =>
  readOnlyMap(exams.map((result) => [result.exam, result])),
)

/** The patient's view of a case, whose findings are not to change afterwards. */
export const patientView = (truth: Case): PatientView => ({
  view: 'patient',
  demographics: truth.demographics,
  complaint: truth.chiefComplaint,
  findings: findingsByKnower(truth.findings).patient,
  ...(truth.biography ? { biography: truth.biography } : {}),
  noise: truth.noise,
  persona: truth.persona,
})

/** The examiner's view of a case, whose findings and results are not to change afterwards. */
export const examinerView = (truth: Case): ExaminerView => ({
  view: 'examiner',
  demographics: truth.demographics,
  complaint: truth.chiefComplaint.text,
  history: findingsByKnower(truth.findings).patient,
  findings: findingsByKnower(truth.findings).exam,
  results: resultsByExam(truth.exams),
  examDefault: truth.examDefault,
})

/** Adds the diagnosis to an examiner's view of a case. */
export const informedExaminerView = (
  { view: _, ...fields }: ExaminerView,
  truth: Case,
): InformedExaminerView => ({ ...fields, view: 'informed-examiner', diagnoses: truth.gold.dx })

/** Copies the grader's view of a case. */
export const graderView = (truth: Case): GraderView => ({
  view: 'grader',
  caseId: truth.id,
  complaint: truth.chiefComplaint,
  findings: truth.findings,
  gold: truth.gold,
  provenance: truth.provenance,
})

/** Id of the diagnosis of a recorded case whose diagnosis nobody wrote down: nothing a doctor names is right or wrong. */
export const unrecordedDiagnosis = 'not-recorded'

/** The primary diagnosis: the one with that role, or else the first. */
export function primaryDiagnosis(gold: Pick<Gold, 'dx'>): Gold['dx'][number] {
  // The schema asks for at least one diagnosis.
  return gold.dx.find((dx) => dx.role === 'primary') ?? (gold.dx[0] as Gold['dx'][number])
}
