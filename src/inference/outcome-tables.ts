/**
 * How an answer would divide the diseases: outcome tables per finding and jointly, their mutual information with
 * the disease, and how well one could diagnose after it.
 */
import type { Families, Likelihood } from './finding-families.js'
import { keeper } from './finding-families.js'
import type { Evidence } from './generative-model.js'
import { toldStates } from './generative-model.js'
import type { Standing, Utility } from './utility.js'

/** P(outcome | disease) of one question or examination, and its entropy; class 0 is of all diseases not listed. */
export interface Table {
  readonly outcomes: number
  readonly classes: number
  /** The diseases of the classes from 1 on. */
  readonly listed: Int32Array
  /** At `[outcome * classes + class]`. */
  readonly chance: Float64Array
  readonly entropy: Float64Array
}

const plogp = (p: number): number => (p > 0 ? p * Math.log(p) : 0)

/** P(class) of the table asked about last: one list for all calls, for there are hundreds a turn. */
let weights = new Float64Array(64)

/** P(class) of a table, in `weights`. */
function weigh({ classes, listed }: Table, p: Float64Array): Float64Array {
  if (weights.length < classes) weights = new Float64Array(2 * classes)
  const out = weights
  let rest = 1
  for (let i = 0; i < listed.length; i++) {
    const own = p[listed[i]!]!
    out[i + 1] = own
    rest -= own
  }
  out[0] = rest > 0 ? rest : 0
  return out
}

/** P(outcome) of each outcome, for probabilities of diseases that sum to 1. */
export function outcomeChances(table: Table, p: Float64Array): readonly number[] {
  const { outcomes, classes, chance } = table
  const weight = weigh(table, p)
  return Array.from({ length: outcomes }, (_, o) => {
    let mean = 0
    for (let g = 0; g < classes; g++) mean += weight[g]! * chance[o * classes + g]!
    return mean
  })
}

/** Mutual information of disease and outcome in nats: H(outcome) - E[H(outcome | disease)]. */
export function information(table: Table, p: Float64Array): number {
  const { outcomes, classes, chance, entropy } = table
  const weight = weigh(table, p)
  let total = 0
  for (let g = 0; g < classes; g++) total -= weight[g]! * entropy[g]!
  for (let o = 0, at = 0; o < outcomes; o++) {
    let mean = 0
    for (let g = 0; g < classes; g++, at++) mean += weight[g]! * chance[at]!
    if (mean > 0) total -= mean * Math.log(mean)
  }
  return total > 0 ? total : 0
}

let changed = new Float64Array(64)
let touched = new Uint8Array(64)

/**
 * The expected worth of the best diagnosis after the outcome is known: Σ over outcomes of the largest
 * Σ P(true, outcome) · worth(said, true).
 */
export function expectedBest(
  { outcomes, classes, listed, chance }: Table,
  p: Float64Array,
  utility: Utility,
  { worth: sums, order }: Standing,
): number {
  if (changed.length < utility.diseases) {
    changed = new Float64Array(2 * utility.diseases)
    touched = new Uint8Array(2 * utility.diseases)
  }
  let total = 0
  for (let o = 0; o < outcomes; o++) {
    const background = chance[o * classes]!
    for (let i = 0; i < listed.length; i++) {
      const d = listed[i]!
      const more = p[d]! * (chance[o * classes + i + 1]! - background)
      const said = utility.said[d]!
      const worth = utility.worth[d]!
      for (let j = 0; j < said.length; j++) {
        const a = said[j]!
        changed[a]! += worth[j]! * more
        touched[a] = 1
      }
    }
    let best = Number.NEGATIVE_INFINITY
    for (let i = 0; i < order.length; i++) {
      const a = order[i]!
      if (touched[a] === 1) continue
      best = background * sums[a]!
      break
    }
    for (let i = 0; i < listed.length; i++)
      for (const a of utility.said[listed[i]!]!) {
        const value = background * sums[a]! + changed[a]!
        if (touched[a] === 1 && value > best) best = value
        changed[a] = 0
        touched[a] = 0
      }
    total += best
  }
  return total
}

function tableOf(rows: readonly Float64Array[], classes: number, listed: Int32Array): Table {
  const chance = new Float64Array(rows.length * classes)
  const entropy = new Float64Array(classes)
  rows.forEach((row, o) => {
    chance.set(row, o * classes)
    for (let g = 0; g < classes; g++) entropy[g]! -= plogp(row[g]!)
  })
  return { outcomes: rows.length, classes, listed, chance, entropy }
}

