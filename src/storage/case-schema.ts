/**
 * The zod schema of a case, for files, imports and saved episodes. Not in `case.ts`, because loading zod takes longer
 * than all other work up to the first step. The descriptions go into the JSON Schema and `docs/case-format.md`.
 */
import { z } from 'zod'
import { type Case, codeSystems, findingKinds, recordTopics } from '../case.js'
import { type Dial, dials } from '../persona.js'

const name = z.string().min(1)
const names = z.array(z.string())
const share = z.number().min(0).max(1)
/** A whole number within bounds. */
const level = (least: number, most: number) => z.number().int().min(least).max(most)

/** A text in one language or both. */
export const textSchema = z
  .object({
    zh: name.optional().describe('In Chinese.'),
    en: name.optional().describe('In English.'),
  })
  .refine((text) => text.zh !== undefined || text.en !== undefined, 'expected a zh or an en text')
  // What a refinement asks for is lost in a JSON Schema unless it is written there too.
  .meta({ anyOf: [{ required: ['zh'] }, { required: ['en'] }] })

const codeSchema = z.object({
  system: z.enum(codeSystems).describe('The terminology.'),
  code: name.describe('The code in it.'),
})

/** A recorded fact about the patient. An unlisted finding was not recorded, which is not the same as absent. */
export const findingSchema = z.object({
  id: name.describe(
    'The finding: an id of the knowledge base, or of your own in recorded dialogues.',
  ),
  kind: z.enum(findingKinds).describe('What kind of fact it is.'),
  state: name.describe('`present`, `absent`, `unknown`, or the value of a categorical finding.'),
  value: z.number().optional().describe('The number behind the state, where it was measured.'),
  knownBy: z
    .enum(['patient', 'exam'])
    .describe('Whether the patient can tell it, or only an examination can find it.'),
  salience: share.default(0.5).describe('How readily it is told in answer to an open question.'),
  stigma: level(0, 3)
    .default(0)
    .describe('How reluctantly it is told; above 0 it is never volunteered.'),
  weight: z
    .number()
    .nonnegative()
    .optional()
    .describe('How much it says about the diagnosis: its weight in history coverage.'),
  question: textSchema
    .optional()
    .describe(
      "The doctor's question in a recorded dialogue; with it the recorded patient answers.",
    ),
  utterance: textSchema.optional().describe("The patient's own words for it."),
  topic: z
    .enum(recordTopics)
    .optional()
    .describe(
      'What a passage of a written profile is about; with it the recorded patient answers.',
    ),
})

const examResultSchema = z.object({
  exam: name.describe('The id of the examination.'),
  findings: names.describe('The ids of the findings it shows.'),
  report: textSchema.describe('What the doctor reads.'),
  abnormal: z.boolean().describe('Whether anything in it is not normal.'),
  unavailable: z.boolean().default(false).describe('Whether it cannot be had for this patient.'),
})

const diagnosisSchema = z.object({
  id: name.describe('The id of the disease: of the knowledge base, or your own.'),
  name: textSchema.describe('Its name.'),
  aliases: names.default([]).describe('Other names that count as naming it.'),
  codes: z.array(codeSchema).default([]).describe('Its codes.'),
  severity: level(1, 5).optional().describe('1 is life-threatening, 5 is minor.'),
})

/** Reference answer of a case: diagnoses, examinations, red flags, triage, recommended actions. */
export const goldSchema = z.object({
  dx: z
    .array(
      diagnosisSchema.extend({
        role: z
          .enum(['primary', 'comorbid'])
          .describe('`primary` is the diagnosis asked for; `comorbid` stands beside it.'),
      }),
    )
    .min(1)
    .describe('What the patient has.'),
  acceptable: z
    .array(
      diagnosisSchema.extend({
        credit: share.describe('The share of the credit it earns.'),
      }),
    )
    .default([])
    .describe('Other diagnoses that earn part of the credit.'),
  differential: z
    .array(
      z.object({
        id: z.string().describe('The id of the disease.'),
        p: share.describe('Its probability.'),
      }),
    )
    .optional()
    .describe('Probabilities of diseases, given everything that can be found out.'),
  exams: z
    .object({
      required: names.default([]).describe('Ids of those a doctor should order.'),
      neutral: names.default([]).describe('Ids of those that neither earn nor cost anything.'),
      harmful: names.default([]).describe('Ids of those that do harm.'),
    })
    .optional()
    .describe('Which examinations were worth ordering; without it, examinations are not judged.'),
  redFlags: z
    .array(
      z.object({
        finding: z.string().describe('The id of the finding.'),
        mustAsk: z.boolean().describe('Whether the doctor has to ask about it in this case.'),
        action: z.string().describe('The id of the action it calls for where it is present.'),
      }),
    )
    .default([])
    .describe('Findings that call for urgent action.'),
  triage: z
    .object({
      scale: z.enum(['ESI', 'MTS', 'CTAS', 'local5']).describe('The triage scale.'),
      level: z.number().int().describe('The level on it, 1 (at once) to 5.'),
    })
    .optional()
    .describe('How soon the patient should be seen.'),
  actions: z
    .array(
      z.object({
        id: z.string().describe('The id of the action.'),
        text: textSchema.describe('The advice in words.'),
        polarity: z
          .enum(['recommend', 'contraindicated'])
          .describe('Whether it should be advised or must not be.'),
        weight: z.number().describe('How much it matters among the others.'),
      }),
    )
    .default([])
    .describe('What a recommendation should hold, and what it must not.'),
  recommendation: textSchema
    .optional()
    .describe('What the recorded doctor advised, in imported dialogues.'),
})

