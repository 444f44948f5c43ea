/** A recipe: everything that decides a training run, as one strict, serialisable value. */
import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { normaliserKinds, objectiveKinds } from '../batch.js'
import { Fault } from '../error.js'
import { advantageNames } from '../group.js'
import { tierNames } from '../knowledge/tiers.js'

const Probability = z.number().min(0).max(1)
const Count = z.number().int().positive()

/** The language model that a sidecar trains. */
const Policy = z.strictObject({
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

export const Recipe = z.strictObject({
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
  /** The language model of a backend that has one. */
  policy: Policy.prefault({}),
  training: z
    .strictObject({
      /** What makes gradient steps of consultations. */
      algorithm: z.enum(['grpo', 'ppo', 'sft']).default('grpo'),
      steps: Count.default(200),
      groupsPerStep: Count.default(32),
      groupSize: z.number().int().min(2).default(8),
      advantages: z.enum(advantageNames).default('dr-grpo'),
      /** Who counts in a group. */
      groups: z
        .strictObject({
          minScored: z.number().int().min(2).optional(),
          /** Members cut short: kept as any other, left out, or compared with and not taught. */
          truncated: z.enum(['keep', 'drop', 'zero']).default('keep'),
        })
        .prefault({}),
      /** Draws groups on until `groupsPerStep` of them teach, at most so many in all (DAPO). */
      resampleMost: Count.optional(),
      /** Plays ahead, by policies at most so many versions old; a run above 0 is not the same twice. */
      maxStaleness: z.number().int().min(0).default(0),
      normaliser: z.enum(normaliserKinds).default('dr-grpo'),
      loss: z
        .strictObject({
          kind: z.enum(objectiveKinds).default('ppo-clip'),
          low: z.number().positive().default(0.2),
          high: z.number().positive().default(0.28),
          /** Of ppo-clip, for bad tokens. */
          dual: z.number().gt(1).optional(),
          /** Of sapo. */
          tauPositive: z.number().positive().default(1),
          tauNegative: z.number().positive().default(1.05),
          entropy: z.number().min(0).default(0),
          kl: z
            .strictObject({
              estimator: z.enum(['k1', 'k2', 'k3']).default('k3'),
              coefficient: z.number().positive(),
            })
            .optional(),
          correction: z
            .strictObject({
              level: z.enum(['token', 'sequence']).default('token'),
              mode: z.enum(['truncate', 'mask']).default('truncate'),
              min: z.number().min(0).default(0),
              max: z.number().positive(),
            })
            .optional(),
        })
        .prefault({}),
      adam: z
        .strictObject({
          learningRate: z.number().positive().default(0.05),
          beta1: Probability.default(0.9),
          beta2: Probability.default(0.999),
          epsilon: z.number().positive().default(1e-8),
          maxGradNorm: z.number().positive().optional(),
          weightDecay: z.number().min(0).default(0),
          /** Share of the steps over which the learning rate rises. */
          warmup: Probability.default(0),
          /** How it goes down after that. */
          decay: z.enum(['constant', 'linear', 'cosine']).default('constant'),
        })
        .prefault({}),
      epochs: Count.default(1),
      temperature: z.number().positive().default(1),
      concurrency: Count.default(16),
      /** Steps between evaluations on held-out cases. */
      evaluateEvery: Count.default(20),
      evaluateCases: Count.default(100),
      checkpointEvery: Count.default(50),
      /** Ends the run when held-out accuracy has not risen by `minGain` for so many evaluations. */
      earlyStop: z
        .strictObject({ patience: Count, minGain: z.number().min(0).default(0) })
        .optional(),
      /** Steps between saved training episodes, and their tokens as trajectories. */
      episodesEvery: Count.default(50),
      /** Of ppo alone. */
      ppo: z
        .strictObject({
          episodesPerStep: Count.default(64),
          minibatches: Count.default(4),
          gamma: Probability.default(1),
          lambda: Probability.default(0.95),
          /** Of the critic. */
          learningRate: z.number().positive().default(0.05),
          coefficient: z.number().positive().default(0.1),
          range: z.number().positive().default(0.2),
          /** A penalty taken off the rewards, token by token. */
          rewardKl: z
            .strictObject({
              estimator: z.enum(['k1', 'k2', 'k3']).default('k1'),
              coefficient: z.number().positive(),
            })
            .optional(),
        })
        .prefault({}),
      /** Of sft alone: saved episodes of a file, or a doctor's consultations over training cases. */
      sft: z
        .strictObject({
          demonstrations: z.string().optional(),
          agent: z.string().default('oracle'),
          cases: Count.default(400),
          /** Consultations of each case. */
          times: Count.default(1),
          episodesPerStep: Count.default(32),
          /** Keeps those of at least this reward. */
          minReward: z.number().optional(),
          /** Keeps the best of each case. */
          bestOf: Count.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  /** Consultations to print when training is done: one case before, the same after. */
  showConsultations: z.boolean().default(false),
  /** A checkpoint to begin from; it is the reference policy of a KL penalty too. */
  init: z.string().optional(),
})
export type Recipe = z.infer<typeof Recipe>

const expectedAt = (issue: z.core.$ZodIssue): string =>
  issue.code === 'unrecognized_keys' ? `unknown key ${issue.keys.join(', ')}` : issue.message

/**
 * Reads a recipe from YAML text.
 * @param source file name for messages
 * @param overrides `path=value` assignments, the value in YAML
 * @throws Fault `bad-input` naming file, line, path, and what was expected
 */
export function parseRecipe(
  text: string,
  source: string,
  overrides: readonly string[] = [],
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
  const parsed = Recipe.safeParse(document.toJS() ?? {})
  if (parsed.success) return parsed.data
  const messages = parsed.error.issues.map((issue) => {
    const path =
      issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
    const node = document.getIn(path as (string | number)[], true) as
      | { range?: number[] }
      | undefined
    const line = node?.range ? `:${lines.linePos(node.range[0] ?? 0).line}` : ''
    const got = document.getIn(path as (string | number)[])
    return `${source}${line}: ${path.join('.') || 'recipe'}: ${expectedAt(issue)}, got \`${JSON.stringify(got)}\``
  })
  throw new Fault('bad-input', messages.join('\n'))
}
