/** Belief: evidence about a patient and the exact posterior over diseases; creating and updating it. */

import type { Knowledge } from '../knowledge/knowledge.js'
import type { RevealedFinding } from '../turn.js'
import { initialEvidence } from './evidence.js'
import type { DiseaseBelief } from './expected-value.js'
import type { Likelihood } from './finding-families.js'
import type { Demographics, Model } from './generative-model.js'
import { canBeComplaint, isInapplicable } from './generative-model.js'
import type { Hypotheses } from './hypotheses.js'

/** Evidence about a patient and the posterior given it; an immutable value. */
export interface Belief extends DiseaseBelief {
  /** P(column | evidence) of the hypothesis columns in `at`; sums to 1. */
  readonly columns: Float64Array
  /** Column indices: every possible column, and perhaps some impossible ones. */
  readonly at: Int32Array
}

/** Age, sex and chief complaint: all that is known before the first question. */
export interface Intake extends Demographics {
  /** Ids of the findings that the chief complaint states. */
  readonly complaint?: readonly string[]
}

/** Tables fixed for a knowledge base and a tier, which every belief update reads. */
export interface BeliefContext {
  readonly knowledge: Knowledge
  readonly hypotheses: Hypotheses
  readonly model: Model
  /** P(evidence of a family | class of columns). */
  readonly likelihood: Likelihood
  /** P(a patient remembers the answer). */
  readonly remembered: number
}

/** A belief, and the sum of its column weights before scaling: P(new evidence | belief before). */
interface ConditionedBelief {
  readonly belief: Belief
  readonly sum: number
}

/** Drops impossible columns once they are the majority. */
function compact({ columns, at }: Pick<Belief, 'columns' | 'at'>, possible: number) {
  if (2 * possible > columns.length) return { columns, at }
  const kept = { columns: new Float64Array(possible), at: new Int32Array(possible) }
  for (let c = 0, k = 0; c < columns.length; c++) {
    if (columns[c] === 0) continue
    kept.columns[k] = columns[c]!
    kept.at[k++] = at[c]!
  }
  return kept
}

/** Scales column weights in place to sum to 1, and sums them by disease; undefined where all are 0. */
function normaliseColumns(
  { knowledge, hypotheses: { disease } }: BeliefContext,
  { columns, at, evidence }: Omit<Belief, 'probabilities'>,
): ConditionedBelief | undefined {
  let sum = 0
  for (let c = 0; c < columns.length; c++) sum += columns[c]!
  if (!(sum > 0)) return undefined
  const probabilities = new Float64Array(knowledge.diseases.length)
  const scale = 1 / sum
  let possible = 0
  for (let c = 0; c < columns.length; c++) {
    const p = columns[c]! * scale
    if (p > 0) possible++
    columns[c] = p
    probabilities[disease[at[c]!]!]! += p
  }
  const kept = compact({ columns, at }, possible)
  // Written out: a spread's hidden class, and the code compiled for it, is lost when no belief is alive.
  return { belief: { probabilities, evidence, columns: kept.columns, at: kept.at }, sum }
}

/**
 * The belief with other evidence in the families of `roots`, by Bayes' rule: each column's weight times
 * P(new evidence | column) / P(old evidence | column). Undefined where no remaining disease allows it.
 */
export function conditionBelief(
  context: BeliefContext,
  belief: Belief,
  evidence: Belief['evidence'],
  roots: Iterable<number>,
): ConditionedBelief | undefined {
  const { likelihood, hypotheses } = context
  const { at } = belief
  const columns = belief.columns.slice()
  // One list for all families: a typed array this short costs more to allocate than to fill.
  const ratio: number[] = []
  for (const root of roots) {
    const before = likelihood(root, belief.evidence)
    const after = likelihood(root, evidence)
    for (let g = 0; g < after.length; g++) ratio[g] = before[g]! > 0 ? after[g]! / before[g]! : 0
    const { classOf } = hypotheses.families.of[root]!
    // One indirection less a column while none has been dropped.
    if (at === hypotheses.allColumns)
      for (let c = 0; c < columns.length; c++) columns[c]! *= ratio[classOf[c]!]!
    else for (let c = 0; c < columns.length; c++) columns[c]! *= ratio[classOf[at[c]!]!]!
  }
  return normaliseColumns(context, { columns, at, evidence })
}

