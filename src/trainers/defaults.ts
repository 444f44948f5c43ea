/** Default settings of the training loops. Recipes take theirs from here. */
import type { AdamSettings, Loss, NormaliserKind } from '../batch.js'

/** Bounds of the probability ratio of `ppo-clip`, `cispo` and `gspo` (DAPO, Yu et al. 2025). */
export const clipDefaults = { low: 0.2, high: 0.28 } as const

/** Temperatures of `sapo`. */
export const sapoDefaults = { tauPositive: 1, tauNegative: 1.05 } as const

/** The policy's optimiser. */
export const adamDefaults = {
  learningRate: 0.05,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
} as const satisfies AdamSettings

/** The policy loss: PPO's clip without an entropy bonus. */
export const defaultLoss = { kind: 'ppo-clip', ...clipDefaults, entropy: 0 } as const satisfies Loss

/** Settings of every loop that plays. `maxUnscored` is the number of steps in a row without a score that ends a run. */
export const loopDefaults = {
  seed: 0,
  normaliser: 'dr-grpo' satisfies NormaliserKind,
  epochs: 1,
  temperature: 1,
  concurrency: 16,
  maxUnscored: 3,
} as const

/** Settings of GRPO. */
export const grpoDefaults = {
  advantages: 'dr-grpo',
  groupsPerStep: 32,
  groupSize: 8,
  maxStaleness: 0,
  endings: 0,
  corrections: 0,
} as const

/** Settings of hindsight labels. */
export const hindsightDefaults = { learningRate: 0.01, maxWeight: 1, gain: 0 } as const

/** Settings of PPO. `learningRate`, `coefficient` and `range` are the critic's. */
export const ppoDefaults = {
  episodesPerStep: 64,
  minibatches: 4,
  gamma: 1,
  lambda: 0.95,
  learningRate: 0.05,
  coefficient: 0.1,
  range: 0.2,
} as const

/** Settings of supervised fine-tuning by `trainSft`. */
export const sftDefaults = { normaliser: 'token-mean', episodesPerStep: 32 } as const
