/**
 * A case: one patient's truth, with four typed views of it.
 *
 * Each view is a different type, told apart by its `view` tag, so that handing the grader's view to a
 * patient does not compile. A view is built by copying what its reader may know, never by deleting.
 */
import { z } from 'zod'

/** A text in one language or both. */
export const Text = z
  .object({ zh: z.string().min(1).optional(), en: z.string().min(1).optional() })
  .refine((text) => text.zh !== undefined || text.en !== undefined, 'expected a zh or an en text')
export type Text = { readonly zh?: string | undefined; readonly en?: string | undefined }

/** The text in `language`, or in the other one where it is not written. */
export const inLanguage = (text: Text, language: 'zh' | 'en'): string =>
  text[language] ?? text.en ?? text.zh ?? ''

export const Code = z.object({
  system: z.enum(['icd10', 'icd11', 'snomed', 'hpo', 'loinc', 'mondo', 'local']),
  code: z.string().min(1),
})
export type Code = z.infer<typeof Code>

export const FindingKind = z.enum([
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
])

/** A recorded fact about the patient; what is not listed was not recorded, which is not the same as absent. */
export const Finding = z.object({
  id: z.string().min(1),
  kind: FindingKind,
  /** `present`, `absent`, `unknown`, or a categorical finding's value. */
  state: z.string().min(1),
  /** The number behind the state, where it was measured. */
  value: z.number().optional(),
  knownBy: z.enum(['patient', 'exam']),
  /** How readily it is told to an open question, 0 to 1. */
  salience: z.number().min(0).max(1).default(0.5),
  /** How reluctantly it is told, 0 to 3. */
  stigma: z.number().int().min(0).max(3).default(0),
  /** How much it says about the diagnosis; the weight of history coverage. */
  weight: z.number().nonnegative().optional(),
  /** A recorded dialogue's own words: the doctor's question and the patient's answer. */
  question: Text.optional(),
  utterance: Text.optional(),
})
export type Finding = z.infer<typeof Finding>

/** An examination's result, fixed when the case was made. */
export const ExamResult = z.object({
  exam: z.string().min(1),
  findings: z.array(z.string()),
  report: Text,
  abnormal: z.boolean(),
  unavailable: z.boolean().default(false),
})
export type ExamResult = z.infer<typeof ExamResult>

const Diagnosis = z.object({
  id: z.string().min(1),
  name: Text,
  aliases: z.array(z.string()).default([]),
  codes: z.array(Code).default([]),
  /** 1 is life-threatening, 5 is minor. */
  severity: z.number().int().min(1).max(5).optional(),
})

export const Gold = z.object({
  dx: z.array(Diagnosis.extend({ role: z.enum(['primary', 'comorbid']) })).min(1),
  /** Other diagnoses that earn part of the credit. */
  acceptable: z.array(Diagnosis.extend({ credit: z.number().min(0).max(1) })).default([]),
  differential: z.array(z.object({ id: z.string(), p: z.number().min(0).max(1) })).optional(),
  exams: z
    .object({
      required: z.array(z.string()).default([]),
      neutral: z.array(z.string()).default([]),
      harmful: z.array(z.string()).default([]),
    })
    .optional(),
  redFlags: z
    .array(z.object({ finding: z.string(), mustAsk: z.boolean(), action: z.string() }))
    .default([]),
  triage: z
    .object({ scale: z.enum(['ESI', 'MTS', 'CTAS', 'local5']), level: z.number().int() })
    .optional(),
  actions: z
    .array(
      z.object({
        id: z.string(),
        text: Text,
        polarity: z.enum(['recommend', 'contraindicated']),
        weight: z.number(),
      }),
    )
    .default([]),
  /** What the recorded doctor advised, for imported dialogues. */
  recommendation: Text.optional(),
})
export type Gold = z.infer<typeof Gold>

/** How often answers go wrong; truth-preserving when `deny` and `overReport` are 0. */
export const Noise = z.object({
  /** P(an answer is "I don't know"), whatever the truth. */
  forget: z.number().min(0).max(1).default(0),
  /** P(a present finding is denied). */
  deny: z.number().min(0).max(1).default(0),
  /** P(an absent finding is reported). */
  overReport: z.number().min(0).max(1).default(0),
})
export type Noise = z.infer<typeof Noise>

/** One patient's truth. Files hold one a line (JSONL). */
export const Case = z.object({
  schema: z.literal('bedside-case/1'),
  id: z.string().min(1),
  seed: z.number().int().nonnegative().optional(),
  provenance: z.object({
    source: z.string().min(1),
    license: z.string().min(1),
    url: z.string().optional(),
    synthetic: z.boolean(),
    generator: z.string().optional(),
    /** A marker that lets a trained model be tested for having seen this case. */
    canary: z.string().optional(),
    redistributable: z.boolean(),
    split: z.enum(['train', 'heldout']).optional(),
  }),
  demographics: z.object({
    age: z
      .object({ v: z.number().min(0).max(130), unit: z.enum(['day', 'month', 'year']) })
      .optional(),
    sex: z.enum(['F', 'M', 'X']).optional(),
    pregnant: z.boolean().optional(),
    speaker: z.enum(['self', 'caregiver', 'interpreter']).default('self'),
    relation: Text.optional(),
  }),
  chiefComplaint: z.object({ text: Text, findings: z.array(z.string()) }),
  findings: z.array(Finding),
  exams: z.array(ExamResult),
  /** What an examination that is not listed gives. */
  examDefault: z.enum(['normal', 'unavailable', 'simulate']),
  noise: Noise.default({ forget: 0, deny: 0, overReport: 0 }),
  gold: Gold,
  difficulty: z
    .object({ tier: z.string(), bayesCeiling: z.number(), confusability: z.number() })
    .partial()
    .optional(),
})
export type Case = z.infer<typeof Case>

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
