/**
 * Families of findings (a root finding and its descendants), and the classes of model columns each distinguishes.
 *
 * A disease lists few findings; every other finding is as likely in it as in the background. So the likelihood of
 * a family is computed once per class of columns, of which there are a handful, however many columns there are.
 */
import type { Knowledge } from '../knowledge/knowledge.js'
import { type AnswerNoise, type Evidence, familyLikelihood } from './evidence.js'
import { type Model, mapTables, type Node } from './generative-model.js'

/** A root finding, its descendants, and the classes of columns with equal likelihoods in the family. */
export interface Family {
  /** Node indices, the root first. */
  readonly members: readonly number[]
  readonly classes: number
  /** Class of each column. */
  readonly classOf: Int32Array
  /** One representative column of each class. */
  readonly column: Int32Array
  /** Whether some background in it varies by the patient's band. */
  readonly banded: boolean
}

/** A model with equal columns merged into classes, family by family. */
export interface Families {
  /** The family of each node. */
  readonly of: readonly Family[]
  /** Nodes with `chance` at `[state * classes + class]`, in the classes of the node's family. */
  readonly nodes: readonly Node[]
}

/** Members of each family (node indices) by its root. */
export function membersByRoot({ nodes }: Model): ReadonlyMap<number, readonly number[]> {
  const families = new Map<number, number[]>()
  nodes.forEach(({ root }, f) => {
    const family = families.get(root)
    if (family) family.push(f)
    else families.set(root, [f])
  })
  return families
}

/** Whether some background among the nodes `members` varies by the patient's band. */
export const isBanded = ({ nodes }: Model, members: readonly number[]): boolean =>
  members.some((f) => nodes[f]!.variants?.by === 'band')

/** Indices of the diseases that list one of the findings `members`, ascending. */
export const diseasesWithFindings = (
  { diseases }: Knowledge,
  { nodes }: Model,
  members: readonly number[],
): readonly number[] => {
  const ids = members.map((f) => nodes[f]!.finding.id)
  return diseases.flatMap(({ findings }, d) =>
    ids.some((id) => findings[id] !== undefined) ? [d] : [],
  )
}

/**
 * Families of a model whose columns are diseases. Class 0 holds the diseases that list nothing of the family;
 * every other disease is a class of its own, in the order of the knowledge base.
 */
export function diseaseFamilies(knowledge: Knowledge, model: Model): Families {
  const of: Family[] = []
  for (const members of membersByRoot(model).values()) {
    const listed = diseasesWithFindings(knowledge, model, members)
    const classOf = new Int32Array(model.columns)
    listed.forEach((d, i) => {
      classOf[d] = i + 1
    })
    const column = Int32Array.of(Math.max(0, classOf.indexOf(0)), ...listed)
    const banded = isBanded(model, members)
    const family: Family = { members, classes: listed.length + 1, classOf, column, banded }
    for (const f of members) of[f] = family
  }
  const nodes = model.nodes.map((node, f) => {
    const { classes, column } = of[f]!
    return mapTables(node, (table) => {
      const chance = new Float64Array(node.finding.states.length * classes)
      for (let s = 0; s < node.finding.states.length; s++)
        for (let g = 0; g < classes; g++)
          chance[s * classes + g] = table[s * model.columns + column[g]!]!
      return chance
    })
  })
  return { of, nodes }
}

/** Most numbers in one cache: 128 MiB. */
const maxNumbers = 2 ** 24

/**
 * Memoises a function of a finding by the evidence on its family. The cache is cleared when full.
 * @param make pure; may read only the evidence on the family of `f`, and the patient's band where that is banded
 */
export function memoizeByEvidence<T>(
  { of, nodes }: Families,
  make: (f: number, evidence: Evidence) => T,
): (f: number, evidence: Evidence) => T {
  const fresh: (T | undefined)[] = []
  const kept: Map<number, T>[] = []
  let numbers = 0
  const store = (value: T, f: number, key: number): T => {
    numbers += of[f]!.classes
    if (numbers >= maxNumbers) {
      numbers = 0
      kept.length = 0
    }
    kept[f] ??= new Map()
    kept[f].set(key, value)
    return value
  }
  return (f, evidence) => {
    const { members, banded } = of[f]!
    let touched = banded
    for (let m = 0; m < members.length; m++) if (evidence[members[m]!] !== 0) touched = true
    if (!touched) {
      fresh[f] ??= make(f, evidence)
      return fresh[f]
    }
    let key = banded ? evidence[nodes.length]! : 0
    for (let m = 0; m < members.length; m++) {
      const member = members[m]!
      const { closed } = nodes[member]!
      key = key * (2 * closed + 3) + evidence[member]! + closed + 1
    }
    // A family of about a dozen findings may have more evidence states than exact integers.
    if (key > Number.MAX_SAFE_INTEGER) return make(f, evidence)
    return kept[f]?.get(key) ?? store(make(f, evidence), f, key)
  }
}

/** P(evidence on the family of finding `f` | class) for every class, memoised. */
export type Likelihood = (f: number, evidence: Evidence) => Float64Array

/** Likelihood function of merged families, for answers that pass through a noisy channel. */
export function likelihoodFunction(families: Families, channel: AnswerNoise): Likelihood {
  const { of, nodes } = families
  return memoizeByEvidence(families, (f, evidence) =>
    familyLikelihood({ nodes, columns: of[f]!.classes }, nodes[f]!.root, evidence, channel),
  )
}
