/**
 * The zod schema of a knowledge file, as a function of zod, because loading zod takes longer than all work up to the
 * step. Only a user's own folder is parsed with it; a test checks the shipped one.
 * Long because every field that an author may write is declared here once.
 */
import type { z as Zod } from 'zod'
import { codeSystems, findingKinds } from '../case.js'

/** Probabilities of the ordinal words that an author may write. */
export const ordinalProbabilities = {
  always: 0.95,
  usually: 0.8,
  often: 0.55,
  sometimes: 0.25,
  rare: 0.08,
  'very-rare': 0.02,
} as const

/** Acts of conversation that need another answer than information. */
export const conversationActs = [
  'greeting',
  'thanks',
  'apology',
  'sympathy',
  'reassurance',
  'agreement',
  'consent',
  'confirm',
  'any-questions',
  'clear',
  'hearing',
  'readiness',
  'patience',
  'repeat',
  'backchannel',
  'parting',
  'praise',
  'small-talk',
] as const
/** Name of an act of conversation. */
export type ConversationAct = (typeof conversationActs)[number]

/** Attributes of a complaint that a finding can describe. */
export const findingAttributes = [
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

/** What a question may ask of a symptom or a medicine: the attributes above, and what no finding records. */
export const detailAttributes = [
  ...findingAttributes,
  'side',
  'colour',
  'frequency',
  'amount',
  'spell',
  'pattern',
  'score',
  'reading',
  'last',
  'latency',
  'doing',
  'which',
  'purpose',
] as const
/** Name of what a question may ask of a symptom or a medicine. */
export type DetailAttribute = (typeof detailAttributes)[number]

/** Schemas that several definitions share. */
function sharedSchemas(z: typeof Zod) {
  const text = z.string().min(1)
  return {
    text,
    Code: z.strictObject({ system: z.enum(codeSystems), code: text }),
    Both: z.strictObject({ zh: text, en: text }),
    Lists: z.strictObject({ zh: z.array(text).min(1), en: z.array(text).min(1) }),
    MaybeEmptyLists: z.strictObject({ zh: z.array(text), en: z.array(text) }),
    Id: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'expected a kebab-case id'),
    Probability: z.union([
      z.enum(
        Object.keys(ordinalProbabilities) as [
          keyof typeof ordinalProbabilities,
          ...(keyof typeof ordinalProbabilities)[],
        ],
      ),
      z.number().gt(0).lt(1),
    ]),
    Interval: z
      .tuple([z.number(), z.number()])
      .refine(([low, high]) => low <= high, 'expected the lower end first'),
    Distribution: z
      .record(z.string(), z.number().min(0).max(1))
      .refine(
        (dist) => Math.abs(Object.values(dist).reduce((sum, p) => sum + p, 0) - 1) < 1e-6,
        'expected probabilities that sum to 1',
      ),
  }
}
type SharedSchemas = ReturnType<typeof sharedSchemas>

/** What an author may add to a disease. */
const authoredSchema = (z: typeof Zod, { text, Id }: SharedSchemas) => ({
  /** What patients come with, and how eagerly relative to one another; left out: what it lists, by salience. */
  complaints: z.record(Id, z.number().positive()).optional(),
  /** Examinations that medicine asks for; `source` says who says so. */
  workup: z.strictObject({ required: z.array(Id), useful: z.array(Id), source: text }).optional(),
  /** Where the numbers come from: guideline or review, author, year. */
  sources: z.array(text).optional(),
})

const diseaseSchema = (z: typeof Zod, shared: SharedSchemas) => {
  const { Code, Both, MaybeEmptyLists, Id, Probability, Distribution } = shared
  return z.strictObject({
    id: Id,
    name: Both,
    aliases: MaybeEmptyLists,
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
    /** Drawn only by the out-of-distribution tier, so no doctor was trained on it. */
    novel: z.boolean().optional(),
    /** Relative weight as a comorbidity of another disease; left out: never one. */
    comorbid: z.number().positive().optional(),
    /** Diseases it never accompanies, besides those of its own group. */
    incompatible: z.array(Id).optional(),
    recommend: z.array(Id).optional(),
    contraindicated: z.array(Id).optional(),
    /** Examinations that harm a patient with this disease. */
    harmful: z.array(Id).optional(),
    redFlags: z.array(z.strictObject({ finding: Id, action: Id })).optional(),
    /** Reviewer of the entry; null until reviewed. */
    reviewed: z.string().nullable().optional(),
    /** P(present | disease) of a boolean finding, or a distribution over a categorical one's values. */
    findings: z.record(Id, z.union([Probability, Distribution])),
    ...authoredSchema(z, shared),
  })
}

