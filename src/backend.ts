/**
 * The backend: holds the weights, samples as an agent, and makes a new policy version from a training batch. Its three
 * sides (sampler, learner, checkpoints) are usable alone.
 */
import type { Agent } from './agent.js'
import type { Loss, NormaliserKind, TokenSegment, TrainBatch } from './batch.js'
import { assertBatch } from './batch.js'
import type { Episode } from './episode.js'
import type { Action } from './turn.js'

/** Terms of a loss that came after its kinds, each declared by itself. */
export const lossTerms = [
  'gspo-dual',
  'kl-ratio',
  'geometric-correction',
  'scaled-correction',
  'off-policy-mask',
  'entropy-over-tokens',
] as const
/** Name of a term of a loss. */
export type LossTerm = (typeof lossTerms)[number]

/** The terms of a loss that a backend must declare beside its kind. */
export function termsOf(loss: Loss): readonly LossTerm[] {
  const has: Readonly<Record<LossTerm, boolean>> = {
    'gspo-dual': loss.kind === 'gspo' && loss.dual !== undefined,
    'kl-ratio': loss.kl?.ratio === true,
    'geometric-correction': loss.correction?.level === 'geometric',
    'scaled-correction': loss.correction?.scale !== undefined,
    'off-policy-mask': loss.offPolicyMask !== undefined,
    'entropy-over-tokens': loss.entropy !== 0 && loss.entropyOver === 'tokens',
  }
  return lossTerms.filter((term) => has[term])
}

/** Features a backend supports; a request for any other throws before any gradient. */
export interface Capabilities {
  readonly losses: readonly Loss['kind'][]
  readonly normalisers: readonly NormaliserKind[]
  readonly entropy: boolean
  /** KL penalties in the loss. @default false */
  readonly kl?: boolean
  /** Importance corrections. @default false */
  readonly correction?: boolean
  /** Terms of a loss beside those. @default none */
  readonly lossTerms?: readonly LossTerm[]
  /** A value model: `values`, and batches with `critic`. @default false */
  readonly critic?: boolean
  readonly exports: readonly string[]
  /**
   * What the backend keeps itself: a trainer that owns its process may keep the optimiser's state, the checkpoints or
   * the old weights of the ratio out of reach. @default all of it
   */
  readonly owns?: {
    readonly optimiser?: boolean
    readonly checkpoints?: boolean
    readonly oldWeights?: boolean
  }
  /** The most tokens of one move, for the dr-grpo normaliser of a loop that is not told a bound. @default 1 */
  readonly maxMoveTokens?: number
  /** Whether the sampler's log-probs are the trainer's only up to the rounding of 16 bits. @default false */
  readonly coarse?: boolean
  /** What does not hold on the backend's machine, in sentences. @default none */
  readonly notes?: readonly string[]
}

/** Metrics of one gradient step. */
export interface StepReport {
  /** The version this step made. */
  readonly policyVersion: number
  readonly loss: number
  /** Euclidean norm before clipping. */
  readonly gradNorm: number
  /** Mean and largest p/p_sampler over drawn tokens, before the step. */
  readonly ratio: { readonly mean: number; readonly max: number }
  /** Share of drawn tokens whose gradient was clipped; one of advantage 0 has none to clip. */
  readonly clipFraction: number
  /** Share of drawn tokens dropped by the importance correction. */
  readonly droppedFraction: number
  /** Mean of log p_sampler - log p over drawn tokens (the k1 estimate of KL). */
  readonly kl: number
  /** Mean KL from the reference policy, by the estimator of the loss's penalty. */
  readonly klReference?: number
  /** Mean entropy of the policy at drawn tokens, in nats. */
  readonly entropy: number
  /** |trainer - sampler| log-prob gap over tokens drawn with the version being trained. */
  readonly logprobGap: { readonly mean: number; readonly max: number }
  /** Effective sample size of the importance weights, 0 to 1. */
  readonly ess: number
  /** Drawn tokens that entered the loss. */
  readonly tokens: number
  /** Critic metrics, where one was trained: mean loss, and explained share of the returns' variance. */
  readonly critic?: { readonly loss: number; readonly explained: number }
}

/** Options of {@link Sampler.sampler}. */
export interface SamplerOptions {
  /** 0 takes the most likely token. @default 1 */
  readonly temperature?: number
}

/** Draws with the current weights. */
export interface Sampler {
  readonly name: string
  /** Increases by one with every step. */
  readonly policyVersion: number
  /** An agent that samples from the current weights; its moves carry their tokens and log-probs. */
  sampler(options?: SamplerOptions): Agent
}

