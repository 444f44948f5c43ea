/** The `training` part of a recipe: one schema per algorithm, and within it one per kind of loss. */
import { z } from 'zod'
import { normaliserKinds } from '../batch.js'
import { advantageNames } from '../group.js'
import {
  adamDefaults,
  clipDefaults,
  defaultLoss,
  grpoDefaults,
  loopDefaults,
  ppoDefaults,
  sapoDefaults,
  sftDefaults,
} from '../trainers/defaults.js'

export const Probability = z.number().min(0).max(1)
export const Count = z.number().int().positive()

/** What decides which keys a part of a recipe has, and what it is where a recipe leaves it out. */
export const discriminators = { algorithm: 'grpo', kind: defaultLoss.kind } as const

/** Whether an unchecked value is an object with keys. */
export const isRecord = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)

/** A union whose discriminator has a default. */
const switched = <U extends z.ZodType>(key: keyof typeof discriminators, union: U) =>
  z.preprocess(
    (raw) => (isRecord(raw) && !(key in raw) ? { ...raw, [key]: discriminators[key] } : raw),
    union,
  )

const klOf = (estimator: 'k1' | 'k3') =>
  z
    .strictObject({
      estimator: z.enum(['k1', 'k2', 'k3']).default(estimator),
      coefficient: z.number().positive(),
    })
    .exactOptional()

const bounds = {
  low: z.number().positive().default(clipDefaults.low),
  high: z.number().positive().default(clipDefaults.high),
}
const anyLoss = {
  entropy: z.number().min(0).default(defaultLoss.entropy),
  kl: klOf('k3'),
  correction: z
    .strictObject({
      level: z.enum(['token', 'sequence']).default('token'),
      mode: z.enum(['truncate', 'mask']).default('truncate'),
      min: z.number().min(0).default(0),
      max: z.number().positive(),
    })
    .exactOptional(),
}

const AnyLoss = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('policy-gradient'), ...anyLoss }),
  z.strictObject({ kind: z.literal('importance-sampling'), ...anyLoss }),
  z.strictObject({ kind: z.literal('cross-entropy'), ...anyLoss }),
  z.strictObject({
    kind: z.literal('ppo-clip'),
    ...bounds,
    /** Bounds the loss of tokens of negative advantage. */
    dual: z.number().gt(1).exactOptional(),
    ...anyLoss,
  }),
  z.strictObject({ kind: z.literal('cispo'), ...bounds, ...anyLoss }),
  z.strictObject({ kind: z.literal('gspo'), ...bounds, ...anyLoss }),
  z.strictObject({
    kind: z.literal('sapo'),
    tauPositive: z.number().positive().default(sapoDefaults.tauPositive),
    tauNegative: z.number().positive().default(sapoDefaults.tauNegative),
    ...anyLoss,
  }),
])
const Loss = switched('kind', AnyLoss).prefault({})

const Adam = z
  .strictObject({
    learningRate: z.number().positive().default(adamDefaults.learningRate),
    beta1: Probability.default(adamDefaults.beta1),
    beta2: Probability.default(adamDefaults.beta2),
    epsilon: z.number().positive().default(adamDefaults.epsilon),
    maxGradNorm: z.number().positive().exactOptional(),
    weightDecay: z.number().min(0).default(adamDefaults.weightDecay),
    /** Share of the steps over which the learning rate rises. */
    warmup: Probability.default(0),
    /** How it goes down after that. */
    decay: z.enum(['constant', 'linear', 'cosine']).default('constant'),
  })
  .prefault({})

/** Of every algorithm. */
const anyLoop = {
  normaliser: z.enum(normaliserKinds).default(loopDefaults.normaliser),
  adam: Adam,
  concurrency: Count.default(loopDefaults.concurrency),
  /** Steps between evaluations on held-out cases. */
  evaluateEvery: Count.default(20),
  evaluateCases: Count.default(100),
  checkpointEvery: Count.default(50),
  /** Ends the run when held-out accuracy has not risen by `minGain` for so many evaluations. */
  earlyStop: z
    .strictObject({ patience: Count, minGain: z.number().min(0).default(0) })
    .exactOptional(),
}