/** Whom an age- and sex-specific entry fits: ages in years, both ends included; left out: everybody. */
const bandSchema = (z: typeof Zod) => ({
  ages: z.tuple([z.number().min(0), z.number().max(130)]).optional(),
  sex: z.enum(['F', 'M']).optional(),
})

const measureSchema = (z: typeof Zod, { Interval }: SharedSchemas) => {
  const ranges = z.record(z.string(), Interval)
  return z.strictObject({
    unit: z.string(),
    ranges,
    /** Interval that a report calls normal. */
    reference: Interval.optional(),
    /** Ranges by age and sex: the first that fits, else `ranges`. */
    bands: z
      .array(z.strictObject({ ...bandSchema(z), reference: Interval.optional(), ranges }))
      .optional(),
  })
}

/** What a finding is in patients without a cause for it. */
const backgroundSchema = (z: typeof Zod, { Id, Distribution }: SharedSchemas) => {
  const background = z.union([z.number().min(0).lt(1), Distribution])
  return {
    /** Background P(present) or distribution, for diseases that do not list the finding. */
    leak: background,
    /** Background by age and sex: the first that fits, else `leak`. */
    leakBands: z.array(z.strictObject({ ...bandSchema(z), leak: background })).optional(),
    /**
     * By the state of another finding: its background then (raised sugar with known diabetes), and the states that
     * it rules out whatever the disease (a normal thyroid hormone beside a suppressed pituitary one).
     */
    given: z
      .strictObject({
        finding: Id,
        leaks: z.record(z.string(), background).optional(),
        excludes: z.record(z.string(), z.array(z.string()).min(1)).optional(),
      })
      .optional(),
  }
}

const findingDefinitionSchema = (z: typeof Zod, shared: SharedSchemas) => {
  const { text, Both, Lists, MaybeEmptyLists, Id } = shared
  return z.strictObject({
    id: Id,
    type: z.enum(['bool', 'cat']),
    values: z.array(Id).min(2).optional(),
    kind: z.enum(findingKinds),
    knownBy: z.enum(['patient', 'exam']),
    /** The finding exists only where its parent's state is (one of) `when`: no site of pain without pain. */
    parent: z.strictObject({ finding: Id, when: z.union([text, z.array(text).min(2)]) }).optional(),
    /** The finding exists only in patients of this sex. */
    sex: z.enum(['F', 'M']).optional(),
    /** The finding exists only in patients of these ages in years, both ends included. */
    ages: z.tuple([z.number().min(0), z.number().max(130)]).optional(),
    /** Attribute of the parent that it describes; without a parent, of the illness as a whole. */
    attribute: z.enum(findingAttributes).optional(),
    salience: z.number().min(0).max(1),
    stigma: z.number().int().min(0).max(3),
    ...backgroundSchema(z, shared),
    /** Number range of each value, drawn uniformly; the number is no more informative than the value. */
    measure: measureSchema(z, shared).optional(),
    name: Both,
    aliases: Lists,
    /** Technical words for it, unknown to a patient of low literacy. */
    jargon: MaybeEmptyLists.optional(),
    ask: Lists,
    say: z.record(z.string(), Lists),
  })
}

const examDefinitionSchema = (z: typeof Zod, { Code, Both, MaybeEmptyLists, Id }: SharedSchemas) =>
  z.strictObject({
    id: Id,
    name: Both,
    aliases: MaybeEmptyLists,
    codes: z.array(Code).optional(),
    cost: z.number().min(0),
    minutes: z.number().min(0),
    invasiveness: z.number().int().min(0).max(3),
    panelOf: z.array(Id).optional(),
    yields: z.array(Id).optional(),
    unavailableP: z.number().min(0).lt(1).optional(),
    validHours: z.number().positive().optional(),
    /** Names of tests that are not done here, in whose place it is; the report says so. */
    instead: MaybeEmptyLists.optional(),
  })

