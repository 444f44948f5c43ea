/** Forward and backward pass of the embedded policy over a segment: log-probs, and the exact weight gradient. */
import type { TokenSegment } from '../../batch.js'
import type { StepTotals } from '../losses/step-report.js'
import {
  addEvidence,
  type PolicyHead,
  type PolicyShape,
  type PolicyWeights,
  policyHead,
} from './belief.js'
import { type ActionDistribution, actionDistribution, maskedSoftmax } from './policy.js'
import type { SegmentFeatures } from './segment-features.js'

/** Working memory of the passes. */
interface Buffers {
  readonly head: PolicyHead
  readonly current: ActionDistribution
  /** Sum of the evidence read so far, per conclusion. */
  readonly scores: Float64Array
  /** d loss / d score, summed from a drawn token to the last. */
  readonly suffix: Float64Array
  /** Per drawn token and action: the probability after `forward`, d loss / d logit after `toSlopes`. */
  slopes: Float64Array
  /** Per drawn token: the scores of the conclusions. */
  states: Float64Array
}

function grow(buffers: Buffers, drawn: number): void {
  const { slopes, states, current, scores } = buffers
  const [actions, conclusions] = [current.logprobs.length, scores.length]
  if (slopes.length < drawn * actions) buffers.slopes = new Float64Array(drawn * actions)
  if (states.length < drawn * conclusions) buffers.states = new Float64Array(drawn * conclusions)
}

/** Log-probs and entropies of drawn tokens along the mask. */
function forward(
  buffers: Buffers,
  { tokens, promptLength, mask, temperature }: TokenSegment,
  { rows, values, positions, activeCounts, turnsLeft, actionMask }: SegmentFeatures,
  weights: PolicyWeights,
) {
  grow(buffers, positions.length)
  const { head, current, scores, slopes, states } = buffers
  const actions = current.logprobs.length
  const logprobs = new Float64Array(mask.length)
  const entropies = new Float64Array(mask.length)
  scores.fill(0)
  let added = 0
  for (let n = 0; n < positions.length; n++) {
    for (; added < activeCounts[n]!; added++)
      addEvidence(scores, weights, rows[added]!, values[added]!)
    states.set(scores, n * scores.length)
    const at = n * actions
    head.forward(weights, scores, turnsLeft[n]!, { mask: actionMask, at, logits: current.logprobs })
    maskedSoftmax(current, actionMask, at, temperature)
    const t = positions[n]!
    logprobs[t] = current.logprobs[tokens[promptLength + t]!]!
    entropies[t] = current.entropy
    slopes.set(current.probabilities, at)
  }
  return { logprobs, entropies }
}

/** Turns the probabilities of a drawn token into d loss / d logits, given d loss / d log p. */
function toSlopes(
  slopes: Float64Array,
  { at, actions, token }: { readonly at: number; readonly actions: number; readonly token: number },
  { pull, entropy, bonus }: { readonly pull: number; entropy: number; bonus: number },
  temperature: number,
): void {
  for (let i = at, a = 0; a < actions; i++, a++) {
    const p = slopes[i]!
    // The entropy bonus adds d(-cH)/dz = c p (log p + H).
    const spread = bonus !== 0 && p > 0 ? bonus * p * (Math.log(p) + entropy) : 0
    slopes[i] = (pull * ((a === token ? 1 : 0) - p) + spread) / temperature
  }
}

/** Gradient of one segment, from its last drawn token to its first. */
function backward(
  buffers: Buffers,
  { tokens, promptLength, temperature }: TokenSegment,
  { rows, values, positions, activeCounts, turnsLeft, actionMask }: SegmentFeatures,
  { weights, gradient }: { weights: PolicyWeights; gradient: readonly Float64Array[] },
  { pulls, entropies, bonus }: { pulls: Float64Array; entropies: Float64Array; bonus: number },
): void {
  const { head, current, scores, suffix, slopes, states } = buffers
  const [actions, conclusions] = [current.logprobs.length, suffix.length]
  suffix.fill(0)
  for (let n = positions.length - 1; n >= 0; n--) {
    const t = positions[n]!
    const at = n * actions
    if (pulls[t] !== 0 || bonus !== 0) {
      const token = tokens[promptLength + t]!
      const signal = { pull: pulls[t]!, entropy: entropies[t]!, bonus }
      toSlopes(slopes, { at, actions, token }, signal, temperature)
      scores.set(states.subarray(n * conclusions, (n + 1) * conclusions))
      const seen = { mask: actionMask, at, logits: current.logprobs }
      head.forward(weights, scores, turnsLeft[n]!, seen)
      head.backward(weights, gradient, turnsLeft[n]!, slopes, at)
      for (let d = 0; d < conclusions; d++) suffix[d]! += head.buffer.scoreSlopes[d]!
    }
    // A feature, once active, is active at every later token: its row gets all slopes from there on.
    for (let i = n > 0 ? activeCounts[n - 1]! : 0; i < activeCounts[n]!; i++) {
      const [into, value] = [gradient[rows[i]!]!, values[i]!]
      for (let d = 0; d < conclusions; d++) into[d]! += value * suffix[d]!
    }
  }
}

/** Creates the passes of a policy over `actions` actions. They share buffers, so only one may run at a time. */
export function segmentPasses(shape: PolicyShape) {
  const conclusions = shape.conclusions.length
  const buffers: Buffers = {
    head: policyHead(shape),
    current: actionDistribution(conclusions + shape.others.length),
    scores: new Float64Array(conclusions),
    suffix: new Float64Array(conclusions),
    slopes: new Float64Array(0),
    states: new Float64Array(0),
  }
  return {
    /** log p of every token after the prompt, 0 where masked. */
    logprobs: (segment: TokenSegment, features: SegmentFeatures, weights: PolicyWeights) =>
      forward(buffers, segment, features, weights).logprobs,
    /**
     * Adds d loss / d weights of one segment, times the segment's `weight`, to the rows of `gradient`, and its drawn
     * tokens to `sums`. `bonus` multiplies its entropies. `weights` and `gradient` must have a row for every feature.
     */
    addGradient(
      segment: TokenSegment,
      features: SegmentFeatures,
      { weight, bonus }: { readonly weight: number; readonly bonus: number },
      pass: {
        readonly weights: PolicyWeights
        readonly gradient: readonly Float64Array[]
        readonly sums: StepTotals
      },
    ): void {
      const { logprobs, entropies } = forward(buffers, segment, features, pass.weights)
      const pulls = pass.sums.add({ segment, logprobs, entropies, weight, bonus })
      backward(buffers, segment, features, pass, { pulls, entropies, bonus })
    },
  }
}

/** Forward and backward passes over segments. */
export type SegmentPasses = ReturnType<typeof segmentPasses>
