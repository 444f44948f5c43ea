/**
 * The zod schema of a case, for files, imports and saved episodes. Not in `case.ts`, because loading zod takes longer
 * than all other work up to the first step.
 */
import { z } from 'zod'
import { type Case, codeSystems, findingKinds } from '../case.js'
import { type Dial, dials } from '../persona.js'

/** A text in one language or both. */
export const textSchema = z
  .object({ zh: z.string().min(1).optional(), en: z.string().min(1).optional() })
  .refine((text) => text.zh !== undefined || text.en !== undefined, 'expected a zh or an en text')

const codeSchema = z.object({ system: z.enum(codeSystems), code: z.string().min(1) })

const findingKindSchema = z.enum(findingKinds)

/** A recorded fact about the patient. An unlisted finding was not recorded, which is not the same as absent. */
export const findingSchema = z.object({
  id: z.string().min(1),
  kind: findingKindSchema,
  /** `present`, `absent`, `unknown`, or a categorical finding's value. */
  state: z.string().min(1),
  /** The measured number behind the state. */
  value: z.number().optional(),
  knownBy: z.enum(['patient', 'exam']),
  /** How readily the patient mentions it after an open question, 0 to 1. */
  salience: z.number().min(0).max(1).default(0.5),
  /** How reluctantly the patient mentions it, 0 to 3. */
  stigma: z.number().int().min(0).max(3).default(0),
  /** Diagnostic weight, as history coverage counts it. */
  weight: z.number().nonnegative().optional(),
  /** A recorded dialogue's own words: the doctor's question and the patient's answer. */
  question: textSchema.optional(),
  utterance: textSchema.optional(),
})

/** Result of an examination, fixed when the case was made. */
const examResultSchema = z.object({
  exam: z.string().min(1),
  findings: z.array(z.string()),
  report: textSchema,
  abnormal: z.boolean(),
  unavailable: z.boolean().default(false),
})

const diagnosisSchema = z.object({
  id: z.string().min(1),
  name: textSchema,
  aliases: z.array(z.string()).default([]),
  codes: z.array(codeSchema).default([]),
  /** 1 is life-threatening, 5 is minor. */
  severity: z.number().int().min(1).max(5).optional(),
})

/** Reference answer of a case: diagnoses, examinations, red flags, triage, recommended actions. */
export const goldSchema = z.object({
  dx: z.array(diagnosisSchema.extend({ role: z.enum(['primary', 'comorbid']) })).min(1),
  /** Other diagnoses that earn partial credit. */
  acceptable: z.array(diagnosisSchema.extend({ credit: z.number().min(0).max(1) })).default([]),
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
        text: textSchema,
        polarity: z.enum(['recommend', 'contraindicated']),
        weight: z.number(),
      }),
    )
    .default([]),
  /** The recorded doctor's advice, in imported dialogues. */
  recommendation: textSchema.optional(),
})

/** Probabilities of wrong answers. Answers are truthful when `deny` and `overReport` are 0. */
const noiseSchema = z.object({
  /** P(an answer is "I don't know"), whatever the truth. */
  forget: z.number().min(0).max(1).default(0),
  /** P(a present finding is denied). */
  deny: z.number().min(0).max(1).default(0),
  /** P(an absent finding is reported). */
  overReport: z.number().min(0).max(1).default(0),
})

/** The patient's persona by dial; a missing dial is 0. */
export const personaSchema = z.partialRecord(
  z.enum(Object.keys(dials) as [Dial, ...Dial[]]), // the keys of a literal, not empty
  z.number().int().min(0).max(3),
)

/** One patient's ground truth. Case files hold one per line (JSONL). */
export const caseSchema = z.object({
  schema: z.literal('bedside-case/1'),
  id: z.string().min(1),
  seed: z.number().int().nonnegative().optional(),
  provenance: z.object({
    source: z.string().min(1),
    license: z.string().min(1),
    url: z.string().optional(),
    synthetic: z.boolean(),
    generator: z.string().optional(),
    /** A marker to test whether a trained model has seen this case. */
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
    relation: textSchema.optional(),
  }),
  chiefComplaint: z.object({ text: textSchema, findings: z.array(z.string()) }),
  findings: z.array(findingSchema),
  exams: z.array(examResultSchema),
  /** Result of an examination not listed here. */
  examDefault: z.enum(['normal', 'unavailable', 'simulate']),
  noise: noiseSchema.default({ forget: 0, deny: 0, overReport: 0 }),
  persona: personaSchema.default({}),
  gold: goldSchema,
  difficulty: z
    .object({ tier: z.string(), bayesCeiling: z.number(), confusability: z.number() })
    .partial()
    .optional(),
}) satisfies z.ZodType<Case>
