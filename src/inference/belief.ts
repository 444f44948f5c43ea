/** What is known of a patient, and what it makes of the diseases: exact, however it was learnt. */

import type { Knowledge } from '../knowledge/knowledge.js'
import type { Told } from '../turn.js'
import type { Known } from './expected-value.js'
import type { Likelihood } from './finding-families.js'
import type { Demographics, Model } from './generative-model.js'
import { evidenceOf, isMoot } from './generative-model.js'
import type { Hypotheses } from './hypotheses.js'
import { opens } from './hypotheses.js'

/** What is known and what it makes of the diseases; a value, never changed. */
export interface Belief extends Known {
  /** P(column of the hypotheses | what is known), of the columns `at`. */
  readonly columns: Float64Array
  /** Those that are possible, and perhaps some that are not. */
  readonly at: Int32Array
}

export interface Intake extends Demographics {
  /** Findings the chief complaint states. */
  readonly complaint?: readonly string[]
}

/** Everything that is fixed for a knowledge base and a tier. */
export interface Ground {
  readonly knowledge: Knowledge
  readonly hypotheses: Hypotheses
  readonly model: Model
  /** P(evidence of a family | class of columns). */
  readonly likelihood: Likelihood
  /** P(a patient remembers). */
  readonly remembered: number
}

/** A belief and the chance of what made it of the one before. */
interface Supposed {
  readonly belief: Belief
  readonly sum: number
}

/** Without impossible columns, where those are most. */
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

/** P(disease | what is known) of weighted columns, which are scaled to sum to 1; undefined where all are 0. */
function believed(
  { knowledge, hypotheses: { disease } }: Ground,
  { columns, at, evidence }: Omit<Belief, 'probabilities'>,
): Supposed | undefined {
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
  // Written out: a spread's hidden class, and what was compiled for it, is lost when no belief is alive.
  return { belief: { probabilities, evidence, columns: kept.columns, at: kept.at }, sum }
}

/** The belief with other evidence in some families, and its chance; undefined where no disease left allows it. */
export function supposing(
  ground: Ground,
  belief: Belief,
  evidence: Belief['evidence'],
  roots: Iterable<number>,
): Supposed | undefined {
  const { likelihood, hypotheses } = ground
  const { at } = belief
  const columns = belief.columns.slice()
  // One for all families: so short an array of floats costs more to allocate than to fill.
  const ratio: number[] = []
  for (const root of roots) {
    const before = likelihood(root, belief.evidence)
    const after = likelihood(root, evidence)
    for (let g = 0; g < after.length; g++) ratio[g] = before[g]! > 0 ? after[g]! / before[g]! : 0
    const { classOf } = hypotheses.families.of[root]!
    // One step less a column while none has been left out.
    if (at === hypotheses.every)
      for (let c = 0; c < columns.length; c++) columns[c]! *= ratio[classOf[c]!]!
    else for (let c = 0; c < columns.length; c++) columns[c]! *= ratio[classOf[at[c]!]!]!
  }
  return believed(ground, { columns, at, evidence })
}

/** The belief before the first question. */
export function start(ground: Ground, { complaint = [], ...who }: Intake): Belief {
  const { model, hypotheses } = ground
  const stated = complaint.flatMap((id) => model.index.get(id) ?? [])
  const evidence = evidenceOf(model, who)
  const first = stated.length === 1 ? model.nodes[stated[0]!] : undefined
  const opened = first && opens(first) && !isMoot(first, who) ? stated[0] : undefined
  const at = hypotheses.every
  const certain = evidence.slice()
  if (opened !== undefined) certain[opened] = -2
  const belief =
    believed(ground, { columns: hypotheses.start(who, opened), at, evidence: certain })?.belief ??
    // Nobody of this age and sex: what is known of them is set aside.
    believed(ground, { columns: hypotheses.start({}, undefined), at, evidence })?.belief
  if (!belief) throw new TypeError('Expected some disease to have a weight above 0, got none')
  if (opened !== undefined) return belief
  const told = stated.map((f) => ({ finding: model.nodes[f]!.finding.id, state: 'present' }))
  return observe(ground, belief, told, true)
}

/** Writes into `evidence` what something told says of its finding; -1 where it says nothing new, or else the root. */
function note(
  { index, nodes }: Model,
  evidence: Belief['evidence'],
  { finding, state }: Told,
  certain: boolean,
): number {
  const f = index.get(finding)
  if (f === undefined) return -1
  const node = nodes[f]!
  const named = node.finding.states.indexOf(state)
  const s = named >= 0 || state !== 'absent' || node.parent < 0 ? named : node.closed
  const old = evidence[f]!
  const moot = node.gated && old === 1 + node.closed
  if (s < 0 || old < 0 || moot || (old > 0 && !certain)) return -1
  evidence[f] = certain ? -1 - s : 1 + s
  return node.root
}

export function observe(
  ground: Ground,
  belief: Belief,
  told: readonly Told[],
  certain: boolean,
): Belief {
  const evidence = belief.evidence.slice()
  const roots = new Set<number>()
  for (const one of told) roots.add(note(ground.model, evidence, one, certain))
  roots.delete(-1)
  if (roots.size === 0) return belief
  const supposed = supposing(ground, belief, evidence, roots)
  if (supposed) return supposed.belief
  // Some of it is impossible: one at a time, so that only that is set aside.
  if (told.length === 1) return belief
  return told.reduce((before, one) => observe(ground, before, [one], certain), belief)
}

/**
 * The belief of somebody who is told these states for certain, as from `start` and `observe`. Where that settles
 * all that the patient could have opened with, the choice of the complaint says no more, and it is quicker.
 */
export function knowing(ground: Ground, intake: Intake, states: readonly Told[]): Belief {
  const settled = new Set(
    states.flatMap(({ finding, state }) => (state === 'unknown' ? [] : [finding])),
  )
  const all = ground.model.nodes.every(
    (node) => !opens(node) || settled.has(node.finding.id) || isMoot(node, intake),
  )
  return observe(ground, start(ground, all ? { ...intake, complaint: [] } : intake), states, true)
}
