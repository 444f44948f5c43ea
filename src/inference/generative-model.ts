/**
 * Generative model of a knowledge base as flat tables: P(state | disease, gate open) of every finding, mixed with
 * the background, and P(disease | age, sex). A finding with a parent has a gate: it can occur only while the parent
 * is in one state. The generator draws from the model; the posterior inverts it, with more than one column per
 * disease (`hypotheses.ts`). Long because drawing and likelihood must use the same nodes and gates.
 */
import type { Disease, FindingDefinition, Knowledge } from '../knowledge/knowledge.js'
import { stateProbabilities } from '../knowledge/knowledge.js'
import { perKnowledge } from '../knowledge/per-knowledge.js'

/** One finding of the model; its index in `nodes` is its index in `knowledge.findings`. */
export interface Node {
  readonly finding: FindingDefinition
  /** Index of the parent's node; -1 for a root. */
  readonly parent: number
  /** The parent's state that opens the gate. */
  readonly when: number
  readonly children: readonly number[]
  /** Node index of the family's root. */
  readonly root: number
  /** Whether the finding exists at one sex or some ages only. */
  readonly restricted: boolean
  /** State index behind a closed gate: one past the finding's own states. */
  readonly closed: number
  /** Index of the normal state: `absent`, or a categorical finding's most common value in the background. */
  readonly normal: number
  /** P(state | column, gate open) at `[state * columns + column]`. */
  readonly chance: Float64Array
}

/** A knowledge base as tables over nodes (findings) and columns (diseases or hypotheses). */
export interface Model {
  /** Number of columns: one per disease, in the order of `knowledge.diseases`, or one per hypothesis. */
  readonly columns: number
  readonly nodes: readonly Node[]
  /** Finding id to node index. */
  readonly index: ReadonlyMap<string, number>
  /** Node indices of findings the patient can report, and of those only an examination shows. */
  readonly knownBy: Readonly<Record<'patient' | 'exam', readonly number[]>>
  /** Exam id to the nodes it shows; a panel shows those of its members. */
  readonly yields: ReadonlyMap<string, readonly number[]>
}

/** A patient's age in years and sex, where known. */
export interface Demographics {
  readonly age?: number | undefined
  readonly sex?: string | undefined
}

/** P(state | diseases, gate open) mixed with the background: p' = (1 - a) p + a · leak, with a the atypicality. */
export function mixWithBackground(
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
  // Most diseases do not list a finding: their probabilities are the background's.
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
      const own = mixWithBackground([disease], findings[f]!, atypicality, backgrounds[f])
      own.forEach((p, state) => {
        tables[f]![state * columns + d] = p
      })
    }
  })
  return tables
}

const mostCommon = (probabilities: readonly number[]): number =>
  probabilities.indexOf(Math.max(...probabilities))