/** A topic of doctors' utterances that no finding answers, and what the patient answers. */
const asideSchema = (z: typeof Zod, { Both, MaybeEmptyLists, Id }: SharedSchemas) =>
  z.strictObject({
    id: Id,
    text: MaybeEmptyLists,
    /** Phrases inside an utterance that name the topic, as those of a finding. */
    aliases: MaybeEmptyLists.optional(),
    /** It asks about a symptom or an illness that nobody in the base has: its name after "no" and after 没有. */
    denied: Both.optional(),
    /** It is answered from this slot of the patient's biography. */
    slot: Id.optional(),
    /** It is an act of conversation, answered as people do. */
    act: z.enum(conversationActs).optional(),
    /** Findings it asks about too: those that are present are told first. */
    also: z.array(Id).optional(),
    /** Findings of the same matter: those that the patient has are told in place of a denial or the slot. */
    unless: z.array(Id).optional(),
    /** The slot says more of these findings, and is told with them. @default it is told where there is nothing new of them */
    detail: z.boolean().optional(),
    /** It asks for a detail of one of these: of the one spoken of last, or the first that the patient has. */
    detailOf: z.array(Id).min(1).optional(),
    /** It asks about a complaint, such as its cause: where a sentence names both, this is what it asks. */
    ofComplaint: z.literal(true).optional(),
    /** It says more of these asides or findings, and is asked by its aliases right after they were spoken of, only then. */
    after: z.array(Id).min(1).optional(),
  })

/** A question about the patient's life, and the answers a patient is drawn one of. */
const biographySlotSchema = (z: typeof Zod, { Both, Id }: SharedSchemas) =>
  z.strictObject({
    slot: Id,
    of: z.array(
      z.strictObject({
        /** Names the option for `needs`. */
        id: Id.optional(),
        /** In years, both ends included. @default any */
        ages: z.tuple([z.number().min(0), z.number().max(130)]).optional(),
        sex: z.enum(['F', 'M']).optional(),
        /** States that findings must have. */
        when: z.record(Id, z.array(z.string().min(1)).min(1)).optional(),
        /** Options of earlier slots, as `slot/id`, one of which was drawn. */
        needs: z.array(z.string().min(3)).min(1).optional(),
        /** Relative frequency. @default 1 */
        weight: z.number().positive().optional(),
        text: Both,
      }),
    ),
  })

/** What a patient says of a finding that no finding records: how often, which side, what it is called. */
const detailSchema = (z: typeof Zod, { Id, Lists }: SharedSchemas) =>
  z
    .strictObject({
      attribute: z.enum(detailAttributes),
      /** Findings, or classes of them. @default any symptom that no other entry fits */
      of: z.array(Id).min(1).optional(),
      /** In years, both ends included. @default any */
      ages: z.tuple([z.number().min(0), z.number().max(130)]).optional(),
      /** States that findings must have as the patient tells them. */
      when: z.record(Id, z.array(z.string().min(1)).min(1)).optional(),
      /** Entries with the same name and as many facts are drawn as one. @default the attribute */
      draw: Id.optional(),
      /** Drawn once for the patient, not once for each finding. */
      shared: z.literal(true).optional(),
      /** Each one is one fact in several words. */
      facts: z.array(Lists).min(1).optional(),
      /** It is answered from this slot of the biography instead. */
      slot: Id.optional(),
    })
    .refine(({ facts, slot }) => (facts === undefined) !== (slot === undefined), {
      message: 'expected either facts or slot',
    })

/** Makes the schema of one `*.json` file of a knowledge folder. */
export function knowledgeFileSchema(z: typeof Zod) {
  const shared = sharedSchemas(z)
  const { Both, Id } = shared
  return z.strictObject({
    knowledge: z.literal('bedside-knowledge/1'),
    group: z.strictObject({ id: Id, name: Both }).optional(),
    diseases: z.array(diseaseSchema(z, shared)).optional(),
    findings: z.array(findingDefinitionSchema(z, shared)).optional(),
    exams: z.array(examDefinitionSchema(z, shared)).optional(),
    actions: z.array(z.strictObject({ id: Id, text: Both })).optional(),
    asides: z.array(asideSchema(z, shared)).optional(),
    biography: z.array(biographySlotSchema(z, shared)).optional(),
    /** Lists of findings that `details` may name as one. */
    detailClasses: z.record(Id, z.array(Id).min(1)).optional(),
    details: z.array(detailSchema(z, shared)).optional(),
    /** Titles of the ICD-10 codes that diseases may have; where there are any, every code is one of them. */
    icd10: z.record(z.string(), z.string().min(1)).optional(),
  })
}

/** A parsed knowledge file, before defaults are filled in. */
export type KnowledgeFile = Zod.infer<ReturnType<typeof knowledgeFileSchema>>
/** A disease as a file writes it. */
export type FileDisease = NonNullable<KnowledgeFile['diseases']>[number]
