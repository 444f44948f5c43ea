/** The `models` of a recipe: the language model of each role, prices, a budget, and a cassette. */
import { type Document, isMap, isScalar } from 'yaml'
import { z } from 'zod'
import { grammarNames } from '../../agents/grammars/named.js'
import { cassetteModes } from '../../chats/cassette.js'
import { type FreePrompts, freeStyles } from '../../envs/patients/free/prompts.js'
import { type PublishedPrompts, publishedPrompts } from '../../rewards/judges/published-prompts.js'
import { isModelSimulator } from '../../tasks/parts.js'
import { Count } from '../recipe-training.js'

const isUrl = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Schema of one role's model. */
const Model = z.strictObject({
  /** Name of the model, as its server knows it. */
  model: z
    .string({ error: 'expected the name of the model, as its server knows it' })
    .min(1, { error: 'expected the name of the model, as its server knows it' }),
  /** Of an OpenAI-compatible server; $OPENAI_BASE_URL by default. */
  baseUrl: z
    .string()
    .refine(isUrl, { error: 'expected an http(s) base URL such as http://localhost:8000/v1' })
    .optional(),
  /** Environment variable that holds the key. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, {
      error: 'expected the name of an environment variable; the key itself belongs into that',
    })
    .optional(),
  headers: z.record(z.string(), z.string()).optional(),
  temperature: z.number().min(0).optional(),
  topP: z.number().gt(0).max(1).optional(),
  maxTokens: Count.optional(),
  stop: z.array(z.string().min(1)).min(1).optional(),
  /** Members of the request that only some servers know. */
  body: z.record(z.string(), z.unknown()).optional(),
  /** How JSON is asked for. */
  json: z.enum(['schema', 'object', 'prompt']).optional(),
  timeoutMs: Count.optional(),
  deadlineMs: Count.optional(),
  maxRetries: z.number().int().min(0).optional(),
  backoffMs: Count.optional(),
  /** Requests at once at the server, those of other roles counted. */
  concurrency: Count.optional(),
  requestsPerMinute: z.number().positive().optional(),
})

// The keys of the table are the names.
const promptNames = ['own', ...Object.keys(publishedPrompts)] as ('own' | PublishedPrompts)[]

/** Patients that a model plays. */
export const modelPatients = ['skin', 'free'] as const
/** A patient that a model plays: with the rule patient's facts, or freely. */
export type ModelPatient = (typeof modelPatients)[number]

/** Whether a patient of this name is played by a model. */
export const isModelPatient = (name: string | undefined): name is ModelPatient =>
  modelPatients.some((one) => one === name)

/** Schema of the patient's model. */
const PatientModel = Model.extend({
  /** Prompts of a free patient: our own, or in the form of a published system. */
  prompts: z.enum(Object.keys(freeStyles) as FreePrompts[]).optional(), // the keys of the table
})

/** Schema of the doctor's model. */
const DoctorModel = Model.extend({
  /** The format of its replies; that of `policy.grammar` by default, or else `labelled`. */
  grammar: z.enum(grammarNames).optional(),
})

/** Schema of the judge's model. */
const JudgeModel = Model.extend({
  /** Our own prompts, or a published system's; by default those of the reward's system where it is as released. */
  prompts: z.enum(promptNames).optional(),
  /** Votes on each question; they differ at a temperature above 0. */
  votes: Count.max(99).optional(),
  /** Whether each vote is cast in both orders of what is compared. */
  swap: z.boolean().optional(),
  /** How rewards that verify an answer ask it: for a verdict (0 or 1), or for the probability in its log-probs. */
  verifier: z.enum(['verdict', 'logprobs']).optional(),
})

/** Schema of the examiner's model. */
const ExaminerModel = Model.extend({
  /** Whether its reports leave their tokens and log-probs in the episode, as far as the server gives them. */
  draws: z.boolean().optional(),
})

const Price = z.strictObject({ input: z.number().min(0), output: z.number().min(0) })

/** Schema of `models`. */
export const Models = z.strictObject({
  doctor: DoctorModel.optional(),
  /** Naming one makes `free` the patient, where the recipe names no other. */
  patient: PatientModel.optional(),
  /** Plays the exam simulators `diaggym` and `diaggym-parity`, where `env.exams` names one. */
  examiner: ExaminerModel.optional(),
  judge: JudgeModel.optional(),
  /** Prices per million tokens, by model. */
  prices: z.record(z.string(), Price).optional(),
  /** Most that one sitting of the run may spend. */
  budget: z
    .strictObject({ money: z.number().positive().optional(), tokens: Count.optional() })
    .optional(),
  /** Recorded replies. */
  cassette: z
    .strictObject({ file: z.string().min(1), mode: z.enum(cassetteModes).default('replay') })
    .optional(),
})

