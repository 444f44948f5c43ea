/** A recipe: everything that decides a training run, as one strict, serialisable value. */
import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { Fault } from '../error.js'
import { tierNames } from '../knowledge/tiers.js'
import { expectedPart, isModule } from '../tasks/modules.js'
import { roleNames } from '../tasks/parts.js'
import { backendNames } from './own-backends.js'
import type { RecipeProblem } from './recipe-problems.js'
import { problemsOf, withoutIdleKeys } from './recipe-problems.js'
import type { TrainingInput } from './recipe-training.js'
import { Count, isRecord, Probability, Training } from './recipe-training.js'

/** The language model that a sidecar trains. */
export const LanguageModelPolicy = z.strictObject({
  /** A Hugging Face model folder: config.json, weights, tokenizer, chat template. */
  model: z.string().optional(),
  /** What holds the weights: `unsloth` needs a GPU. */
  engine: z.enum(['peft', 'unsloth']).default('peft'),
  /** A LoRA adapter, or every parameter. */
  mode: z.enum(['lora', 'full']).default('lora'),
  rank: Count.default(16),
  alpha: z.number().positive().default(32),
  dtype: z.enum(['auto', 'float32', 'float64', 'bfloat16']).default('auto'),
  device: z.enum(['auto', 'cpu', 'cuda']).default('auto'),
  /** CPU threads; all cores without it. A model of a few million parameters is fastest with one. */
  threads: Count.optional(),
  grammar: z.enum(['labelled', 'brief', 'huatuo']).default('labelled'),
  /** The most tokens of one reply. */
  maxTokens: Count.default(128),
  /** Prompt and reply together; the model's own without it. */
  contextLength: Count.optional(),
  /** What stays of earlier turns' reasoning in what the policy reads. */
  history: z.enum(['keep', 'strip-reasoning']).default('keep'),
  /** A Tinker server that is there already, in place of one that the run starts; its key is in TINKER_API_KEY. */
  url: z.string().optional(),
  /** Which kind of server `url` is. */
  profile: z.string().default('bedside'),
})
export type LanguageModelPolicy = z.infer<typeof LanguageModelPolicy>

/** The parts of a run that a program can give `train`. */
export const ownPartNames = ['env', 'patient', 'exams', 'reward', 'agents', 'backend'] as const
/** A part of a run that a program can give `train`. */
export type OwnPartName = (typeof ownPartNames)[number]

const Fields = z
  .strictObject({
    recipe: z.string().min(1).default('custom'),
    seed: z.number().int().min(0).default(0),
    language: z.enum(['zh', 'en']).default('en'),
    cases: z
      .strictObject({
        /** A case file (JSONL); without one, cases are generated. */
        file: z.string().optional(),
        tier: z.enum(tierNames).default('easy'),
        /** Easier tiers to train on first, each for so many steps; held-out cases are of `tier` throughout. */
        curriculum: z.array(z.strictObject({ tier: z.enum(tierNames), steps: Count })).default([]),
        /** Disease groups to keep; all of them without it. */
        clinic: z.array(z.string()).optional(),
        /** Share of a file's cases that training never sees. */
        heldOutShare: Probability.default(0.2),
        /** Held-out cases of the final evaluation. */
        heldOut: Count.default(400),
      })
      .prefault({}),
    env: z
      .strictObject({
        /** `question`: one question, one answer, for cases of a file. */
        name: z.enum(['consultation', 'question']).default('consultation'),
        /** Budgets; the tier's own without them. */
        maxTurns: Count.optional(),
        money: z.number().min(0).optional(),
        minutes: z.number().positive().optional(),
        /** Who answers: a name or a module; as the cases need without it. */
        patient: z.string().optional(),
        /** Who carries out examinations, names and modules: the first that knows an order does. */
        exams: z.array(z.string()).min(1).optional(),
      })
      .prefault({}),
    /** A reward's name, or a module that exports `reward`. */
    reward: z.string().default('default'),
    /** What holds the weights: `embedded`, `sidecar`, a registered name, or a module that exports `backend`. */
    backend: z.string().default('embedded'),
    /** Of backends that have a language model. */
    policy: LanguageModelPolicy.optional(),
    training: Training,
    /** Consultations to print when training is done: one case before, the same after. */
    showConsultations: z.boolean().default(false),
    /** A checkpoint to begin from; it is the reference policy of a KL penalty too. */
    init: z.string().optional(),
    /** Parts that a program gave `train` in place of the recipe's: they must be given again. Written by the run. */
    own: z.array(z.enum(ownPartNames)).optional(),
  })
  .refine((fields) => fields?.backend === 'sidecar' || fields?.policy === undefined, {
    path: ['policy'],
    error: ({ input }) =>
      `has no effect under backend \`${isRecord(input) ? input.backend : input}\` (it belongs to sidecar)`,
    // Said beside whatever else is wrong.
    when: () => true,
  })