function buildModel(knowledge: Knowledge, atypicality: number): Model {
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
      restricted: finding.sex !== undefined || finding.ages !== undefined,
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

const models = perKnowledge(() => new Map<number, Model>())

/**
 * Generative model of a knowledge base at an atypicality, memoised.
 * @param atypicality share a of the background in every probability: p' = (1 - a) p + a · leak
 * @throws RangeError outside 0 to 1
 */
export function generativeModel(knowledge: Knowledge, atypicality: number): Model {
  if (!(atypicality >= 0 && atypicality <= 1))
    throw new RangeError(`Expected \`atypicality\` to be from 0 to 1, got \`${atypicality}\``)
  const known = models(knowledge)
  const model = known.get(atypicality) ?? buildModel(knowledge, atypicality)
  known.set(atypicality, model)
  return model
}

/** Diseases a patient may have: those of the regular tiers, those only the out-of-distribution tier draws, or all. */
export type DiseasePool = 'common' | 'novel' | 'all'

/** Product of the sex and age multipliers of a disease; 1 for an unknown one. Ages count in whole years. */
function multiplier({ prior }: Disease, { age, sex }: Demographics): number {
  const bySex = sex === 'F' || sex === 'M' ? (prior.sex?.[sex] ?? 1) : 1
  const years = age === undefined ? undefined : Math.floor(age)
  const band =
    years === undefined ? undefined : prior.age?.find(({ lo, hi }) => years >= lo && years <= hi)
  return bySex * (band?.mult ?? 1)
}

/** Unnormalised P(disease | age, sex) of each disease: base rate times sex and age multipliers. */
export function priorWeights(
  knowledge: Knowledge,
  who: Demographics,
  drawn: DiseasePool = 'common',
): Float64Array {
  return Float64Array.from(knowledge.diseases, (disease) =>
    drawn === 'all' || disease.novel === (drawn === 'novel')
      ? disease.prior.base * multiplier(disease, who)
      : 0,
  )
}

/** Unnormalised P(second disease | disease, age, sex); 0 for the disease's own group, novel and incompatible ones. */
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

/** Noise of a patient's answer about a boolean finding, given that the patient remembers. */
export interface AnswerNoise {
  /** P(reported absent | present). */
  readonly deny: number
  /** P(reported present | absent). */
  readonly overReport: number
}

/**
 * Evidence on each node: 0 none, `1 + state` reported, `-1 - state` certain. A finding of another sex or age is
 * reported as `closed`, which favours no disease.
 */
export type Evidence = Int8Array

/** Whether the patient's sex or age, where known, rules a finding out. */
export const isInapplicable = (
  { finding: { sex, ages } }: Pick<Node, 'finding'>,
  who: Demographics,
): boolean =>
  (sex !== undefined && (who.sex === 'F' || who.sex === 'M') && who.sex !== sex) ||
  (ages !== undefined &&
    who.age !== undefined &&
    (who.age < ages[0] || Math.floor(who.age) > ages[1]))

/** Evidence before anything is asked: findings that sex or age rules out are marked `closed`. */
export function initialEvidence({ nodes }: Model, who: Demographics): Evidence {
  const evidence = new Int8Array(nodes.length)
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

/** Number of true states of a node, a child's closed gate included. */
const trueStateCount = ({ closed, parent }: Node): number => (parent < 0 ? closed : closed + 1)

/** Number of states a node can be reported in: an absent boolean child sounds the same with its gate closed. */
export const reportedStateCount = ({ finding, closed, parent }: Node): number =>
  parent >= 0 && finding.type === 'cat' ? closed + 1 : closed

/**
 * Upward message of belief propagation: P(evidence at and below node `f` | its true state, column), at
 * `[state * columns + column]`. Undefined where there is no evidence, when all are 1.
 */
function upwardMessage(
  model: Pick<Model, 'nodes' | 'columns'>,
  f: number,
  evidence: Evidence,
  channel: AnswerNoise,
): Float64Array | undefined {
  const { columns } = model
  const node = model.nodes[f]!
  const states = trueStateCount(node)
  let message: Float64Array | undefined
  if (evidence[f] !== 0) {
    message = new Float64Array(states * columns)
    for (let s = 0; s < states; s++)
      message.fill(stateLikelihood(node, s, evidence[f]!, channel), s * columns, (s + 1) * columns)
  }
  for (const c of node.children) {
    const below = upwardMessage(model, c, evidence, channel)
    if (!below) continue
    message ??= new Float64Array(states * columns).fill(1)
    const child = model.nodes[c]!
    for (let d = 0; d < columns; d++) {
      const open = sumOutStates(child, below, d, columns)
      const shut = below[child.closed * columns + d]!
      for (let s = 0; s < states; s++) message[s * columns + d]! *= s === child.when ? open : shut
    }
  }
  return message
}

/** Sum over a node's states s of P(s | column d, gate open) · P(evidence at and below | s, d). */
function sumOutStates(
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

/** P(evidence on the family of `root` | column) for every column, summed over true states. */
export function familyLikelihood(
  model: Pick<Model, 'nodes' | 'columns'>,
  root: number,
  evidence: Evidence,
  channel: AnswerNoise,
): Float64Array {
  const out = new Float64Array(model.columns).fill(1)
  const message = upwardMessage(model, root, evidence, channel)
  if (!message) return out
  for (let d = 0; d < out.length; d++)
    out[d] = sumOutStates(model.nodes[root]!, message, d, model.columns)
  return out
}
