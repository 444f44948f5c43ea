/** Forward and backward pass of the embedded policy over a segment: log-probs, and the exact weight gradient. */
import type { TokenSegment } from '../../batch.js'
import type { StepTotals } from '../losses/step-report.js'
import type { ActionDistribution, PolicyWeights } from './policy.js'
import { actionDistribution, addScaled, addWeightRow, maskedSoftmax } from './policy.js'
import type { SegmentFeatures } from './segment-features.js'

/** Working memory of the passes. */
interface Buffers {
  readonly current: ActionDistribution
  readonly logits: Float64Array
  /** Sum of the slopes from a drawn token to the last, per action. */
  readonly suffix: Float64Array
  /** Per drawn token and action: the probability after `forward`, d loss / d logit after `backward`. */
  slopes: Float64Array
}

/** Log-probs and entropies of drawn tokens along the mask. */
function forward(
  buffers: Buffers,
  { tokens, promptLength, mask, temperature }: TokenSegment,
  { rows, clockCount, values, positions, activeCounts, clockIndexes, actionMask }: SegmentFeatures,
  weights: PolicyWeights,
) {
  const { current, logits } = buffers
  const actions = logits.length
  const size = positions.length * actions
  if (buffers.slopes.length < size) buffers.slopes = new Float64Array(size)
  const logprobs = new Float64Array(mask.length)
  const entropies = new Float64Array(mask.length)
  logits.fill(0)
  let added = 0
  for (let n = 0; n < positions.length; n++) {
    for (; added < activeCounts[n]!; added++)
      addWeightRow(logits, weights, rows[clockCount + added]!, values[added]!)
    current.logprobs.set(logits)
    addWeightRow(current.logprobs, weights, rows[clockIndexes[n]!] ?? -1, 1)
    maskedSoftmax(current, actionMask, n * actions, temperature)
    const t = positions[n]!
    logprobs[t] = current.logprobs[tokens[promptLength + t]!]!
    entropies[t] = current.entropy
    buffers.slopes.set(current.probabilities, n * actions)
  }
  return { logprobs, entropies }
}

/** Turns the probabilities of drawn tokens into d loss / d logits, given d loss / d log p along the mask. */
function backward(
  { slopes, logits: { length: actions } }: Buffers,
  { tokens, promptLength, temperature }: TokenSegment,
  { positions }: SegmentFeatures,
  { pulls, entropies }: { readonly pulls: Float64Array; readonly entropies: Float64Array },
  bonus: number,
): void {
  for (let n = 0; n < positions.length; n++) {
    const t = positions[n]!
    const token = tokens[promptLength + t]!
    for (let i = n * actions, a = 0; a < actions; i++, a++) {
      const p = slopes[i]!
      // The entropy bonus adds d(-cH)/dz = c p (log p + H).
      const spread = bonus !== 0 && p > 0 ? bonus * p * (Math.log(p) + entropies[t]!) : 0
      slopes[i] = (pulls[t]! * ((a === token ? 1 : 0) - p) + spread) / temperature
    }
  }
}

/** Adds each drawn token's slopes to the weight rows of its active features. */
function addToRows(
  gradient: Float64Array,
  { suffix, slopes }: Buffers,
  { rows, clockCount, values, positions, activeCounts, clockIndexes }: SegmentFeatures,
): void {
  const actions = suffix.length
  const add = (row: number, from: Float64Array, at: number, value: number) => {
    for (let i = row * actions, a = 0; a < actions; i++, a++)
      gradient[i] = gradient[i]! + value * from[at + a]!
  }
  for (let n = 0; n < positions.length; n++) add(rows[clockIndexes[n]!]!, slopes, n * actions, 1)
  // A feature, once active, is active at every later token: its row gets all slopes from there on.
  suffix.fill(0)
  for (let n = positions.length - 1; n >= 0; n--) {
    addScaled(suffix, slopes, n * actions, 1)
    for (let i = n > 0 ? activeCounts[n - 1]! : 0; i < activeCounts[n]!; i++)
      add(rows[clockCount + i]!, suffix, 0, values[i]!)
  }
}

/** Creates the passes of a policy over `actions` actions. They share buffers, so only one may run at a time. */
export function segmentPasses(actions: number) {
  const buffers: Buffers = {
    current: actionDistribution(actions),
    logits: new Float64Array(actions),
    suffix: new Float64Array(actions),
    slopes: new Float64Array(0),
  }
  return {
    /** log p of every token after the prompt, 0 where masked. */
    logprobs: (segment: TokenSegment, features: SegmentFeatures, weights: PolicyWeights) =>
      forward(buffers, segment, features, weights).logprobs,
    /**
     * Adds d loss / d weights of one segment, times the segment's `weight`, to `gradient` (rows × actions, row-major),
     * and its drawn tokens to `sums`. `bonus` multiplies its entropies. `weights` must have a row for every feature.
     */
    addGradient(
      segment: TokenSegment,
      features: SegmentFeatures,
      { weight, bonus }: { readonly weight: number; readonly bonus: number },
      pass: {
        readonly weights: PolicyWeights
        readonly gradient: Float64Array
        readonly sums: StepTotals
      },
    ): void {
      const { logprobs, entropies } = forward(buffers, segment, features, pass.weights)
      const pulls = pass.sums.add({ segment, logprobs, entropies, weight, bonus })
      backward(buffers, segment, features, { pulls, entropies }, bonus)
      addToRows(pass.gradient, buffers, features)
    },
  }
}

/** Forward and backward passes over segments. */
export type SegmentPasses = ReturnType<typeof segmentPasses>
