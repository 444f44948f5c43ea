/** Loss and gradient of a batch of plain arrays, for custom training loops. */
import type { StepReport } from '../../backend.js'
import type { Loss, Normaliser, NormaliserKind, Objective } from '../../batch.js'
import { countDrawnTokens, makeNormaliser, normaliserKinds } from '../../batch.js'
import { assertLoss } from './assert-loss.js'
import { entropyWeight } from './entropy-bonus.js'
import { stepReport } from './step-report.js'

/** Ragged array: one row per sequence, one number per token. */
export type TokenRows = readonly ArrayLike<number>[]

/** Arguments of a batch's loss. Masked tokens are not read. */
export interface LossBatch {
  /** log p under the weights being trained. */
  readonly logprobs: TokenRows
  /** log p under the old weights of the ratio. @default `logprobs`: a ratio of 1 */
  readonly oldLogprobs?: TokenRows
  /** log p under the sampler, for an importance correction. @default `oldLogprobs` */
  readonly samplerLogprobs?: TokenRows
  /** log p under the reference policy, for a KL penalty. */
  readonly refLogprobs?: TokenRows
  /** One number per row, or per token of a row. */
  readonly advantages: readonly (number | ArrayLike<number>)[]
  /** 1 where the policy drew the token, 0 where it read it. @default all 1 */
  readonly mask?: TokenRows
  /** Entropy of the policy at each token, in nats, for an entropy bonus. */
  readonly entropies?: TokenRows
  /** Rollout id of each row; rows of one rollout count once in `rollout-mean` and `dr-grpo`. @default one each */
  readonly rollouts?: readonly (string | number)[]
}

/** Options of {@link batchLoss}. */
export interface BatchLossOptions {
  /** The loss; `entropy` defaults to 0. */
  readonly loss: Objective & Partial<Omit<Loss, keyof Objective>>
  /** Normaliser of the token losses: a kind, or each row's multiplier. */
  readonly normaliser: NormaliserKind | ArrayLike<number>
  /** For `dr-grpo`: maximum number of tokens a rollout can draw. */
  readonly maxTokens?: number
}

/** Loss of a batch, its gradient, and the statistics over drawn tokens that a backend reports. */
export interface BatchLoss
  extends Omit<StepReport, 'policyVersion' | 'gradNorm' | 'logprobGap' | 'critic' | 'entropy'> {
  /** Mean entropy at drawn tokens, in nats; null for a batch without `entropies`. */
  readonly entropy: number | null
  /** d loss / d log p of every token, 0 where masked, without the entropy bonus, which is no function of log-probs. */
  readonly gradients: readonly (readonly number[])[]
}

/** Returns `rows` if their shape is that of the log-probs. */
type CheckRows = (name: keyof LossBatch, rows: TokenRows) => TokenRows

/** Makes a check of rows, which throws a RangeError naming the field, the row and the token. */
function rowChecker(logprobs: TokenRows, masks: readonly Uint8Array[]): CheckRows {
  return (name, rows) => {
    if (rows.length !== logprobs.length)
      throw new RangeError(`Expected \`${name}\` of ${logprobs.length} rows, got ${rows.length}`)
    rows.forEach((row, r) => {
      const { length } = logprobs[r]!
      if (row.length !== length)
        throw new RangeError(`Expected \`${name}[${r}]\` of length ${length}, got ${row.length}`)
      for (let t = 0; t < length; t++)
        if (masks[r]![t] === 1 && !Number.isFinite(row[t]))
          throw new RangeError(
            `Expected \`${name}[${r}]\` to be finite where drawn, got \`${row[t]}\` at token ${t}`,
          )
    })
    return rows
  }
}

/** Reads the masks. @throws RangeError for another shape than the log-probs', or a number that is not 0 or 1 */
function readMasks({ logprobs, mask }: LossBatch): Uint8Array[] {
  if (!mask) return logprobs.map(({ length }) => new Uint8Array(length).fill(1))
  const every = mask.map(({ length }) => new Uint8Array(length).fill(1))
  rowChecker(logprobs, every)('mask', mask)
  return mask.map((row, r) =>
    Uint8Array.from(row, (drawn, t) => {
      if (drawn === 0 || drawn === 1) return drawn
      throw new RangeError(`Expected \`mask[${r}]\` to be 0 or 1, got \`${drawn}\` at token ${t}`)
    }),
  )
}

