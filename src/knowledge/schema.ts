/**
 * The schema of a knowledge file, as a function of zod, which takes longer to load than everything up to the
 * first step: only a folder of the user's own is held to it, the shipped one is by a test.
 */
import type { z as Zod } from 'zod'
import { codeSystems, findingKinds } from '../case.js'

/** The ordinal words an author may write for a probability. */
export const ordinal = {
  always: 0.95,
  usually: 0.8,
  often: 0.55,
  sometimes: 0.25,
  rare: 0.08,
  'very-rare': 0.02,
} as const

/** What a finding can say more of the complaint it belongs to. */
export const attributes = [
  'onset',
  'duration',
  'severity',
  'site',
  'character',
  'radiation',
  'aggravating',
  'relieving',
  'timing',
] as const
export type Attribute = (typeof attributes)[number]

/** Makes the schema of one `*.json` file of a knowledge folder. */
export function knowledgeFileSchema(zod: typeof Zod) {
  const z = zod
  const Code = z.strictObject({ system: z.enum(codeSystems), code: z.string().min(1) })
  const Both = z.strictObject({ zh: z.string().min(1), en: z.string().min(1) })
  const Lists = z.strictObject({
    zh: z.array(z.string().min(1)).min(1),
    en: z.array(z.string().min(1)).min(1),
  })
  const Id = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'expected a kebab-case id')
  const Probability = z.union([
    z.enum(Object.keys(ordinal) as [keyof typeof ordinal, ...(keyof typeof ordinal)[]]),
    z.number().gt(0).lt(1),
  ])
  const Distribution = z
    .record(z.string(), z.number().min(0).max(1))
    .refine(
      (dist) => Math.abs(Object.values(dist).reduce((sum, p) => sum + p, 0) - 1) < 1e-6,
      'expected probabilities that sum to 1',
    )

  const Disease = z.strictObject({
    id: Id,
    name: Both,
    aliases: z.strictObject({ zh: z.array(z.string().min(1)), en: z.array(z.string().min(1)) }),
    codes: z.array(Code).min(1),
    /** 1 is life-threatening, 5 is minor. */
    severity: z.number().int().min(1).max(5),
    triage: z.number().int().min(1).max(5),
    prior: z.strictObject({
      base: z.number().positive(),
      sex: z.strictObject({ F: z.number().min(0), M: z.number().min(0) }).optional(),
      age: z
        .array(z.strictObject({ lo: z.number(), hi: z.number(), mult: z.number().min(0) }))
        .optional(),
    }),
    /** Drawn by the out-of-distribution tier alone, so that no other doctor was trained on it. */
    novel: z.boolean().optional(),
    /** How readily it accompanies another disease, relative to the others that do; left out: never. */
    comorbid: z.number().positive().optional(),
    /** Diseases it never accompanies, besides those of its own group. */
    incompatible: z.array(Id).optional(),
    recommend: z.array(Id).optional(),
    contraindicated: z.array(Id).optional(),
    /** Examinations that would do harm in this disease. */
    harmful: z.array(Id).optional(),
    redFlags: z.array(z.strictObject({ finding: Id, action: Id })).optional(),
    /** Who checked the entry; null until somebody did. */
    reviewed: z.string().nullable().optional(),
    /** P(present | disease) of a boolean finding, or a distribution over a categorical one's values. */
    findings: z.record(Id, z.union([Probability, Distribution])),
  })

  const FindingDefinition = z.strictObject({
    id: Id,
    type: z.enum(['bool', 'cat']),
    values: z.array(Id).min(2).optional(),
    kind: z.enum(findingKinds),
    knownBy: z.enum(['patient', 'exam']),
    /** The finding exists only where its parent's state is `when` (no site of pain without pain). */
    parent: z.strictObject({ finding: Id, when: z.string().min(1) }).optional(),
    /** The finding exists only in patients of this sex. */
    sex: z.enum(['F', 'M']).optional(),
    /** The finding exists only in patients of these ages in years, both ends included. */
    ages: z.tuple([z.number().min(0), z.number().max(130)]).optional(),
    /** What it says of its parent; a root that has one says it of the illness as a whole. */
    attribute: z.enum(attributes).optional(),
    salience: z.number().min(0).max(1),
    stigma: z.number().int().min(0).max(3),
    /** P(present) or the distribution where no disease says otherwise. */
    leak: z.union([z.number().min(0).lt(1), Distribution]),
    /** A number stands behind each value, drawn evenly from its range; it says no more than the value does. */
    measure: z
      .strictObject({
        unit: z.string(),
        ranges: z.record(z.string(), z.tuple([z.number(), z.number()])),
      })
      .optional(),
    name: Both,
    aliases: Lists,
    /** Technical words for it, which a patient of little literacy does not know. */
    jargon: z
      .strictObject({ zh: z.array(z.string().min(1)), en: z.array(z.string().min(1)) })
      .optional(),
    ask: Lists,
    say: z.record(z.string(), Lists),
  })

  const ExamDefinition = z.strictObject({
    id: Id,
    name: Both,
    aliases: z.strictObject({ zh: z.array(z.string().min(1)), en: z.array(z.string().min(1)) }),
    codes: z.array(Code).optional(),
    cost: z.number().min(0),
    minutes: z.number().min(0),
    invasiveness: z.number().int().min(0).max(3),
    panelOf: z.array(Id).optional(),
    yields: z.array(Id).optional(),
    unavailableP: z.number().min(0).lt(1).optional(),
    validHours: z.number().positive().optional(),
  })

  return z.strictObject({
    knowledge: z.literal('bedside-knowledge/1'),
    group: z.strictObject({ id: Id, name: Both }).optional(),
    diseases: z.array(Disease).optional(),
    findings: z.array(FindingDefinition).optional(),
    exams: z.array(ExamDefinition).optional(),
    actions: z.array(z.strictObject({ id: Id, text: Both })).optional(),
    asides: z
      .array(
        z.strictObject({
          id: Id,
          text: z.strictObject({ zh: z.array(z.string().min(1)), en: z.array(z.string().min(1)) }),
        }),
      )
      .optional(),
  })
}

export type KnowledgeFile = Zod.infer<ReturnType<typeof knowledgeFileSchema>>
