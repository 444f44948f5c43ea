/**
 * The generative model of a knowledge base as flat tables: P(state | disease, gate open) of every finding,
 * mixed with the background, and P(disease | age, sex). The generator draws from it; the posterior inverts it,
 * with more columns than one a disease (`hypotheses.ts`).
 */
import type { Disease, FindingDefinition, Knowledge } from '../knowledge/knowledge.js'
import { stateProbabilities } from '../knowledge/knowledge.js'

/** One finding of the model; its index in `nodes` is its index in `knowledge.findings`. */
export interface Node {
  readonly finding: FindingDefinition
  /** Index of the parent's node; -1 for a root. */
  readonly parent: number
  /** The parent's state that opens the gate. */
  readonly when: number
  readonly children: readonly number[]
  /** Index of the family's root. */
  readonly root: number
  /** It exists only at one sex or some ages. */
  readonly gated: boolean
  /** The state behind a closed gate: one past the others. */
  readonly closed: number
  /** The unremarkable state: `absent`, or a categorical finding's most common value in the background. */
  readonly normal: number
  /** P(state | column, gate open) at `[state * columns + column]`. */
  readonly chance: Float64Array
}

export interface Model {
  /** One column a disease, in the order of `knowledge.diseases`, or one a hypothesis. */
  readonly columns: number
  readonly nodes: readonly Node[]
  /** Finding id to node index. */
  readonly index: ReadonlyMap<string, number>
  /** Nodes the patient can tell, and nodes an examination can show. */
  readonly knownBy: Readonly<Record<'patient' | 'exam', readonly number[]>>
  /** Exam id to the nodes it yields; a panel's are its members'. */
  readonly yields: ReadonlyMap<string, readonly number[]>
}

/** A patient's age in years and sex, where known. */
export interface Demographics {
  readonly age?: number | undefined
  readonly sex?: string | undefined
}

/** P(state | diseases, gate open) with the background mixed in: p' = (1 - a) p + a · leak. */
export function mixed(
  diseases: readonly Disease[],
  finding: FindingDefinition,
  atypicality: number,
  background: readonly number[] = stateProbabilities([], finding),
): readonly number[] {
  return stateProbabilities(diseases, finding).map(
    (p, state) => (1 - atypicality) * p + atypicality * background[state]!,
  )
}

/** P(state | disease, gate open) of every finding, at `[state * diseases + disease]`. */
function stateTables(
  { diseases, findings }: Knowledge,
  index: ReadonlyMap<string, number>,
  atypicality: number,
): readonly Float64Array[] {
  const columns = diseases.length
  const backgrounds = findings.map((finding) => stateProbabilities([], finding))
  // Most diseases do not list a finding, and so show it as often as its background.
  const tables = backgrounds.map((background) => {
    const table = new Float64Array(background.length * columns)
    background.forEach((p, state) => {
      table.fill(p, state * columns, (state + 1) * columns)
    })
    return table
  })
  diseases.forEach((disease, d) => {
    for (const id of Object.keys(disease.findings)) {
      const f = index.get(id)
      if (f === undefined) continue
      const own = mixed([disease], findings[f]!, atypicality, backgrounds[f])
      own.forEach((p, state) => {
        tables[f]![state * columns + d] = p
      })
    }
  })
  return tables
}

const mostCommon = (probabilities: readonly number[]): number =>
  probabilities.indexOf(Math.max(...probabilities))

function build(knowledge: Knowledge, atypicality: number): Model {
  const { findings } = knowledge
  const index = new Map(findings.map((finding, f) => [finding.id, f] as const))
  const parents = findings.map((f) => (f.parent ? (index.get(f.parent.finding) ?? -1) : -1))
  const children: number[][] = findings.map(() => [])
  for (let f = 0; f < parents.length; f++) children[parents[f]!]?.push(f)
  const tables = stateTables(knowledge, index, atypicality)
  const roots: number[] = []
  const nodes = findings.map((finding, f): Node => {
    const parent = parents[f]!
    const root = parent < 0 ? f : roots[parent]!
    roots.push(root)
    return {
      finding,
      parent,
      when: finding.parent ? findings[parent]!.states.indexOf(finding.parent.when) : -1,
      children: children[f]!,
      root,
      gated: finding.sex !== undefined || finding.ages !== undefined,
      closed: finding.states.length,
      normal: finding.type === 'bool' ? 0 : mostCommon(stateProbabilities([], finding)),
      chance: tables[f]!,
    }
  })
  const nodesOf = (ids: readonly string[]) => ids.flatMap((id) => index.get(id) ?? [])
  const yields = new Map(
    knowledge.exams.map((exam) => {
      const ids = exam.panelOf.flatMap((id) => knowledge.exam.get(id)?.yields ?? [])
      return [exam.id, nodesOf([...new Set([...exam.yields, ...ids])])] as const
    }),
  )
  const of = (knownBy: 'patient' | 'exam') =>
    findings.flatMap((finding, f) => (finding.knownBy === knownBy ? [f] : []))
  const knownBy = { patient: of('patient'), exam: of('exam') }
  return { columns: knowledge.diseases.length, nodes, index, knownBy, yields }
}

const models = new WeakMap<Knowledge, Map<number, Model>>()

/**
 * The model of a knowledge base at an atypicality, built once.
 * @param atypicality share of the background in every probability: p' = (1 - a) p + a · leak
 * @throws RangeError outside 0 to 1
 */
export function modelOf(knowledge: Knowledge, atypicality: number): Model {
  if (!(atypicality >= 0 && atypicality <= 1))
    throw new RangeError(`Expected \`atypicality\` to be from 0 to 1, got \`${atypicality}\``)
  const known = models.get(knowledge) ?? new Map<number, Model>()
  const model = known.get(atypicality) ?? build(knowledge, atypicality)
  models.set(knowledge, known.set(atypicality, model))
  return model
}

