/**
 * Families of findings, and the columns that one cannot tell apart as one class.
 *
 * A disease lists few findings; every other finding is as likely in it as in the background. What a family says
 * is therefore computed once a class of columns, of which there are a handful, however many columns there are.
 */
import type { Knowledge } from '../knowledge/knowledge.js'
import type { Channel, Evidence, Model, Node } from './generative-model.js'
import { familyLikelihood } from './generative-model.js'

/** A root, what hangs from it, and the classes of columns it can tell apart. */
export interface Family {
  /** Nodes, the root first. */
  readonly members: readonly number[]
  readonly classes: number
  /** Column to class. */
  readonly classOf: Int32Array
  /** A column of each class. */
  readonly column: Int32Array
}

/** A model with its columns merged, family by family. */
export interface Families {
  /** Of each node. */
  readonly of: readonly Family[]
  /** With `chance` at `[state * classes + class]` of the node's family. */
  readonly nodes: readonly Node[]
}

/** The members of each family, by its root. */
export function membersByRoot({ nodes }: Model): ReadonlyMap<number, readonly number[]> {
  const families = new Map<number, number[]>()
  nodes.forEach(({ root }, f) => {
    const family = families.get(root)
    if (family) family.push(f)
    else families.set(root, [f])
  })
  return families
}

/** Which diseases list a finding of the family, in the order of the knowledge base. */
export const listedIn = (
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
 * The families of a model whose columns are diseases: class 0 is of the diseases that list nothing of the
 * family, and every other disease is a class of its own, in the order of the knowledge base.
 */
export function familiesOfDiseases(knowledge: Knowledge, model: Model): Families {
  const of: Family[] = []
  for (const members of membersByRoot(model).values()) {
    const listed = listedIn(knowledge, model, members)
    const classOf = new Int32Array(model.columns)
    listed.forEach((d, i) => {
      classOf[d] = i + 1
    })
    const column = Int32Array.of(Math.max(0, classOf.indexOf(0)), ...listed)
    const family: Family = { members, classes: listed.length + 1, classOf, column }
    for (const f of members) of[f] = family
  }
  const nodes = model.nodes.map((node, f) => {
    const { classes, column } = of[f]!
    const chance = new Float64Array(node.finding.states.length * classes)
    for (let s = 0; s < node.finding.states.length; s++)
      for (let g = 0; g < classes; g++)
        chance[s * classes + g] = node.chance[s * model.columns + column[g]!]!
    return { ...node, chance }
  })
  return { of, nodes }
}

/** Numbers that things kept for one kind of question may hold together: 128 MiB. */
const maxNumbers = 2 ** 24

/**
 * Makes each thing once for what is known of a finding's family; all are forgotten when they are many.
 * @param make from the finding and what is known
 */
export function keeper<T>(
  { of, nodes }: Families,
  make: (f: number, evidence: Evidence) => T,
): (f: number, evidence: Evidence) => T {
  const fresh: (T | undefined)[] = []
  const kept: Map<number, T>[] = []
  let numbers = 0
  const keep = (thing: T, f: number, key: number): T => {
    numbers += of[f]!.classes
    if (numbers >= maxNumbers) {
      numbers = 0
      kept.length = 0
    }
    kept[f] ??= new Map()
    kept[f].set(key, thing)
    return thing
  }
  return (f, evidence) => {
    const { members } = of[f]!
    let touched = false
    for (let m = 0; m < members.length; m++) if (evidence[members[m]!] !== 0) touched = true
    if (!touched) {
      fresh[f] ??= make(f, evidence)
      return fresh[f]
    }
    let key = 0
    for (let m = 0; m < members.length; m++) {
      const member = members[m]!
      const { closed } = nodes[member]!
      key = key * (2 * closed + 3) + evidence[member]! + closed + 1
    }
    // A family of about a dozen may have too many states for a number of its own.
    if (key > Number.MAX_SAFE_INTEGER) return make(f, evidence)
    return kept[f]?.get(key) ?? keep(make(f, evidence), f, key)
  }
}

/** P(evidence of the family of a finding | class), each made once for what is known of the family. */
export type Likelihood = (f: number, evidence: Evidence) => Float64Array

/** The likelihoods of a merged model when answers go through a channel. */
export function likelihoodOver(families: Families, channel: Channel): Likelihood {
  const { of, nodes } = families
  return keeper(families, (f, evidence) =>
    familyLikelihood({ nodes, columns: of[f]!.classes }, nodes[f]!.root, evidence, channel),
  )
}