/** Schema of a recipe: strict, with the defaults of what is left out. */
export const Recipe = z.preprocess(
  (raw) =>
    isRecord(raw) && raw.backend === 'sidecar' && raw.policy === undefined
      ? { ...raw, policy: {} }
      : raw,
  Fields,
)
/** Everything that decides a training run, with every default filled in. */
export type Recipe = z.infer<typeof Recipe>

/** A recipe as it is written: what has a default may be left out. */
export type RecipeInput = Omit<z.input<typeof Fields>, 'training'> & { training?: TrainingInput }

/**
 * A recipe that an earlier version resolved and stored: it holds every key there was, those without effect under its
 * algorithm, loss or backend too. They are left out.
 */
export const StoredRecipe = z.preprocess((raw) => {
  const { policy, ...known } = isRecord(raw) ? raw : {}
  const idle = isRecord(raw) && raw.backend !== 'sidecar' && policy !== undefined
  return withoutIdleKeys(Fields, idle ? known : raw)
}, Recipe)

/** The language model of a recipe, with defaults where its backend has none. */
export const policyOf = ({ policy }: Recipe): LanguageModelPolicy =>
  policy ?? LanguageModelPolicy.parse({})

/** The most problems that one message lists. */
const most = 10

/** Names of parts that nobody has. Rewards are named with their world, and demonstrators with their task. */
function partProblems({ env, backend }: Recipe): readonly RecipeProblem[] {
  const given = [
    ...(env.patient === undefined ? [] : [['patient', env.patient, ['env', 'patient']] as const]),
    ...(env.exams ?? []).map((name, i) => ['exams', name, ['env', 'exams', i]] as const),
    ['backend', backend, ['backend']] as const,
  ]
  return given.flatMap(([kind, name, path]) => {
    const names = kind === 'backend' ? backendNames() : roleNames(kind)
    if (isModule(name) || names.includes(name)) return []
    return [{ path, expected: expectedPart(kind, name, names) }]
  })
}

/** The value at a path of a checked or unchecked recipe. */
const valueAt = (raw: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (isRecord(value) || Array.isArray(value) ? Object(value)[key] : undefined),
    raw,
  )

/** @throws Fault `bad-input` with every problem of a value, each at its place */
function checkedRecipe(
  raw: unknown,
  schema: typeof Recipe | typeof StoredRecipe,
  placeOf: (path: readonly (string | number)[]) => string,
): Recipe {
  const parsed = schema.safeParse(raw)
  // Names of a stored recipe may be registered later, or never be needed.
  const unknown = parsed.success && schema === Recipe ? partProblems(parsed.data) : []
  if (parsed.success && unknown.length === 0) return parsed.data
  const problems = parsed.success ? unknown : problemsOf(Fields, parsed.error, raw)
  const messages = problems.map(({ path, expected }) => {
    const got = JSON.stringify(valueAt(raw, path))
    return `${placeOf(path)}: ${path.join('.') || 'recipe'}: ${expected}, got \`${got}\``
  })
  const more = messages.length > most ? [`… and ${messages.length - most} more`] : []
  throw new Fault('bad-input', [...messages.slice(0, most), ...more].join('\n'))
}

/**
 * Reads a recipe from YAML text.
 * @param source file name for messages
 * @param overrides `path=value` assignments, the value in YAML
 * @param schema `StoredRecipe` for what a run keeps of its recipe. @default `Recipe`
 * @throws Fault `bad-input` naming file, line, path, and what was expected
 */
export function parseRecipe(
  text: string,
  source: string,
  overrides: readonly string[] = [],
  schema: typeof Recipe | typeof StoredRecipe = Recipe,
): Recipe {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: true })
  const wrong = document.errors[0] ?? document.warnings[0]
  if (wrong) throw new Fault('bad-input', `${source}: ${wrong.message}`)
  for (const override of overrides) {
    const at = override.indexOf('=')
    if (at < 1) throw new Fault('bad-input', `--set: expected path=value, got \`${override}\``)
    const value = parseDocument(override.slice(at + 1))
    if (value.errors[0])
      throw new Fault('bad-input', `--set ${override}: ${value.errors[0].message}`)
    document.setIn(override.slice(0, at).split('.'), value.toJS())
  }
  const raw: unknown = document.toJS() ?? {}
  return checkedRecipe(raw, schema, (path) => {
    // A value of `--set` has no line.
    const node = document.getIn(path, true) as { range?: number[] } | undefined
    return `${source}${node?.range ? `:${lines.linePos(node.range[0] ?? 0).line}` : ''}`
  })
}

/**
 * Fills a recipe that a program wrote with its defaults.
 * @throws Fault `bad-input` naming path, what was expected and what was received
 */
export const resolveRecipe = (recipe: RecipeInput): Recipe =>
  checkedRecipe(recipe, Recipe, () => 'the recipe')