/** Takes gradient steps. Optional members are features some learners lack. */
export interface Learner {
  readonly name: string
  readonly capabilities: Capabilities
  /** Increases by one with every step. */
  readonly policyVersion: number
  /**
   * One gradient step.
   * @throws RangeError for a malformed batch, another policy version, or an unsupported loss: nothing is applied
   */
  step(batch: TrainBatch): Promise<StepReport>
  /**
   * log p of every token after the prompt, 0 where masked, under the current or the reference weights. Used for KL
   * penalties, importance corrections and linearised losses.
   */
  logprobs?(
    segments: readonly TokenSegment[],
    options?: { readonly reference?: boolean },
  ): Promise<readonly Float32Array[]>
  /** Snapshots the current weights as the KL reference. Default reference: the weights at open. */
  keepReference?(): void
  /** The critic's value (expected rest of the return) at every drawn token, 0 where masked. */
  values?(segments: readonly TokenSegment[]): Promise<readonly Float32Array[]>
  /**
   * Token segments of another agent's episode, as if this policy had drawn its moves: log-probs 0, advantages 1.
   * A move outside this policy's action space is masked. Without any move inside it there are no segments.
   */
  demonstrate?(episode: Episode): readonly TokenSegment[]
  /**
   * The segments with a conclusion drawn before every move, as if each turn were the last, and no other token drawn:
   * log-probs 0, advantages 1. None for an action outside this policy's action space. For a policy whose belief can be
   * taught at any turn without touching its other moves.
   */
  conclude?(segments: readonly TokenSegment[], action: Action): readonly TokenSegment[]
}

/** Saves and loads the weights. */
export interface Checkpoints {
  /** Writes weights and optimiser state into a folder, atomically. */
  save(folder: string): Promise<void>
  /** Restores a saved folder. @throws Fault `bad-checkpoint` for another policy shape; the weights stay unchanged */
  load(folder: string): Promise<void>
  /** Writes the weights alone, in a format of `capabilities.exports`. */
  export(format: string, file: string): Promise<void>
}

/** Weights with a sampler, a learner and checkpoints, where this side drives. */
export interface Backend extends Sampler, Learner, Checkpoints, AsyncDisposable {}

/** @throws RangeError for a loss, normaliser or batch member that the capabilities do not have */
function assertSupported(
  {
    losses,
    normalisers,
    entropy,
    kl = false,
    correction = false,
    lossTerms: terms = [],
    critic = false,
    owns,
  }: Capabilities,
  { loss, normaliser, segments, critic: targets }: TrainBatch,
): void {
  if (!losses.includes(loss.kind))
    throw new RangeError(`Expected a loss of ${losses.join(', ')}, got \`${loss.kind}\``)
  if (!normalisers.includes(normaliser.kind))
    throw new RangeError(
      `Expected a normaliser of ${normalisers.join(', ')}, got \`${normaliser.kind}\``,
    )
  if (loss.entropy !== 0 && !entropy)
    throw new RangeError(`Expected entropy 0, which is all this backend has, got ${loss.entropy}`)
  const lacks = (what: string) =>
    new RangeError(`Expected ${what}, which this backend does not have`)
  if (loss.kl && !kl) throw lacks('a loss without a KL penalty')
  if (loss.correction && !correction) throw lacks('a loss without an importance correction')
  const strange = termsOf(loss).find((term) => !terms.includes(term))
  if (strange) throw lacks(`a loss without the term \`${strange}\``)
  if (targets && !critic) throw lacks('a batch without a critic')
  if (owns?.oldWeights === false && segments.some(({ oldLogprobs }) => oldLogprobs))
    throw new RangeError(
      'Expected a batch without `oldLogprobs`: the trainer of this backend computes the old log-probs itself',
    )
}

/**
 * Refuses a batch that a backend cannot step on: an undeclared loss, normaliser or entropy bonus, a malformed
 * segment, another policy version. A backend calls it before any gradient.
 * @throws RangeError saying what was expected
 */
export function assertSteppable(
  { capabilities, policyVersion }: Pick<Learner, 'capabilities' | 'policyVersion'>,
  batch: TrainBatch,
): void {
  assertSupported(capabilities, batch)
  assertBatch(batch)
  if (batch.policyVersion !== policyVersion)
    throw new RangeError(
      `Expected a batch for policy version ${policyVersion}, got one for ${batch.policyVersion}`,
    )
}
