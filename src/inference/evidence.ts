/**
 * Evidence about a patient, and its likelihood in a family of findings by belief propagation: true states are summed
 * over, from the leaves up, since an answer may be wrong and a finding may depend on its parent's state.
 */
import type { Demographics, Model, Node } from './generative-model.js'
import { chanceOf, isInapplicable, isOpen } from './generative-model.js'

/** Noise of a patient's answer about a boolean finding, given that the patient remembers. */
export interface AnswerNoise {
  /** P(reported absent | present). */
  readonly deny: number
  /** P(reported present | absent). */
  readonly overReport: number
}

/**
 * Evidence on each node: 0 none, `1 + state` reported, `-1 - state` certain. A finding of another sex or age is
 * reported as `closed`, which favours no disease. One entry more than nodes: the last is the patient's band.
 */
export type Evidence = Int8Array

/** Evidence before anything is asked: findings that sex or age rules out are marked `closed`. */
export function initialEvidence({ nodes, bandOf }: Model, who: Demographics): Evidence {
  const evidence = new Int8Array(nodes.length + 1)
  evidence[nodes.length] = bandOf(who)
  for (let f = 0; f < nodes.length; f++) {
    const node = nodes[f]!
    if (node.restricted && isInapplicable(node, who)) evidence[f] = 1 + node.closed
  }
  return evidence
}

/**
 * P(evidence on one node | its true state). Categorical answers and examinations are never wrong. A boolean
 * finding behind a closed gate is reported absent.
 */
function stateLikelihood(
  { finding, closed, restricted: gated }: Node,
  state: number,
  evidence: number,
  channel: AnswerNoise,
): number {
  if (evidence === 0) return 1
  const named = evidence < 0 ? -1 - evidence : evidence - 1
  if (gated && named === closed) return 1
  if (state === closed) return named === closed || (finding.type === 'bool' && named === 0) ? 1 : 0
  const exact = evidence < 0 || finding.type === 'cat' || finding.knownBy === 'exam'
  if (exact) return named === state ? 1 : 0
  const wrong = state === 1 ? channel.deny : channel.overReport
  return named === state ? 1 - wrong : wrong
}

/** Number of true states of a node, a closed gate included. */
const trueStateCount = ({ closed, when }: Node): number => (when.length === 0 ? closed : closed + 1)

/** Number of states a node can be reported in: an absent boolean child sounds the same with its gate closed. */
export const reportedStateCount = ({ finding, closed, when }: Node): number =>
  when.length > 0 && finding.type === 'cat' ? closed + 1 : closed

/** The part of a model that a message needs. */
type Tree = Pick<Model, 'nodes' | 'columns'>

/** The patient's band, which the evidence's last entry names. */
const bandIn = ({ nodes }: Tree, evidence: Evidence): number => evidence[nodes.length] ?? 0

/**
 * Upward message of belief propagation: P(evidence at and below node `f` | its true state, column), at
 * `[state * columns + column]`. Undefined where there is no evidence, when all are 1.
 */
function upwardMessage(
  tree: Tree,
  f: number,
  evidence: Evidence,
  channel: AnswerNoise,
): Float64Array | undefined {
  const { columns } = tree
  const node = tree.nodes[f]!
  const states = trueStateCount(node)
  let message: Float64Array | undefined
  if (evidence[f] !== 0) {
    message = new Float64Array(states * columns)
    for (let s = 0; s < states; s++)
      message.fill(stateLikelihood(node, s, evidence[f]!, channel), s * columns, (s + 1) * columns)
  }
  // Of another sex or age: whatever its state in the tables, the patient has none.
  const moot = node.restricted && evidence[f] === 1 + node.closed
  for (const c of node.children) {
    const below = upwardMessage(tree, c, evidence, channel)
    if (!below) continue
    message ??= new Float64Array(states * columns).fill(1)
    const child = tree.nodes[c]!
    for (let s = 0; s < states; s++)
      passUp(child, below, moot ? node.closed : s, message.subarray(s * columns), {
        columns,
        band: bandIn(tree, evidence),
      })
  }
  return message
}

/** Multiplies P(evidence at and below a child | its parent's true state, column) into a row of the parent's message. */
function passUp(
  child: Node,
  below: Float64Array,
  above: number,
  row: Float64Array,
  { columns, band }: { readonly columns: number; readonly band: number },
): void {
  if (!isOpen(child, above)) {
    for (let d = 0; d < columns; d++) row[d]! *= below[child.closed * columns + d]!
    return
  }
  const chance = chanceOf(child, band, above)
  for (let d = 0; d < columns; d++) row[d]! *= sumOutStates(child, chance, below, d, columns)
}

/** Sum over a node's states s of P(s | column d, gate open) · P(evidence at and below | s, d). */
function sumOutStates(
  { finding }: Node,
  chance: Float64Array,
  below: Float64Array,
  d: number,
  columns: number,
): number {
  let sum = 0
  for (let s = 0; s < finding.states.length; s++)
    sum += chance[s * columns + d]! * below[s * columns + d]!
  return sum
}

/** P(evidence on the family of `root` | column) for every column, summed over true states. */
export function familyLikelihood(
  tree: Tree,
  root: number,
  evidence: Evidence,
  channel: AnswerNoise,
): Float64Array {
  const out = new Float64Array(tree.columns).fill(1)
  const message = upwardMessage(tree, root, evidence, channel)
  if (!message) return out
  const node = tree.nodes[root]!
  const chance = chanceOf(node, bandIn(tree, evidence), -1)
  for (let d = 0; d < out.length; d++) out[d] = sumOutStates(node, chance, message, d, tree.columns)
  return out
}
