/** Zod schema of a recipe's `training`: one object per algorithm, and within it one per loss kind. */
import { z } from 'zod'
import { normaliserKinds } from '../batch.js'
import { advantageNames } from '../group.js'
import {
  adamDefaults,
  clipDefaults,
  defaultLoss,
  grpoDefaults,
  hindsightDefaults,
  loopDefaults,
  ppoDefaults,
  sapoDefaults,
  sftDefaults,
} from '../trainers/defaults.js'

/** Schema of a number from 0 to 1. */
export const Probability = z.number().min(0).max(1)
/** Schema of a positive integer. */
export const Count = z.number().int().positive()

/** Discriminator keys of the recipe's unions, with their default values. */
export const discriminators = { algorithm: 'grpo', kind: defaultLoss.kind } as const

/** Whether an unchecked value is a plain object, not an array. */
export const isRecord = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)

/** Gives a union's discriminator its default. */
const withDefaultKind = <U extends z.ZodType>(key: keyof typeof discriminators, union: U) =>
  z.preprocess(
    (raw) => (isRecord(raw) && !(key in raw) ? { ...raw, [key]: discriminators[key] } : raw),
    union,
  )

const klSchema = (estimator: 'k1' | 'k3') =>
  z
    .strictObject({
      estimator: z.enum(['k1', 'k2', 'k3']).default(estimator),
      coefficient: z.number().positive(),
      /** Multiplies each estimate by the token's probability ratio: unbiased off policy. */
      ratio: z.boolean().exactOptional(),
    })
    .exactOptional()

const bounds = {
  low: z.number().positive().default(clipDefaults.low),
  high: z.number().positive().default(clipDefaults.high),
}
const anyLoss = {
  entropy: z.number().min(0).default(defaultLoss.entropy),
  /** Whether the entropy bonus is reduced as the losses are, or is a mean over all drawn tokens. */
  entropyOver: z.enum(['normaliser', 'tokens']).exactOptional(),
  kl: klSchema('k3'),
  correction: z
    .strictObject({
      level: z.enum(['token', 'sequence', 'geometric']).default('token'),
      mode: z.enum(['truncate', 'mask']).default('truncate'),
      min: z.number().min(0).default(0),
      max: z.number().positive(),
    })
    .exactOptional(),
  /** Leaves segments of negative advantage out that the policy has moved away from (DeepSeek-V3.2). */
  offPolicyMask: z
    .strictObject({
      threshold: z.number().min(0),
      behaviour: z.enum(['old', 'sampler']).default('sampler'),
    })
    .exactOptional(),
}
/** Dual clip: bounds the loss of tokens with negative advantage. */
const dual = z.number().gt(1).exactOptional()

const AnyLoss = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('policy-gradient'), ...anyLoss }),
  z.strictObject({ kind: z.literal('importance-sampling'), ...anyLoss }),
  z.strictObject({ kind: z.literal('cross-entropy'), ...anyLoss }),
  z.strictObject({
    kind: z.literal('ppo-clip'),
    ...bounds,
    dual,
    ...anyLoss,
  }),
  z.strictObject({ kind: z.literal('cispo'), ...bounds, ...anyLoss }),
  z.strictObject({ kind: z.literal('gspo'), ...bounds, dual, ...anyLoss }),
  z.strictObject({
    kind: z.literal('sapo'),
    tauPositive: z.number().positive().default(sapoDefaults.tauPositive),
    tauNegative: z.number().positive().default(sapoDefaults.tauNegative),
    ...anyLoss,
  }),
])
const Loss = withDefaultKind('kind', AnyLoss).prefault({})

const Adam = z
  .strictObject({
    learningRate: z.number().positive().default(adamDefaults.learningRate),
    beta1: Probability.default(adamDefaults.beta1),
    beta2: Probability.default(adamDefaults.beta2),
    epsilon: z.number().positive().default(adamDefaults.epsilon),
    maxGradNorm: z.number().positive().exactOptional(),
    weightDecay: z.number().min(0).default(adamDefaults.weightDecay),
    /** Share of the steps over which the learning rate warms up. */
    warmup: Probability.default(0),
    /** Learning-rate schedule after the warm-up. */
    decay: z.enum(['constant', 'linear', 'cosine']).default('constant'),
  })
  .prefault({})

/** Every turn of an understood consultation learns the diagnosis that was right, with an optimiser rate of its own. */
const hindsight = {
  learningRate: z.number().positive().default(hindsightDefaults.learningRate),
  /** Most that the labels of a seldom understood patient weigh; 1 weighs all the same. */
  maxWeight: z.number().min(1).default(hindsightDefaults.maxWeight),
}
/** Weight of what each move told about the diagnosis, in its advantage. */
const gain = z.number().min(0).default(hindsightDefaults.gain)

/** Keys of every algorithm. */
const anyLoop = {
  normaliser: z.enum(normaliserKinds).default(loopDefaults.normaliser),
  adam: Adam,
  concurrency: Count.default(loopDefaults.concurrency),
  /** Steps between evaluations on held-out cases. */
  evaluateEvery: Count.default(20),
  evaluateCases: Count.default(100),
  checkpointEvery: Count.default(50),
  /** Ends the run when held-out accuracy has not risen by `minGain` for `patience` evaluations. */
  earlyStop: z
    .strictObject({ patience: Count, minGain: z.number().min(0).default(0) })
    .exactOptional(),
}