const noiseSchema = z.object({
  forget: share.default(0).describe('P(an answer is "I do not know").'),
  deny: share.default(0).describe('P(a present finding is denied).'),
  overReport: share.default(0).describe('P(an absent finding is reported).'),
})

/** The patient's persona by dial; a missing dial is 0. */
export const personaSchema = z.partialRecord(
  z.enum(Object.keys(dials) as [Dial, ...Dial[]]), // the keys of a literal, not empty
  level(0, 3),
)

const provenanceSchema = z.object({
  source: name.describe('Where the case comes from.'),
  license: name.describe('Its licence.'),
  url: z.string().optional().describe('Where the source can be read.'),
  synthetic: z.boolean().describe('Whether it was made up rather than recorded.'),
  generator: z.string().optional().describe('What generated it.'),
  canary: z
    .string()
    .optional()
    .describe('A marker that lets a trained model be tested for having seen this case.'),
  redistributable: z.boolean().describe('Whether it may be passed on.'),
  split: z
    .enum(['train', 'heldout'])
    .optional()
    .describe(
      'The split it was made for; with `--split` of that name a file all of one split is played whole, but not by a run that was trained on it.',
    ),
})

const demographicsSchema = z.object({
  age: z
    .object({
      v: z.number().min(0).max(130).describe('The number.'),
      unit: z.enum(['day', 'month', 'year']).describe('Its unit.'),
    })
    .optional()
    .describe("The patient's age."),
  sex: z.enum(['F', 'M', 'X']).optional().describe("The patient's sex."),
  pregnant: z.boolean().optional().describe('Whether the patient is pregnant.'),
  speaker: z
    .enum(['self', 'caregiver', 'interpreter'])
    .default('self')
    .describe('Who speaks with the doctor.'),
  relation: textSchema.optional().describe('Who a caregiver is to the patient.'),
})

/** One patient's truth. Files hold one a line (JSONL). */
export const caseSchema = z.object({
  schema: z.literal('bedside-case/1').describe('The version of this format.'),
  id: name.describe('The name of the case, unique in its file.'),
  seed: z.number().int().nonnegative().optional().describe('The seed it was generated from.'),
  provenance: provenanceSchema.describe('Where the case comes from and what may be done with it.'),
  demographics: demographicsSchema.describe('Who the patient is.'),
  chiefComplaint: z
    .object({
      text: textSchema.describe("The patient's words."),
      findings: names.describe('Ids of the findings they give away.'),
    })
    .describe('What the doctor is told before the first turn.'),
  findings: z
    .array(findingSchema)
    .describe('Recorded facts; one that is not listed was not recorded, which is not absence.'),
  biography: z
    .record(z.string(), textSchema)
    .optional()
    .describe(
      'What the patient can tell of their life, by question, as the knowledge base names it (`job`, `home`); `{age}` stands for the age.',
    ),
  exams: z.array(examResultSchema).describe('Results of examinations, fixed with the case.'),
  examDefault: z
    .enum(['normal', 'unavailable', 'simulate'])
    .describe(
      'What an examination that is not listed gives; `simulate` leaves it to the next exam simulator.',
    ),
  noise: noiseSchema
    .default({ forget: 0, deny: 0, overReport: 0 })
    .describe(
      'How often answers are wrong; they keep to the truth where `deny` and `overReport` are 0.',
    ),
  persona: personaSchema
    .default({})
    .describe('How the patient is to talk with: dials from 0, not at all, to 3, very.'),
  gold: goldSchema.describe('What the doctor should conclude and do.'),
  difficulty: z
    .object({
      tier: z.string().describe('The tier it was generated at.'),
      bayesCeiling: z
        .number()
        .describe('P(the diagnosis) given everything that can be found out, by exact inference.'),
      confusability: z.number().describe('How near other diagnoses come.'),
    })
    .partial()
    .optional()
    .describe('How hard the case is.'),
}) satisfies z.ZodType<Case>

/** A JSON Schema (draft 2020-12) of a case as files hold it: what has a default may be left out. */
export function caseJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(caseSchema, { io: 'input' })
  return {
    $schema,
    $id: 'urn:bedside:case:1',
    title: 'Bedside case',
    description: "One patient's truth. A case file holds one such object a line (JSON lines).",
    ...schema,
  }
}