/** Checked `models` of a recipe. */
export type RecipeModels = z.infer<typeof Models>
/** Model of a role in a recipe. */
export type RoleModelSettings = z.infer<typeof Model>

/** Model of the patient in a recipe. */
export type PatientModelSettings = z.infer<typeof PatientModel>
/** Model of the doctor in a recipe. */
export type DoctorModelSettings = z.infer<typeof DoctorModel>

/** Model of the examiner in a recipe. */
export type ExaminerModelSettings = z.infer<typeof ExaminerModel>

/** Model of the judge in a recipe. */
export type JudgeModelSettings = z.infer<typeof JudgeModel>

/** Roles whose model a recipe can name. */
export const modelRoles = ['doctor', 'patient', 'examiner', 'judge'] as const
/** A role whose model a recipe can name. */
export type ModelRole = (typeof modelRoles)[number]

/** A key as a recipe may write it under `models`, `base-url`, as the schema has it: `baseUrl`. */
export const modelKey = (key: string): string =>
  key.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Whether the keys below a path of `models` are settings, and not names that somebody chose. */
export const isModelSetting = (path: readonly string[]): boolean =>
  path[0] === 'models' && !['prices', 'headers', 'body'].some((own) => path.includes(own))

/** The path of `--set models.patient.base-url=…` with each key as the schema has it. */
export const modelPath = (path: readonly string[]): readonly string[] =>
  path.map((key, at) => (isModelSetting(path.slice(0, at)) ? modelKey(key) : key))

function renameKeys(node: unknown, path: readonly string[]): void {
  if (!isMap(node)) return
  for (const { key, value } of node.items) {
    if (!isScalar(key) || typeof key.value !== 'string') continue
    if (isModelSetting(path)) key.value = modelKey(key.value)
    renameKeys(value, [...path, String(key.value)])
  }
}

/** Gives the keys under a document's `models` the form of the schema; each keeps its line. */
export const renameModelKeys = (document: Document): void =>
  renameKeys(document.get('models', true), ['models'])

/** Whether a value of a recipe may be a key that somebody put there, which no message may repeat. */
export const mayBeKey = (path: readonly (string | number)[]): boolean =>
  path[0] === 'models' &&
  path.some((key) => /key|authorization|token|secret|header/i.test(String(key)))

interface ModelProblem {
  readonly path: readonly string[]
  readonly expected: string
}

/** What `models` is held to. */
interface BesideModels {
  readonly models?: RecipeModels | undefined
  readonly env: {
    readonly patient?: string | undefined
    readonly exams?: readonly string[] | undefined
  }
  readonly training: {
    readonly algorithm: string
    readonly sft?: { readonly agent: string; readonly demonstrations?: string }
  }
}

/** Whether the recipe's chat doctor teaches: fine-tuning on its consultations. */
export const hasChatTeacher = ({
  training: { algorithm, sft },
}: Pick<BesideModels, 'training'>): boolean =>
  algorithm === 'sft' && sft?.agent === 'chat' && sft.demonstrations === undefined

function doctorProblems(recipe: BesideModels): readonly ModelProblem[] {
  if (recipe.models?.doctor || !hasChatTeacher(recipe)) return []
  const expected = 'expected the model of training.sft.agent `chat` (model, base-url)'
  return [{ path: ['models', 'doctor'], expected }]
}

function patientProblems({ models, env: { patient } }: BesideModels): readonly ModelProblem[] {
  const path = ['models', 'patient']
  const idle = `has no effect beside env.patient \`${patient}\``
  const own = models?.patient
  if (isModelPatient(patient) && !own)
    return [
      { path, expected: `expected the model of env.patient \`${patient}\` (model, base-url)` },
    ]
  if (own && patient !== undefined && !isModelPatient(patient)) return [{ path, expected: idle }]
  if (own?.prompts && patient === 'skin') return [{ path: [...path, 'prompts'], expected: idle }]
  return []
}

function examinerProblems({ models, env: { exams = [] } }: BesideModels): readonly ModelProblem[] {
  const simulator = models?.examiner ? undefined : exams.find(isModelSimulator)
  if (simulator === undefined) return []
  const expected = `expected the model of env.exams \`${simulator}\` (model, base-url)`
  return [{ path: ['models', 'examiner'], expected }]
}

/** Problems of `models` beside the rest of a recipe. */
export const modelProblems = (recipe: BesideModels): readonly ModelProblem[] => [
  ...doctorProblems(recipe),
  ...patientProblems(recipe),
  ...examinerProblems(recipe),
]