/** The one finding that the patient opened with, where it can be a complaint at that age and sex. */
function openedWith(
  { model: { index, nodes } }: BeliefContext,
  { complaint = [], ...who }: Intake,
): number | undefined {
  const f = complaint.length === 1 ? index.get(complaint[0]!) : undefined
  return f !== undefined && canBeComplaint(nodes[f]!) && !isInapplicable(nodes[f]!, who)
    ? f
    : undefined
}

/** The belief before the first question. */
export function initialBelief(context: BeliefContext, { complaint = [], ...who }: Intake): Belief {
  const { model, hypotheses } = context
  const stated = complaint.flatMap((id) => model.index.get(id) ?? [])
  const evidence = initialEvidence(model, who)
  const opened = openedWith(context, { complaint, ...who })
  const at = hypotheses.allColumns
  const certain = evidence.slice()
  if (opened !== undefined) certain[opened] = -2 // present, for certain
  const belief =
    normaliseColumns(context, {
      columns: hypotheses.columnWeights(who, opened),
      at,
      evidence: certain,
    })?.belief ??
    // No disease fits this age, sex and complaint: the prior ignores them.
    normaliseColumns(context, { columns: hypotheses.columnWeights({}, undefined), at, evidence })
      ?.belief
  if (!belief) throw new TypeError('Expected some disease to have a weight above 0, got none')
  if (opened !== undefined) return belief
  const revealed = stated.map((f) => ({ finding: model.nodes[f]!.finding.id, state: 'present' }))
  return observe(context, belief, revealed, true)
}

/** Writes one reported state into `evidence`; returns the root of its family, or -1 where it adds nothing. */
function recordEvidence(
  { index, nodes }: Model,
  evidence: Belief['evidence'],
  { finding, state }: RevealedFinding,
  certain: boolean,
): number {
  const f = index.get(finding)
  if (f === undefined) return -1
  const node = nodes[f]!
  const named = node.finding.states.indexOf(state)
  const s = named >= 0 || state !== 'absent' || node.when.length === 0 ? named : node.closed
  const old = evidence[f]!
  const moot = node.restricted && old === 1 + node.closed
  if (s < 0 || old < 0 || moot || (old > 0 && !certain)) return -1
  evidence[f] = certain ? -1 - s : 1 + s
  return node.root
}

/** The belief given more reported states; a state that no remaining disease allows is ignored. */
export function observe(
  context: BeliefContext,
  belief: Belief,
  revealed: readonly RevealedFinding[],
  certain: boolean,
): Belief {
  const evidence = belief.evidence.slice()
  const roots = new Set<number>()
  for (const one of revealed) roots.add(recordEvidence(context.model, evidence, one, certain))
  roots.delete(-1)
  if (roots.size === 0) return belief
  const conditioned = conditionBelief(context, belief, evidence, roots)
  if (conditioned) return conditioned.belief
  // Some state is impossible: one state at a time, so that only that one is ignored.
  if (revealed.length === 1) return belief
  return revealed.reduce((before, one) => observe(context, before, [one], certain), belief)
}

/** The belief weighted by how eagerly patients come with the complaint, where all they could come with is known. */
function weighComplaint(context: BeliefContext, belief: Belief, complaint: number): Belief {
  const { evidence, at } = belief
  const present = context.model.nodes.flatMap((_, f) => (evidence[f] === -2 ? [f] : []))
  const choice = context.hypotheses.complaintChoice(complaint, present)
  const columns = belief.columns.map((weight, c) => weight * choice[at[c]!]!)
  return normaliseColumns(context, { columns, at, evidence })?.belief ?? belief
}

/**
 * The belief given states known for certain, as from `initialBelief` and `observe`. Where the states settle every
 * finding that could have been the complaint, its choice has a closed form: faster, and exact.
 */
export function beliefGivenStates(
  context: BeliefContext,
  intake: Intake,
  states: readonly RevealedFinding[],
): Belief {
  const settled = new Set(
    states.flatMap(({ finding, state }) => (state === 'unknown' ? [] : [finding])),
  )
  const all = context.model.nodes.every(
    (node) => !canBeComplaint(node) || settled.has(node.finding.id) || isInapplicable(node, intake),
  )
  if (!all) return observe(context, initialBelief(context, intake), states, true)
  const start = initialBelief(context, { ...intake, complaint: [] })
  const belief = observe(context, start, states, true)
  const opened = openedWith(context, intake)
  return opened === undefined ? belief : weighComplaint(context, belief, opened)
}