/** For each class of `wide`, the class of `table`. */
function classesIn(table: Table, wide: Int32Array): Int32Array {
  const own = new Map(Array.from(table.listed, (d, i) => [d, i + 1] as const))
  return Int32Array.of(0, ...Array.from(wide, (d) => own.get(d) ?? 0))
}

/** The joint table of two things independent given the disease. */
function multiplied(a: Table, b: Table): Table {
  const listed = Int32Array.from(new Set([...a.listed, ...b.listed])).sort()
  const [inA, inB] = [classesIn(a, listed), classesIn(b, listed)]
  const classes = listed.length + 1
  const chance = new Float64Array(a.outcomes * b.outcomes * classes)
  let at = 0
  for (let i = 0; i < a.outcomes; i++)
    for (let j = 0; j < b.outcomes; j++)
      for (let g = 0; g < classes; g++, at++)
        chance[at] = a.chance[i * a.classes + inA[g]!]! * b.chance[j * b.classes + inB[g]!]!
  const entropy = Float64Array.from(
    { length: classes },
    (_, g) => a.entropy[inA[g]!]! + b.entropy[inB[g]!]!,
  )
  return { outcomes: a.outcomes * b.outcomes, classes, listed, chance, entropy }
}

const products = new WeakMap<Table, WeakMap<Table, Table>>()

/** The same, made once for two tables. */
function product(a: Table, b: Table): Table {
  const withA = products.get(a) ?? new WeakMap<Table, Table>()
  products.set(a, withA)
  const table = withA.get(b) ?? multiplied(a, b)
  withA.set(b, table)
  return table
}

/** Outcome tables under a noise, each made once for what is known of its family. */
export interface Tables {
  /** One finding not yet told. */
  single(finding: number, evidence: Evidence): Table
  /** Findings not yet told, one table for each family of them; a list that is always the same one is faster. */
  families(findings: readonly number[], evidence: Evidence): readonly Table[]
  /** Findings not yet told, jointly: as many outcomes as their states multiply to. */
  joint(findings: readonly number[], evidence: Evidence): Table
}

/** Makes the tables of families of diseases (`familiesOfDiseases`), each when it is first needed. */
export function tablesOf(merged: Families, likelihood: Likelihood): Tables {
  const { of, nodes } = merged

  /** The joint table of findings of one family. */
  const family = (findings: readonly number[], evidence: Evidence): Table => {
    const { root } = nodes[findings[0]!]!
    const { classes, column } = of[root]!
    const base = likelihood(root, evidence)
    const supposed = evidence.slice()
    const rows: Float64Array[] = []
    const suppose = (i: number): void => {
      const f = findings[i]
      if (f === undefined) {
        const row = likelihood(root, supposed)
        rows.push(row.map((p, g) => (base[g]! > 0 ? p / base[g]! : 0)))
        return
      }
      for (let state = 0; state < toldStates(nodes[f]!); state++) {
        supposed[f] = 1 + state
        suppose(i + 1)
      }
      supposed[f] = 0
    }
    suppose(0)
    return tableOf(rows, classes, column.slice(1))
  }
  const single = keeper(merged, (f, evidence) => family([f], evidence))
  type Maker = (evidence: Evidence) => Table
  const makers = new WeakMap<readonly number[], readonly Maker[]>()
  const makersOf = (findings: readonly number[]): readonly Maker[] => {
    const known = makers.get(findings)
    if (known) return known
    const groups = new Map<number, number[]>()
    for (const f of findings) {
      const { root } = nodes[f]!
      groups.set(root, [...(groups.get(root) ?? []), f])
    }
    const made = [...groups.values()].map((group): Maker => {
      const [f, ...others] = group as [number, ...number[]] // at least one each
      if (others.length === 0) return (evidence) => single(f, evidence)
      const together = keeper(merged, (_, evidence) => family(group, evidence))
      return (evidence) => together(f, evidence)
    })
    makers.set(findings, made)
    return made
  }
  return {
    single,
    families: (findings, evidence) => makersOf(findings).map((make) => make(evidence)),
    joint(findings, evidence) {
      const [first, ...others] = makersOf(findings)
      if (!first) throw new RangeError('Expected at least one finding, got none')
      let table = first(evidence)
      for (const make of others) table = product(table, make(evidence))
      return table
    },
  }
}
