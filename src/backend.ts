/** The backend: whatever holds the weights. It plays as an agent, takes a batch, and makes a new version. */
import type { Agent } from './agent.js'
import type { Loss, NormaliserKind, TokenSegment, TrainBatch } from './batch.js'
import { assertBatch } from './batch.js'
import type { Episode } from './episode.js'

/** What a backend can do; asking for anything else throws before any gradient. */
export interface Capabilities {
  readonly losses: readonly Loss['kind'][]
  readonly normalisers: readonly NormaliserKind[]
  readonly entropy: boolean
  /** KL penalties in the loss. @default false */
  readonly kl?: boolean
  /** Importance corrections. @default false */
  readonly correction?: boolean
  /** A value model: `values`, and batches with `critic`. @default false */
  readonly critic?: boolean
  readonly exports: readonly string[]
  /** The most tokens of one move, for the dr-grpo normaliser of a loop that is not told a bound. @default 1 */
  readonly maxMoveTokens?: number
}

/** What one gradient step did. */
export interface StepReport {
  /** The version made by this step. */
  readonly policyVersion: number
  readonly loss: number
  /** Euclidean norm before clipping. */
  readonly gradNorm: number
  /** Mean and largest p/p_sampler over drawn tokens, before the step. */
  readonly ratio: { readonly mean: number; readonly max: number }
  /** Share of drawn tokens whose gradient was clipped; one of advantage 0 has none to clip. */
  readonly clipFraction: number
  /** Share of drawn tokens that the importance correction left out. */
  readonly droppedFraction: number
  /** Mean of log p_sampler - log p over drawn tokens (the k1 estimate of KL). */
  readonly kl: number
  /** Mean estimate of the KL from the reference policy, as the loss's penalty estimates it. */
  readonly klReference?: number
  /** Mean entropy of the policy at drawn tokens, in nats. */
  readonly entropy: number
  /** |trainer - sampler| log-prob over tokens drawn with the version being trained. */
  readonly logprobGap: { readonly mean: number; readonly max: number }
  /** Effective sample size of the importance weights, 0 to 1. */
  readonly ess: number
  /** Drawn tokens that entered the loss. */
  readonly tokens: number
  /** The critic's, where it was trained: mean loss, and the share of the returns' variance its values explain. */
  readonly critic?: { readonly loss: number; readonly explained: number }
}

export interface SamplerOptions {
  /** 0 takes the most likely token. @default 1 */
  readonly temperature?: number
}

export interface Backend extends AsyncDisposable {
  readonly name: string
  readonly capabilities: Capabilities
  /** Grows by one with every step. */
  readonly policyVersion: number
  /** The weights of this moment as an agent; its moves carry the tokens they were drawn as. */
  sampler(options?: SamplerOptions): Agent
  /**
   * One gradient step.
   * @throws RangeError for a malformed batch, another policy version, or an unsupported loss: nothing is applied
   */
  step(batch: TrainBatch): Promise<StepReport>
  /**
   * log p of every token after the prompt, 0 where masked, under the weights of this moment or the reference's: for
   * KL penalties, importance corrections and linearised losses.
   */
  logprobs?(
    segments: readonly TokenSegment[],
    options?: { readonly reference?: boolean },
  ): Promise<readonly Float32Array[]>
  /** Takes the weights of this moment for the reference policy; before that it is the policy as it was opened. */
  keepReference?(): void
  /** What the critic expects of the rest of the episode at every drawn token, 0 where masked. */
  values?(segments: readonly TokenSegment[]): Promise<readonly Float32Array[]>
  /**
   * The segments of an episode that somebody else played, as if this policy had drawn each move: log-probs are 0,
   * advantages 1, and a move that it could not make is read and not drawn. Without one it can make: none.
   */
  demonstrate?(episode: Episode): readonly TokenSegment[]
  /** Writes weights and optimiser state into a folder, whole or not at all. */
  save(folder: string): Promise<void>
  /** @throws Fault `bad-checkpoint` when it belongs to another policy shape; the weights stay as they were */
  load(folder: string): Promise<void>
  /** Writes the weights alone, in one of `capabilities.exports`. */
  export(format: string, file: string): Promise<void>
}

/**
 * Refuses a batch that a backend cannot step with: a loss, normaliser or entropy bonus it did not declare, a
 * malformed segment, another policy version.
 * @throws RangeError saying what was expected; a backend calls it before any gradient
 */
export function assertSteppable(
  { capabilities, policyVersion }: Pick<Backend, 'capabilities' | 'policyVersion'>,
  batch: TrainBatch,
): void {
  const {
    losses,
    normalisers,
    entropy,
    kl = false,
    correction = false,
    critic = false,
  } = capabilities
  const { loss, normaliser } = batch
  if (!losses.includes(loss.kind))
    throw new RangeError(`Expected a loss of ${losses.join(', ')}, got \`${loss.kind}\``)
  if (!normalisers.includes(normaliser.kind))
    throw new RangeError(
      `Expected a normaliser of ${normalisers.join(', ')}, got \`${normaliser.kind}\``,
    )
  if (loss.entropy !== 0 && !entropy)
    throw new RangeError(`Expected entropy 0, which is all this backend has, got ${loss.entropy}`)
  if (loss.kl && !kl)
    throw new RangeError('Expected a loss without a KL penalty, which this backend does not have')
  if (loss.correction && !correction)
    throw new RangeError(
      'Expected a loss without an importance correction, which this backend does not have',
    )
  if (batch.critic && !critic)
    throw new RangeError('Expected a batch without a critic, which this backend does not have')
  assertBatch(batch)
  if (batch.policyVersion !== policyVersion)
    throw new RangeError(
      `Expected a batch for policy version ${policyVersion}, got one for ${batch.policyVersion}`,
    )
}