/** Keys of the algorithms that roll out the policy (GRPO, PPO). */
const playing = {
  loss: Loss,
  epochs: Count.default(loopDefaults.epochs),
  temperature: z.number().positive().default(loopDefaults.temperature),
  /** The run ends when no consultation of so many steps in a row could be scored. */
  maxUnscored: Count.default(loopDefaults.maxUnscored),
  /** Steps between saves of training episodes and their token trajectories. */
  episodesEvery: Count.default(50),
}

/** A rejection by the distance of trainer and sampler. */
const RejectionRule = z
  .strictObject({
    measure: z.enum(['k1', 'k2', 'k3']),
    over: z.enum(['token', 'sum', 'mean', 'max']),
    min: z.number().min(0).exactOptional(),
    max: z.number().positive(),
  })
  .refine(({ measure, over }) => measure !== 'k1' || over !== 'max', {
    path: ['over'],
    error: 'expected token, sum or mean for k1, whose sign a maximum loses',
  })
  .refine(({ measure, min }) => measure === 'k1' || min === undefined, {
    path: ['min'],
    error: 'expected none for k2 and k3, which have no lower bound',
  })
  .refine(({ min = 0, max }) => min <= max, { path: ['min'], error: 'expected at most `max`' })

const Grpo = z.strictObject({
  algorithm: z.literal('grpo'),
  steps: Count.default(200),
  groupsPerStep: Count.default(grpoDefaults.groupsPerStep),
  groupSize: z.number().int().min(2).default(grpoDefaults.groupSize),
  hindsight: z.strictObject({ ...hindsight, gain }).exactOptional(),
  advantages: z.enum(advantageNames).default(grpoDefaults.advantages),
  /** Which episodes count in a group. */
  groups: z
    .strictObject({
      minScored: z.number().int().min(2).exactOptional(),
      /** Truncated episodes: kept as any other, left out, or in the baseline with zero advantage. */
      truncated: z.enum(['keep', 'drop', 'zero']).default('keep'),
    })
    .prefault({}),
  /** Dynamic sampling (DAPO): draws groups until `groupsPerStep` have non-zero variance, at most this many. */
  resampleMost: Count.exactOptional(),
  /** Diagnoses drawn where each consultation concludes: siblings that share all before it. 0: the one it ended with. */
  endings: z.number().int().min(0).default(grpoDefaults.endings),
  /** Advantage of the reply of a sibling who was right, where a consultation concluded wrongly. 0: no such rows. */
  corrections: z.number().min(0).default(grpoDefaults.corrections),
  /** Most policy versions a rollout may lag behind; above 0, runs are not reproducible. */
  maxStaleness: z.number().int().min(0).default(grpoDefaults.maxStaleness),
  /** What is rejected as too far off policy before the loss, and how a correction's weights are scaled. */
  offPolicy: z
    .strictObject({
      reject: z.array(RejectionRule).min(1).exactOptional(),
      /** Whether the weights of `loss.correction` have a mean of 1 over the batch. */
      scaleWeights: z.boolean().exactOptional(),
    })
    .exactOptional(),
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
      /** Learning rate of the critic. */
      learningRate: z.number().positive().default(ppoDefaults.learningRate),
      coefficient: z.number().positive().default(ppoDefaults.coefficient),
      range: z.number().positive().default(ppoDefaults.range),
      /** KL penalty subtracted from the rewards, per token. */
      rewardKl: klSchema('k1'),
    })
    .prefault({}),
  ...playing,
  ...anyLoop,
})

const Sft = z.strictObject({
  algorithm: z.literal('sft'),
  steps: Count.default(200),
  /** Demonstrations: saved episodes of a file, or a doctor's consultations over training cases. */
  sft: z
    .strictObject({
      demonstrations: z.string().exactOptional(),
      agent: z.string().default('oracle'),
      cases: Count.default(400),
      /** Consultations of each case. */
      times: Count.default(1),
      episodesPerStep: Count.default(sftDefaults.episodesPerStep),
      /** Keeps only episodes with at least this reward. */
      minReward: z.number().exactOptional(),
      /** Keeps this many of the best episodes of each case. */
      bestOf: Count.exactOptional(),
    })
    .prefault({}),
  hindsight: z.strictObject(hindsight).exactOptional(),
  ...anyLoop,
})

/** Default training: GRPO with default values. */
export const defaultTraining = (): GrpoTraining => Grpo.parse({ algorithm: 'grpo' })

/** Schema of `training`: the algorithm, its loss and its optimiser. */
export const Training = withDefaultKind(
  'algorithm',
  z.discriminatedUnion('algorithm', [Grpo, Ppo, Sft]),
).prefault({})
/** Checked `training` of a recipe, with defaults filled in. */
export type Training = z.infer<typeof Training>
/** `training` of a GRPO recipe. */
export type GrpoTraining = Extract<Training, { readonly algorithm: 'grpo' }>
/** `training` of a PPO recipe. */
export type PpoTraining = Extract<Training, { readonly algorithm: 'ppo' }>
/** Loss as written in a recipe: keys with a default are optional. */
type LossInput =
  | z.input<typeof AnyLoss>
  | Omit<Extract<z.input<typeof AnyLoss>, { kind: typeof defaultLoss.kind }>, 'kind'>

/** `training` as written in a recipe: keys with a default are optional. */
export type TrainingInput =
  | (Omit<z.input<typeof Grpo>, 'algorithm' | 'loss'> & { algorithm?: 'grpo'; loss?: LossInput })
  | (Omit<z.input<typeof Ppo>, 'loss'> & { loss?: LossInput })
  | z.input<typeof Sft>
/** `training` of a supervised fine-tuning recipe. */
export type SftTraining = Extract<Training, { readonly algorithm: 'sft' }>