/** Computes the multiplier of each row's tokens; the caller's own stand for themselves. @throws RangeError for an unknown kind or a wrong number of rows */
function rowWeights(
  { rollouts }: LossBatch,
  masks: readonly Uint8Array[],
  { normaliser, maxTokens }: BatchLossOptions,
): Normaliser {
  const count = masks.length
  if (rollouts && rollouts.length !== count)
    throw new RangeError(`Expected \`rollouts\` of ${count} rows, got ${rollouts.length}`)
  if (typeof normaliser !== 'string') {
    const wrong = Array.from(normaliser).find((weight) => !Number.isFinite(weight))
    if (wrong !== undefined || normaliser.length !== count)
      throw new RangeError(
        `Expected \`normaliser\` of ${count} finite numbers, got \`${wrong ?? normaliser.length}\``,
      )
    const drawnTokens = masks.reduce((sum, mask) => sum + countDrawnTokens({ mask }), 0)
    return { kind: 'sum', perSegment: Float64Array.from(normaliser), drawnTokens }
  }
  if (!normaliserKinds.includes(normaliser))
    throw new RangeError(
      `Expected \`normaliser\` to be ${normaliserKinds.join(', ')}, got \`${normaliser}\``,
    )
  const rows = masks.map((mask, r) => ({ mask, rolloutId: String(rollouts?.[r] ?? r) }))
  return makeNormaliser(normaliser, rows, maxTokens === undefined ? {} : { maxTokens })
}

/** @throws RangeError if the batch lacks a field that the loss needs */
function assertComplete(
  { entropy, kl, correction }: Loss,
  { entropies, refLogprobs, samplerLogprobs }: LossBatch,
): void {
  for (const [needed, name, rows] of [
    [entropy > 0, 'entropies', entropies],
    [kl !== undefined, 'refLogprobs', refLogprobs],
    [correction !== undefined, 'samplerLogprobs', samplerLogprobs],
  ] as const)
    if (needed && !rows)
      throw new RangeError(`Expected \`${name}\`, which this loss needs, got \`${rows}\``)
}

/**
 * Computes the loss of a batch and its derivative by every log-prob, as every backend does.
 * @throws RangeError naming the field and its value: rows of another length, a number that is not finite where drawn, a
 *   mask that is not 0 or 1, a loss or normaliser of unknown kind, a negative bound, no drawn token at all
 */
export function batchLoss(batch: LossBatch, options: BatchLossOptions): BatchLoss {
  const loss: Loss = { ...options.loss, entropy: options.loss.entropy ?? 0 }
  assertLoss(loss)
  assertComplete(loss, batch)
  const masks = readMasks(batch)
  const check = rowChecker(batch.logprobs, masks)
  const logprobs = check('logprobs', batch.logprobs)
  const old = check('oldLogprobs', batch.oldLogprobs ?? logprobs)
  const sampled = check('samplerLogprobs', batch.samplerLogprobs ?? old)
  const reference = batch.refLogprobs && check('refLogprobs', batch.refLogprobs)
  const entropies = batch.entropies && check('entropies', batch.entropies)
  const advantages = check(
    'advantages',
    batch.advantages.map((own, r) =>
      typeof own === 'number' ? new Float64Array(masks[r]?.length ?? 0).fill(own) : own,
    ),
  )
  const weights = rowWeights(batch, masks, options)
  const sums = stepReport(loss, 0)
  const gradients = masks.map((mask, r) =>
    Array.from(
      sums.add({
        segment: {
          ...{ mask, logprobs: sampled[r]!, oldLogprobs: old[r]!, advantages: advantages[r]! },
          ...(reference ? { refLogprobs: reference[r]! } : {}),
          // Without versions, there is no sampler-trainer gap to report.
          policyVersions: [],
        },
        logprobs: logprobs[r]!,
        ...(entropies ? { entropies: entropies[r]! } : {}),
        weight: weights.perSegment[r]!,
        bonus: entropyWeight(loss, weights, r),
      }),
    ),
  )
  const { policyVersion: _, gradNorm: __, logprobGap: ___, ...report } = sums.report(0, 0)
  return { ...report, entropy: entropies ? report.entropy : null, gradients }
}