/** Which diseases somebody may have: those every tier draws, those only the out-of-distribution tier draws, or all. */
export type Drawn = 'common' | 'novel' | 'all'

/** Sex and age multipliers of a disease; what is unknown counts 1. Ages count in whole years. */
function multiplier({ prior }: Disease, { age, sex }: Demographics): number {
  const bySex = sex === 'F' || sex === 'M' ? (prior.sex?.[sex] ?? 1) : 1
  const years = age === undefined ? undefined : Math.floor(age)
  const band =
    years === undefined ? undefined : prior.age?.find(({ lo, hi }) => years >= lo && years <= hi)
  return bySex * (band?.mult ?? 1)
}

/** Weights of the diseases, not normalised: base rate times sex and age multipliers. */
export function priorWeights(
  knowledge: Knowledge,
  who: Demographics,
  drawn: Drawn = 'common',
): Float64Array {
  return Float64Array.from(knowledge.diseases, (disease) =>
    drawn === 'all' || disease.novel === (drawn === 'novel')
      ? disease.prior.base * multiplier(disease, who)
      : 0,
  )
}

/** Weights of the second diseases that may accompany one, not normalised; its own group and itself never do. */
export function companionWeights(
  knowledge: Knowledge,
  disease: Disease,
  who: Demographics,
): Float64Array {
  return Float64Array.from(knowledge.diseases, (other) =>
    other.group === disease.group ||
    other.novel ||
    other.incompatible.includes(disease.id) ||
    disease.incompatible.includes(other.id)
      ? 0
      : other.comorbid * multiplier(other, who),
  )
}

/** How a present and an absent boolean finding are told, given that the patient remembers. */
export interface Channel {
  /** P(told absent | present). */
  readonly deny: number
  /** P(told present | absent). */
  readonly overReport: number
}

/**
 * What is known of each node: 0 nothing, `1 + state` as told, `-1 - state` for certain. A finding of another
 * sex or age is told as `closed`, which says nothing of any disease.
 */
export type Evidence = Int8Array

/** Whether a finding cannot exist in a patient of that sex and age; false where neither rules it out. */
export const isMoot = (
  { finding: { sex, ages } }: Pick<Node, 'finding'>,
  who: Demographics,
): boolean =>
  (sex !== undefined && (who.sex === 'F' || who.sex === 'M') && who.sex !== sex) ||
  (ages !== undefined &&
    who.age !== undefined &&
    (who.age < ages[0] || Math.floor(who.age) > ages[1]))

/** The evidence of a patient before anything is asked. */
export function evidenceOf({ nodes }: Model, who: Demographics): Evidence {
  const evidence = new Int8Array(nodes.length)
  for (let f = 0; f < nodes.length; f++) {
    const node = nodes[f]!
    if (node.gated && isMoot(node, who)) evidence[f] = 1 + node.closed
  }
  return evidence
}

/**
 * P(evidence of one node | its true state). A categorical answer and an examination are never wrong, and a
 * boolean finding behind a closed gate is told as absent.
 */
function weigh(
  { finding, closed, gated }: Node,
  state: number,
  evidence: number,
  channel: Channel,
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

/** True states a node can have, a child's closed gate among them. */
const trueStates = ({ closed, parent }: Node): number => (parent < 0 ? closed : closed + 1)

/** States a node can be told in: an absent boolean child is told alike whether or not its gate is open. */
export const toldStates = ({ finding, closed, parent }: Node): number =>
  parent >= 0 && finding.type === 'cat' ? closed + 1 : closed

/**
 * P(evidence below and at node `f` | its true state, column), at `[state * columns + column]`;
 * undefined where there is no evidence and so all are 1.
 */
function upward(
  model: Pick<Model, 'nodes' | 'columns'>,
  f: number,
  evidence: Evidence,
  channel: Channel,
): Float64Array | undefined {
  const { columns } = model
  const node = model.nodes[f]!
  const states = trueStates(node)
  let message: Float64Array | undefined
  if (evidence[f] !== 0) {
    message = new Float64Array(states * columns)
    for (let s = 0; s < states; s++)
      message.fill(weigh(node, s, evidence[f]!, channel), s * columns, (s + 1) * columns)
  }
  for (const c of node.children) {
    const below = upward(model, c, evidence, channel)
    if (!below) continue
    message ??= new Float64Array(states * columns).fill(1)
    const child = model.nodes[c]!
    for (let d = 0; d < columns; d++) {
      const open = throughGate(child, below, d, columns)
      const shut = below[child.closed * columns + d]!
      for (let s = 0; s < states; s++) message[s * columns + d]! *= s === child.when ? open : shut
    }
  }
  return message
}

/** Sum over a node's states of P(state | disease, gate open) times what lies below. */
function throughGate(
  { finding, chance }: Node,
  below: Float64Array,
  d: number,
  columns: number,
): number {
  let sum = 0
  for (let s = 0; s < finding.states.length; s++)
    sum += chance[s * columns + d]! * below[s * columns + d]!
  return sum
}

/** P(evidence of the family of `root` | column), summed over true states, for every column. */
export function familyLikelihood(
  model: Pick<Model, 'nodes' | 'columns'>,
  root: number,
  evidence: Evidence,
  channel: Channel,
): Float64Array {
  const out = new Float64Array(model.columns).fill(1)
  const message = upward(model, root, evidence, channel)
  if (!message) return out
  for (let d = 0; d < out.length; d++)
    out[d] = throughGate(model.nodes[root]!, message, d, model.columns)
  return out
}
