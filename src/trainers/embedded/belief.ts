/**
 * The policy's head: logits of all actions from a belief over the conclusions (diagnoses).
 *
 * The scores of the conclusions are the sum of the evidence rows of all that was read, as in naive Bayes; their softmax
 * is the belief. A conclusion's logit is the logarithm of its belief plus the gate, which decides when to conclude by the
 * turns left and by how sure the belief is. Another action's logit is its bias plus its value under each likely
 * conclusion, normalised over the actions still open. So what to say, what to ask and when to stop are learnt apart, and
 * all weights 0 are the uniform policy.
 */
import type { FeatureExtractor } from './policy.js'

/** Weights of one policy version, by row; rows are never written after they are made. */
export interface PolicyWeights {
  /** Row of each feature. Features beyond `rows` were added later and are not part of these weights. */
  readonly rowOf: ReadonlyMap<number, number>
  /** Bias of the other actions, the gate, the value of the other actions under each conclusion, then the evidence. */
  readonly rows: readonly Float64Array[]
}

/** The gate has a weight for so many numbers of turns left; more count as the last. */
export const clockTicks = 64
/** Log-odds against concluding while something can still be asked, at weights 0: to conclude takes a reason. */
const reserve = 3
/** Belief below this brings nothing to a question's value: early beliefs are flat, and it keeps the sum short. */
const floor = 0.02

/** Which actions conclude, and which rows of the weights are whose. */
export interface PolicyShape {
  readonly conclusions: Int32Array
  readonly others: Int32Array
  /** Row of the bias and of the gate: turns left, then highest belief, then entropy of the belief. */
  readonly bias: 0
  readonly gate: 1
  /** First row of the values under each conclusion. */
  readonly values: 2
  /** Number of rows that every policy of the shape has: the evidence comes after them. */
  readonly fixed: number
}

/** The shape of a policy over an extractor's actions. */
export function policyShape({ concludes }: Pick<FeatureExtractor, 'concludes'>): PolicyShape {
  const ids = (wanted: boolean) =>
    Int32Array.from(concludes.flatMap((one, a) => (one === wanted ? [a] : [])))
  const conclusions = ids(true)
  const rows = { bias: 0, gate: 1, values: 2 } as const
  return { conclusions, others: ids(false), ...rows, fixed: 2 + conclusions.length }
}

/** Width of a row. */
export const rowWidth = ({ conclusions, others, gate, fixed }: PolicyShape, row: number): number =>
  row === gate ? clockTicks + 3 : row < fixed ? others.length : conclusions.length

/** Weights 0 without any evidence row. */
export const zeroWeights = (shape: PolicyShape): PolicyWeights => ({
  rowOf: new Map(),
  rows: Array.from({ length: shape.fixed }, (_, row) => new Float64Array(rowWidth(shape, row))),
})

/** Adds a feature's evidence to the scores of the conclusions. A row beyond these weights, or -1, adds nothing. */
export function addEvidence(
  scores: Float64Array,
  { rows }: PolicyWeights,
  row: number,
  value: number,
): void {
  const weights = row < 0 ? undefined : rows[row]
  if (weights) for (let d = 0; d < scores.length; d++) scores[d]! += value * weights[d]!
}

/** Working memory of the head at one state. */
export const headBuffer = ({ conclusions, others }: PolicyShape) => ({
  /** Probability of each conclusion. */
  belief: new Float64Array(conclusions.length),
  /** Probability of each other action among those that are open. */
  shares: new Float64Array(others.length),
  /** Gradient by each score of the conclusions, and by each other action's score. */
  scoreSlopes: new Float64Array(conclusions.length),
  otherSlopes: new Float64Array(others.length),
  /** Highest belief and its place, and entropy over its largest value. */
  top: 0,
  best: 0,
  spread: 0,
})

/** Working memory of the head. */
export type HeadBuffer = ReturnType<typeof headBuffer>

/** Softmax of `scores` into `into`; returns the logarithm of the normaliser. */
function softmax(scores: Float64Array, into: Float64Array): number {
  let top = Number.NEGATIVE_INFINITY
  for (let i = 0; i < scores.length; i++) if (scores[i]! > top) top = scores[i]!
  let sum = 0
  for (let i = 0; i < scores.length; i++) {
    const power = Math.exp(scores[i]! - top)
    into[i] = power
    sum += power
  }
  for (let i = 0; i < scores.length; i++) into[i]! /= sum
  return top + Math.log(sum)
}

/** Belief of the scores, its highest value and its entropy; returns the logarithm of the normaliser. */
function readBelief(buffer: HeadBuffer, scores: Float64Array): number {
  const { belief } = buffer
  const shift = softmax(scores, belief)
  let [entropy, best] = [0, 0]
  for (let d = 0; d < belief.length; d++) {
    const p = belief[d]!
    if (p > 0) entropy -= p * (scores[d]! - shift)
    if (p > belief[best]!) best = d
  }
  buffer.best = best
  buffer.top = belief[best]!
  buffer.spread = belief.length > 1 ? entropy / Math.log(belief.length) : 0
  return shift
}

/** The value of each other action, into the logits of all actions, before they are normalised. */
function addQuestionValues(
  { belief }: HeadBuffer,
  { others, bias, values }: PolicyShape,
  { rows }: PolicyWeights,
  into: Float64Array,
): void {
  into.set(rows[bias]!)
  for (let d = 0; d < belief.length; d++) {
    const weight = belief[d]! - floor
    if (weight <= 0) continue
    const row = rows[values + d]!
    for (let i = 0; i < others.length; i++) into[i]! += weight * row[i]!
  }
}

/** A head's shape, its working memory, and the scores of the other actions. */
interface HeadParts {
  readonly shape: PolicyShape
  readonly buffer: HeadBuffer
  readonly raw: Float64Array
}

