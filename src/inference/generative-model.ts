/**
 * Generative model of a knowledge base as flat tables: P(state | disease, gate open) of every finding, mixed with
 * the background, and P(disease | age, sex). A finding with a parent has a gate: it can occur only while the parent
 * is in one state. The generator draws from the model; the posterior inverts it, with more than one column per
 * disease (`hypotheses.ts`). Long because drawing and likelihood must use the same nodes and gates.
 */
import type { Background, Disease, FindingDefinition, Knowledge } from '../knowledge/knowledge.js'
import {
  ageAfter,
  backgroundFor,
  canComeWith,
  parentOf,
  stateProbabilities,
} from '../knowledge/knowledge.js'
import { perKnowledge } from '../knowledge/per-knowledge.js'

/** One finding of the model; its index in `nodes` is its index in `knowledge.findings`. */
export interface Node {
  readonly finding: FindingDefinition
  /** Index of the node that its probabilities depend on: a gate, or a condition of `given`; -1 for a root. */
  readonly parent: number
  /** The parent's states that open the gate; empty where nothing is gated. */
  readonly when: readonly number[]
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
  /** Tables in place of `chance` where the background varies: by the patient's band, or by the parent's true state. */
  readonly variants?: {
    readonly by: 'band' | 'parent'
    readonly tables: readonly Float64Array[]
    /** Background of each table. */
    readonly backgrounds: readonly Background[]
  }
  /** How eagerly a patient of each column comes with it; only where it can be the chief complaint. */
  readonly rates?: Float64Array
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
  /** Index of a patient's band: patients of one band have one background. 0 is nothing known. */
  bandOf(who: Demographics): number
}

/** A patient's age in years and sex, where known. */
export interface Demographics {
  readonly age?: number | undefined
  readonly sex?: string | undefined
}

/** Whether a node's gate is open at its parent's true state; one without a gate always is. */
export const isOpen = ({ when }: Node, above: number): boolean =>
  when.length === 0 || when.includes(above)

/** P(state | column) of a node for a patient's band and the true state of its parent, gate open. */
export const chanceOf = ({ chance, variants }: Node, band: number, above: number): Float64Array =>
  variants ? variants.tables[variants.by === 'band' ? band : above]! : chance

/** The node with every table of probabilities changed; tables that were one object stay one. */
export function mapTables(
  node: Node,
  change: (table: Float64Array, background: Background) => Float64Array,
): Node {
  const changed = new Map<Float64Array, Float64Array>()
  const once = (table: Float64Array, background: Background): Float64Array => {
    const known = changed.get(table) ?? change(table, background)
    changed.set(table, known)
    return known
  }
  const { variants } = node
  const chance = once(node.chance, { leak: node.finding.leak })
  if (!variants) return { ...node, chance }
  const tables = variants.tables.map((table, v) => once(table, variants.backgrounds[v]!))
  return { ...node, chance, variants: { ...variants, tables } }
}

/** P(state | diseases, gate open) mixed with the background: p' = (1 - a) p + a · leak, with a the atypicality. */
export function mixWithBackground(
  diseases: readonly Disease[],
  finding: FindingDefinition,
  atypicality: number,
  background: Background = finding,
): readonly number[] {
  const without = stateProbabilities([], finding, background)
  return stateProbabilities(diseases, finding, background).map(
    (p, state) => (1 - atypicality) * p + atypicality * without[state]!,
  )
}

/** P(state | disease, gate open) of a finding, at `[state * diseases + disease]`. */
function stateTable(
  { diseases }: Knowledge,
  finding: FindingDefinition,
  atypicality: number,
  background: Background,
): Float64Array {
  const columns = diseases.length
  const table = new Float64Array(finding.states.length * columns)
  // Most diseases do not list a finding: their probabilities are the background's.
  stateProbabilities([], finding, background).forEach((p, state) => {
    table.fill(p, state * columns, (state + 1) * columns)
  })
  diseases.forEach((disease, d) => {
    if (disease.findings[finding.id] === undefined) return
    mixWithBackground([disease], finding, atypicality, background).forEach((p, state) => {
      table[state * columns + d] = p
    })
  })
  return table
}

/** Bands of patients: the cells between all ages at which some background changes, by sex; an unknown one apart. */
function patientBands({ findings }: Knowledge) {
  const limits = findings.flatMap(({ leakBands = [] }) =>
    leakBands.flatMap(({ ages }) => (ages ? [ages[0], ageAfter(ages[1])] : [])),
  )
  const cuts = [0, ...new Set(limits.filter((age) => age > 0))].sort((a, b) => a - b)
  const sexes = [undefined, 'F', 'M']
  const people = [undefined, ...cuts].flatMap((age) => sexes.map((sex) => ({ age, sex })))
  // Evidence holds the band in one byte.
  if (people.length > 127)
    throw new RangeError(`Expected at most 41 ages in \`leakBands\`, got ${cuts.length}`)
  const bandOf = ({ age, sex }: Demographics): number => {
    const cell = age === undefined ? 0 : cuts.filter((cut) => cut <= age).length
    return cell * sexes.length + Math.max(0, sexes.indexOf(sex))
  }
  return { people, bandOf }
}

