/** A recipe: everything that decides a training run, as one strict, serialisable value. */
import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { Fault } from '../error.js'
import { tierNames } from '../knowledge/tiers.js'
import { problemsOf, withoutIdleKeys } from './recipe-problems.js'
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
      })
      .prefault({}),
    /** A reward's name, or a module file whose export `reward` is one. */
    reward: z.string().default('default'),
    backend: z.enum(['embedded', 'sidecar']).default('embedded'),
    /** Of backends that have a language model. */
    policy: LanguageModelPolicy.optional(),
    training: Training,
    /** Consultations to print when training is done: one case before, the same after. */
    showConsultations: z.boolean().default(false),
    /** A checkpoint to begin from; it is the reference policy of a KL penalty too. */
    init: z.string().optional(),
  })
  .refine((fields) => fields?.backend !== 'embedded' || fields.policy === undefined, {
    path: ['policy'],
    error: 'has no effect under backend `embedded` (it belongs to sidecar)',
    // Said beside whatever else is wrong.
    when: () => true,
  })

export const Recipe = z.preprocess(
  (raw) =>
    isRecord(raw) && raw.backend === 'sidecar' && raw.policy === undefined
      ? { ...raw, policy: {} }
      : raw,
  Fields,
)
export type Recipe = z.infer<typeof Recipe>

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
  const parsed = schema.safeParse(raw)
  if (parsed.success) return parsed.data
  const messages = problemsOf(Fields, parsed.error, raw).map(({ path, expected }) => {
    // A value of `--set` has no line.
    const node = document.getIn(path, true) as { range?: number[] } | undefined
    const line = node?.range ? `:${lines.linePos(node.range[0] ?? 0).line}` : ''
    const got = JSON.stringify(document.getIn(path))
    return `${source}${line}: ${path.join('.') || 'recipe'}: ${expected}, got \`${got}\``
  })
  const more = messages.length > most ? [`… and ${messages.length - most} more`] : []
  throw new Fault('bad-input', [...messages.slice(0, most), ...more].join('\n'))
}
