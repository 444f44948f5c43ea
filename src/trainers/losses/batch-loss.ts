/** The loss of a whole batch of plain arrays, and its gradient: for a training loop of one's own. */
import type { StepReport } from '../../backend.js'
import type { Loss, NormaliserKind, Objective } from '../../batch.js'
import { makeNormaliser, normaliserKinds } from '../../batch.js'
import { assertLoss } from './assert-loss.js'
import { stepReport } from './step-report.js'

/** One row per sequence, one number per token. */
export type TokenRows = readonly ArrayLike<number>[]

/** What a batch's loss is a function of. Masked tokens are not read. */
export interface LossBatch {
  /** log p under the weights being trained. */
  readonly logprobs: TokenRows
  /** log p under the weights the ratio is measured from. @default `logprobs`: a ratio of 1 */
  readonly oldLogprobs?: TokenRows
  /** log p by the sampler, for an importance correction. @default `oldLogprobs` */
  readonly samplerLogprobs?: TokenRows
  /** log p under the reference policy, for a KL penalty. */
  readonly refLogprobs?: TokenRows
  /** Of a row, or of each of its tokens. */
  readonly advantages: readonly (number | ArrayLike<number>)[]
  /** 1 where the policy drew the token, 0 where it read it. @default all 1 */
  readonly mask?: TokenRows
  /** Of the policy at each token, in nats, for an entropy bonus. */
  readonly entropies?: TokenRows
  /** The rollout of each row; rows of one rollout count once in `rollout-mean` and `dr-grpo`. @default one each */
  readonly rollouts?: readonly (string | number)[]
}

export interface BatchLossOptions {
  /** `entropy` is 0 where it is left out. */
  readonly loss: Objective & Partial<Pick<Loss, 'entropy' | 'kl' | 'correction'>>
  /** How token losses become one number: a kind, or each row's multiplier. */
  readonly normaliser: NormaliserKind | ArrayLike<number>
  /** For `dr-grpo`: the most tokens a rollout can draw. */
  readonly maxTokens?: number
}

/** The loss of a batch, its gradient, and statistics over drawn tokens as a backend reports them. */
export interface BatchLoss
  extends Omit<StepReport, 'policyVersion' | 'gradNorm' | 'logprobGap' | 'critic'> {
  /** d loss / d log p of every token, 0 where masked. An entropy bonus is no function of log-probs: it is left out. */
  readonly gradients: readonly (readonly number[])[]
}

/** Rows that were checked against the log-probs of the batch. */
type Checked = (name: keyof LossBatch, rows: TokenRows) => TokenRows

/** @throws RangeError naming the field, the row and the token */
function checkedAgainst(logprobs: TokenRows, masks: readonly Uint8Array[]): Checked {
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

/** The masks of a batch. @throws RangeError for another shape than the log-probs', or a number that is not 0 or 1 */
function masksOf({ logprobs, mask }: LossBatch): Uint8Array[] {
  if (!mask) return logprobs.map(({ length }) => new Uint8Array(length).fill(1))
  const every = mask.map(({ length }) => new Uint8Array(length).fill(1))
  checkedAgainst(logprobs, every)('mask', mask)
  return mask.map((row, r) =>
    Uint8Array.from(row, (drawn, t) => {
      if (drawn === 0 || drawn === 1) return drawn
      throw new RangeError(`Expected \`mask[${r}]\` to be 0 or 1, got \`${drawn}\` at token ${t}`)
    }),
  )
}

/** The multiplier of each row's tokens. @throws RangeError for a kind there is not, or another number of multipliers */
function weightsOf(
  { rollouts }: LossBatch,
  masks: readonly Uint8Array[],
  { normaliser, maxTokens }: BatchLossOptions,
): ArrayLike<number> {
  const count = masks.length
  if (rollouts && rollouts.length !== count)
    throw new RangeError(`Expected \`rollouts\` of ${count} rows, got ${rollouts.length}`)
  if (typeof normaliser !== 'string') {
    const wrong = Array.from(normaliser).find((weight) => !Number.isFinite(weight))
    if (wrong !== undefined || normaliser.length !== count)
      throw new RangeError(
        `Expected \`normaliser\` of ${count} finite numbers, got \`${wrong ?? normaliser.length}\``,
      )
    return normaliser
  }
  if (!normaliserKinds.includes(normaliser))
    throw new RangeError(
      `Expected \`normaliser\` to be ${normaliserKinds.join(', ')}, got \`${normaliser}\``,
    )
  const rows = masks.map((mask, r) => ({ mask, rolloutId: String(rollouts?.[r] ?? r) }))
  return makeNormaliser(normaliser, rows, maxTokens === undefined ? {} : { maxTokens }).perSegment
}

/** @throws RangeError for a loss that needs what the batch does not have */
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
 * The loss of a batch and its derivative by every log-prob, as every backend computes them.
 * @throws RangeError naming what is wrong and its value: rows of another length, a number that is not finite where
 *   drawn, a mask that is not 0 or 1, a loss or normaliser of unknown kind, a negative bound, no drawn token at all
 */
export function batchLoss(batch: LossBatch, options: BatchLossOptions): BatchLoss {
  const loss: Loss = { ...options.loss, entropy: options.loss.entropy ?? 0 }
  assertLoss(loss)
  assertComplete(loss, batch)
  const masks = masksOf(batch)
  const checked = checkedAgainst(batch.logprobs, masks)
  const logprobs = checked('logprobs', batch.logprobs)
  const old = checked('oldLogprobs', batch.oldLogprobs ?? logprobs)
  const sampled = checked('samplerLogprobs', batch.samplerLogprobs ?? old)
  const reference = batch.refLogprobs && checked('refLogprobs', batch.refLogprobs)
  const entropies = batch.entropies && checked('entropies', batch.entropies)
  const advantages = checked(
    'advantages',
    batch.advantages.map((own, r) =>
      typeof own === 'number' ? new Float64Array(masks[r]?.length ?? 0).fill(own) : own,
    ),
  )
  const weights = weightsOf(batch, masks, options)
  const sums = stepReport(loss, 0)
  const gradients = masks.map((mask, r) =>
    Array.from(
      sums.add({
        segment: {
          ...{ mask, logprobs: sampled[r]!, oldLogprobs: old[r]!, advantages: advantages[r]! },
          ...(reference ? { refLogprobs: reference[r]! } : {}),
          // Of no version: the gap between sampler and trainer is not reported.
          policyVersions: [],
        },
        logprobs: logprobs[r]!,
        ...(entropies ? { entropies: entropies[r]! } : {}),
        weight: weights[r]!,
      }),
    ),
  )
  const { policyVersion: _, gradNorm: __, logprobGap: ___, ...report } = sums.report(0, 0)
  return { ...report, gradients }
}