/** All tables of a finding: one, or one for each band or state of the parent; equal backgrounds share a table. */
function findingTables(
  knowledge: Knowledge,
  finding: FindingDefinition,
  atypicality: number,
  people: readonly Demographics[],
): Pick<Node, 'chance' | 'variants'> {
  const known = new Map<unknown, Float64Array>()
  const tableFor = (background: Background): Float64Array => {
    // Backgrounds that rule something out are few, and never shared.
    const key = background.excluded ?? background.leak
    const table = known.get(key) ?? stateTable(knowledge, finding, atypicality, background)
    known.set(key, table)
    return table
  }
  const chance = tableFor({ leak: finding.leak })
  const vary = (by: 'band' | 'parent', backgrounds: readonly Background[]) => ({
    chance,
    variants: { by, backgrounds, tables: backgrounds.map(tableFor) },
  })
  const above = finding.given && knowledge.finding.get(finding.given.finding)
  if (above) {
    // One more than its states: behind a closed gate, or of another sex or age.
    const states = [...above.states, undefined]
    return vary(
      'parent',
      states.map((state) => backgroundFor(finding, {}, state)),
    )
  }
  if (!finding.leakBands) return { chance }
  return vary(
    'band',
    people.map((who) => backgroundFor(finding, who)),
  )
}

/** Share of its salience at which a finding that no disease of the patient comes with is still complained of. */
const backgroundEagerness = 0.004

/** Rate at which a patient stays at home: one with nothing but background findings mostly does. */
export const stayHomeRate = 0.05

/** How eagerly patients of each disease come with a finding; undefined where nobody does. */
function complaintRates({ diseases }: Knowledge, finding: FindingDefinition) {
  const { id, salience } = finding
  if (!canComeWith(finding)) return undefined
  const rates = Float64Array.from(
    diseases,
    ({ complaints }) => complaints[id] ?? backgroundEagerness * salience,
  )
  return rates.some((rate) => rate > 0) ? { rates } : undefined
}

const mostCommon = (probabilities: readonly number[]): number =>
  probabilities.indexOf(Math.max(...probabilities))

/** Tables of all findings, and how they hang together. */
function buildNodes(
  knowledge: Knowledge,
  index: ReadonlyMap<string, number>,
  atypicality: number,
  people: readonly Demographics[],
): readonly Node[] {
  const { findings } = knowledge
  const parents = findings.map((f) => index.get(parentOf(f) ?? '') ?? -1)
  const children: number[][] = findings.map(() => [])
  for (let f = 0; f < parents.length; f++) children[parents[f]!]?.push(f)
  const roots: number[] = []
  return findings.map((finding, f): Node => {
    const parent = parents[f]!
    const root = parent < 0 ? f : roots[parent]!
    roots.push(root)
    return {
      finding,
      parent,
      when: [finding.parent?.when ?? []]
        .flat()
        .map((state) => findings[parent]!.states.indexOf(state)),
      children: children[f]!,
      root,
      restricted: finding.sex !== undefined || finding.ages !== undefined,
      closed: finding.states.length,
      normal: finding.type === 'bool' ? 0 : mostCommon(stateProbabilities([], finding)),
      ...findingTables(knowledge, finding, atypicality, people),
      ...complaintRates(knowledge, finding),
    }
  })
}

function buildModel(knowledge: Knowledge, atypicality: number): Model {
  const { findings } = knowledge
  const index = new Map(findings.map((finding, f) => [finding.id, f] as const))
  const { people, bandOf } = patientBands(knowledge)
  const nodes = buildNodes(knowledge, index, atypicality, people)
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
  return { columns: knowledge.diseases.length, nodes, index, knownBy, yields, bandOf }
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

/** Whether the patient's sex or age, where known, rules a finding out. */
export const isInapplicable = (
  { finding: { sex, ages } }: Pick<Node, 'finding'>,
  who: Demographics,
): boolean =>
  (sex !== undefined && (who.sex === 'F' || who.sex === 'M') && who.sex !== sex) ||
  (ages !== undefined &&
    who.age !== undefined &&
    (who.age < ages[0] || Math.floor(who.age) > ages[1]))

/** Whether everybody knows a finding of theirs at least roughly: how long the illness has lasted. */
export const isUnforgettable = ({
  attribute,
  parent,
}: Pick<FindingDefinition, 'attribute' | 'parent'>): boolean =>
  attribute === 'duration' && parent === undefined

/** Whether a finding can be the chief complaint: a boolean root that the patient knows and somebody comes with. */
export const canBeComplaint = ({ rates }: Node): boolean => rates !== undefined

/** P(a patient comes with this complaint | all findings present), by column: its rate over that of all clocks. */
export function complaintChoice(
  { nodes, columns }: Pick<Model, 'nodes' | 'columns'>,
  complaint: number,
  present: readonly number[],
): Float64Array {
  const all = new Float64Array(columns).fill(stayHomeRate)
  for (const f of present) {
    const { rates } = nodes[f]!
    if (rates) for (let h = 0; h < columns; h++) all[h]! += rates[h]!
  }
  const own = nodes[complaint]!.rates
  return all.map((sum, h) => (own?.[h] ?? 0) / sum)
}