/** Log-odds of concluding, before the reserve. */
function leanOf(gate: Float64Array, { top, spread }: HeadBuffer, turnsLeft: number): number {
  const sure = gate[clockTicks]! * top + gate[clockTicks + 1]! * spread
  return gate[Math.min(turnsLeft, clockTicks - 1)]! + gate[clockTicks + 2]! + sure
}

function writeLogits(
  { shape, buffer, raw }: HeadParts,
  weights: PolicyWeights,
  scores: Float64Array,
  turnsLeft: number,
  { mask, at, logits }: { mask: Uint8Array; at: number; logits: Float64Array },
): void {
  const { conclusions, others, gate } = shape
  const shift = readBelief(buffer, scores)
  let open = 0
  for (let i = 0; i < others.length; i++) open += mask[at + others[i]!]!
  // With the last turn no question is open, and none needs a value.
  if (open > 0) addQuestionValues(buffer, shape, weights, raw)
  for (let i = 0; i < others.length; i++)
    if (mask[at + others[i]!] !== 1) raw[i] = Number.NEGATIVE_INFINITY
  if (open === 0) buffer.shares.fill(0)
  const norm = open > 0 ? softmax(raw, buffer.shares) : 0
  const level = open > 0 ? leanOf(weights.rows[gate]!, buffer, turnsLeft) - reserve : 0
  for (let d = 0; d < conclusions.length; d++) logits[conclusions[d]!] = scores[d]! - shift + level
  for (let i = 0; i < others.length; i++) logits[others[i]!] = raw[i]! - norm
}

/** Adds what the belief did through the questions' values and the gate to the slopes of the scores. */
function addBeliefSlopes(
  { shape, buffer }: HeadParts,
  { rows }: PolicyWeights,
  gradient: readonly Float64Array[],
  topSlope: number,
  spreadSlope: number,
): void {
  const { belief, otherSlopes, scoreSlopes, best, spread } = buffer
  const scale = belief.length > 1 ? Math.log(belief.length) : 1
  let mean = 0
  for (let d = 0; d < belief.length; d++) {
    const p = belief[d]!
    let slope = d === best ? topSlope : 0
    const weight = p - floor
    if (weight > 0) {
      const row = rows[shape.values + d]!
      const into = gradient[shape.values + d]!
      for (let i = 0; i < otherSlopes.length; i++) {
        slope += otherSlopes[i]! * row[i]!
        into[i]! += weight * otherSlopes[i]!
      }
    }
    // d entropy / d score = -p (log p + entropy).
    if (p > 0) scoreSlopes[d]! -= spreadSlope * p * (Math.log(p) / scale + spread)
    scoreSlopes[d]! += p * slope
    mean += p * slope
  }
  for (let d = 0; d < belief.length; d++) scoreSlopes[d]! -= belief[d]! * mean
}

function addSlopes(
  parts: HeadParts,
  weights: PolicyWeights,
  gradient: readonly Float64Array[],
  turnsLeft: number,
  { slopes, at }: { readonly slopes: Float64Array; readonly at: number },
): void {
  const { shape, buffer } = parts
  const { conclusions, others, gate } = shape
  const { belief, shares, scoreSlopes, otherSlopes } = buffer
  let lean = 0
  for (let d = 0; d < conclusions.length; d++) lean += slopes[at + conclusions[d]!]!
  for (let d = 0; d < conclusions.length; d++)
    scoreSlopes[d] = slopes[at + conclusions[d]!]! - belief[d]! * lean
  let total = 0
  for (let i = 0; i < others.length; i++) total += slopes[at + others[i]!]!
  const bias = gradient[shape.bias]!
  for (let i = 0; i < others.length; i++) {
    otherSlopes[i] = slopes[at + others[i]!]! - shares[i]! * total
    bias[i]! += otherSlopes[i]!
  }
  // Where nothing else is open, the gate is 0 whatever its weights are.
  if (others.length === 0 || shares.every((share) => share === 0)) return
  const row = weights.rows[gate]!
  const own = gradient[gate]!
  own[Math.min(turnsLeft, clockTicks - 1)]! += lean
  own[clockTicks]! += lean * buffer.top
  own[clockTicks + 1]! += lean * buffer.spread
  own[clockTicks + 2]! += lean
  addBeliefSlopes(parts, weights, gradient, lean * row[clockTicks]!, lean * row[clockTicks + 1]!)
}

/** Creates the head of a policy shape; it has one working memory, so one state at a time. */
export function policyHead(shape: PolicyShape) {
  const parts = { shape, buffer: headBuffer(shape), raw: new Float64Array(shape.others.length) }
  return {
    buffer: parts.buffer,
    /**
     * Writes the logits of all actions for the scores of the conclusions.
     * @param seen `mask`: 1 for allowed actions, read from index `at` on; `logits`: written
     */
    forward: (
      weights: PolicyWeights,
      scores: Float64Array,
      turnsLeft: number,
      seen: { readonly mask: Uint8Array; readonly at: number; readonly logits: Float64Array },
    ): void => writeLogits(parts, weights, scores, turnsLeft, seen),
    /**
     * Gradient of the last `forward`, from d loss / d logit of all actions: adds to the fixed rows' `gradient`, and
     * leaves d loss / d score in `buffer.scoreSlopes`.
     */
    backward: (
      weights: PolicyWeights,
      gradient: readonly Float64Array[],
      turnsLeft: number,
      slopes: Float64Array,
      at: number,
    ): void => addSlopes(parts, weights, gradient, turnsLeft, { slopes, at }),
  }
}

/** Logits of all actions, and their gradient. */
export type PolicyHead = ReturnType<typeof policyHead>