/** Of the algorithms whose policy plays. */
const playing = {
  loss: Loss,
  epochs: Count.default(loopDefaults.epochs),
  temperature: z.number().positive().default(loopDefaults.temperature),
}

const Grpo = z.strictObject({
  algorithm: z.literal('grpo'),
  steps: Count.default(200),
  groupsPerStep: Count.default(grpoDefaults.groupsPerStep),
  groupSize: z.number().int().min(2).default(grpoDefaults.groupSize),
  advantages: z.enum(advantageNames).default(grpoDefaults.advantages),
  /** Who counts in a group. */
  groups: z
    .strictObject({
      minScored: z.number().int().min(2).exactOptional(),
      /** Members cut short: kept as any other, left out, or compared with and not taught. */
      truncated: z.enum(['keep', 'drop', 'zero']).default('keep'),
    })
    .prefault({}),
  /** Draws groups on until `groupsPerStep` of them teach, at most so many in all (DAPO). */
  resampleMost: Count.exactOptional(),
  /** Plays ahead, by policies at most so many versions old; a run above 0 is not the same twice. */
  maxStaleness: z.number().int().min(0).default(grpoDefaults.maxStaleness),
  /** Steps between saved training episodes, and their tokens as trajectories. */
  episodesEvery: Count.default(50),
  ...playing,
  ...anyLoop,
})

const Ppo = z.strictObject({
  algorithm: z.literal('ppo'),
  steps: Count.default(200),
  ppo: z
    .strictObject({
      episodesPerStep: Count.default(ppoDefaults.episodesPerStep),
      minibatches: Count.default(ppoDefaults.minibatches),
      gamma: Probability.default(ppoDefaults.gamma),
      lambda: Probability.default(ppoDefaults.lambda),
      /** Of the critic. */
      learningRate: z.number().positive().default(ppoDefaults.learningRate),
      coefficient: z.number().positive().default(ppoDefaults.coefficient),
      range: z.number().positive().default(ppoDefaults.range),
      /** A penalty taken off the rewards, token by token. */
      rewardKl: klOf('k1'),
    })
    .prefault({}),
  ...playing,
  ...anyLoop,
})

const Sft = z.strictObject({
  algorithm: z.literal('sft'),
  steps: Count.default(200),
  /** Saved episodes of a file, or a doctor's consultations over training cases. */
  sft: z
    .strictObject({
      demonstrations: z.string().exactOptional(),
      agent: z.string().default('oracle'),
      cases: Count.default(400),
      /** Consultations of each case. */
      times: Count.default(1),
      episodesPerStep: Count.default(sftDefaults.episodesPerStep),
      /** Keeps those of at least this reward. */
      minReward: z.number().exactOptional(),
      /** Keeps the best of each case. */
      bestOf: Count.exactOptional(),
    })
    .prefault({}),
  ...anyLoop,
})

/** The training of a recipe that says nothing of it. */
export const defaultTraining = (): GrpoTraining => Grpo.parse({ algorithm: 'grpo' })

/** What makes gradient steps of consultations, and how. */
export const Training = switched(
  'algorithm',
  z.discriminatedUnion('algorithm', [Grpo, Ppo, Sft]),
).prefault({})
export type Training = z.infer<typeof Training>
export type GrpoTraining = Extract<Training, { readonly algorithm: 'grpo' }>
export type PpoTraining = Extract<Training, { readonly algorithm: 'ppo' }>
/** A loss as a recipe writes it: what has a default may be left out. */
type LossInput =
  | z.input<typeof AnyLoss>
  | Omit<Extract<z.input<typeof AnyLoss>, { kind: typeof defaultLoss.kind }>, 'kind'>

/** The training of a recipe as it is written: what has a default may be left out. */
export type TrainingInput =
  | (Omit<z.input<typeof Grpo>, 'algorithm' | 'loss'> & { algorithm?: 'grpo'; loss?: LossInput })
  | (Omit<z.input<typeof Ppo>, 'loss'> & { loss?: LossInput })
  | z.input<typeof Sft>
export type SftTraining = Extract<Training, { readonly algorithm: 'sft' }>
