/**
 * Outcome tables P(outcome | disease) of single findings and jointly, their mutual information with the disease,
 * and the expected utility of the best diagnosis afterwards.
 */
import { memoizeByIdentity } from '../platform/memoize.js'
import { type Evidence, reportedStateCount } from './evidence.js'
import { type Families, type Likelihood, memoizeByEvidence } from './finding-families.js'
import type { DiagnosisRanking, Utility } from './utility.js'

/** P(outcome | class of diseases) of one question or examination. Class 0 holds all diseases not listed. */
export interface OutcomeTable {
  readonly outcomes: number
  readonly classes: number
  /** Disease index of each class from 1 on. */
  readonly listed: Int32Array
  /** P(outcome | class) at `[outcome * classes + class]`. */
  readonly chance: Float64Array
  /** Entropy of the outcome given each class, in nats. */
  readonly entropy: Float64Array
}

const plogp = (p: number): number => (p > 0 ? p * Math.log(p) : 0)

/** Scratch of `classWeights`, shared by all calls: there are hundreds a turn. */
let weights = new Float64Array(64)

/** P(class) for disease probabilities `p`; valid until the next call. */
function classWeights({ classes, listed }: OutcomeTable, p: Float64Array): Float64Array {
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

/** P(outcome) of each outcome, for disease probabilities `p` that sum to 1. */
export function outcomeProbabilities(table: OutcomeTable, p: Float64Array): readonly number[] {
  const { outcomes, classes, chance } = table
  const weight = classWeights(table, p)
  return Array.from({ length: outcomes }, (_, o) => {
    let mean = 0
    for (let g = 0; g < classes; g++) mean += weight[g]! * chance[o * classes + g]!
    return mean
  })
}

/** Mutual information of disease and outcome, in nats: H(outcome) - E[H(outcome | disease)], with H the entropy. */
export function mutualInformation(table: OutcomeTable, p: Float64Array): number {
  const { outcomes, classes, chance, entropy } = table
  const weight = classWeights(table, p)
  let total = 0
  for (let g = 0; g < classes; g++) total -= weight[g]! * entropy[g]!
  for (let o = 0, at = 0; o < outcomes; o++) {
    let mean = 0
    for (let g = 0; g < classes; g++, at++) mean += weight[g]! * chance[at]!
    if (mean > 0) total -= mean * Math.log(mean)
  }
  return total > 0 ? total : 0
}

/** Scratch of `expectedBestUtility`: by diagnosis, the change against class 0, and whether there is one. */
let changed = new Float64Array(64)
let touched = new Uint8Array(64)

function growScratch(size: number): void {
  if (changed.length >= size) return
  changed = new Float64Array(2 * size)
  touched = new Uint8Array(2 * size)
}

/**
 * Expected utility of the best diagnosis once the outcome o is known: Σ over o of max over a of
 * Σ over d of P(d, o) · u(a, d), with d the true disease, a the diagnosis and u the utility. A diagnosis whose
 * utility involves no listed disease has P(o | class 0) times its expected utility now, so only the best such counts.
 */
export function expectedBestUtility(
  { outcomes, classes, listed, chance }: OutcomeTable,
  p: Float64Array,
  utility: Utility,
  { worth: sums, order }: DiagnosisRanking,
): number {
  growScratch(utility.diseases)
  let total = 0
  for (let o = 0; o < outcomes; o++) {
    const background = chance[o * classes]!
    for (let i = 0; i < listed.length; i++) {
      const d = listed[i]!
      const more = p[d]! * (chance[o * classes + i + 1]! - background)
      const said = utility.diagnoses[d]!
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
      for (const a of utility.diagnoses[listed[i]!]!) {
        const value = background * sums[a]! + changed[a]!
        if (touched[a] === 1 && value > best) best = value
        changed[a] = 0
        touched[a] = 0
      }
    total += best
  }
  return total
}

function tableOf(rows: readonly Float64Array[], classes: number, listed: Int32Array): OutcomeTable {
  const chance = new Float64Array(rows.length * classes)
  const entropy = new Float64Array(classes)
  rows.forEach((row, o) => {
    chance.set(row, o * classes)
    for (let g = 0; g < classes; g++) entropy[g]! -= plogp(row[g]!)
  })
  return { outcomes: rows.length, classes, listed, chance, entropy }
}

/** Class of `table` for each class of a wider table, whose listed diseases are `wide`. */
function classesIn(table: OutcomeTable, wide: Int32Array): Int32Array {
  const own = new Map(Array.from(table.listed, (d, i) => [d, i + 1] as const))
  return Int32Array.of(0, ...Array.from(wide, (d) => own.get(d) ?? 0))
}

/** Joint table of two outcomes that are independent given the disease. */
function multiplyTables(a: OutcomeTable, b: OutcomeTable): OutcomeTable {
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

/** Joint table of two independent outcomes, memoised by both tables. */
const productsWith = memoizeByIdentity((a: OutcomeTable) =>
  memoizeByIdentity((b: OutcomeTable) => multiplyTables(a, b)),
)

/** Outcome tables of findings without evidence, under an answer noise; memoised by the evidence on their families. */
export interface OutcomeTables {
  /** Table of one finding (node index). */
  single(finding: number, evidence: Evidence): OutcomeTable
  /** One table per family of the findings. Faster for the same array of findings each time. */
  families(findings: readonly number[], evidence: Evidence): readonly OutcomeTable[]
  /** Joint table of the findings: as many outcomes as their states multiply to. */
  joint(findings: readonly number[], evidence: Evidence): OutcomeTable
}

/** Joint table of findings of one family: P(outcome | class) = P(evidence, outcome | class) / P(evidence | class). */
function familyTable(
  { of, nodes }: Families,
  likelihood: Likelihood,
  findings: readonly number[],
  evidence: Evidence,
): OutcomeTable {
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
    for (let state = 0; state < reportedStateCount(nodes[f]!); state++) {
      supposed[f] = 1 + state
      suppose(i + 1)
    }
    supposed[f] = 0
  }
  suppose(0)
  return tableOf(rows, classes, column.slice(1))
}

type TableMaker = (evidence: Evidence) => OutcomeTable

/** Outcome tables over families of diseases (`diseaseFamilies`), each computed when first needed. */
export function outcomeTables(merged: Families, likelihood: Likelihood): OutcomeTables {
  const { nodes } = merged
  const single = memoizeByEvidence(merged, (f, evidence) =>
    familyTable(merged, likelihood, [f], evidence),
  )
  const makersOf = memoizeByIdentity((findings: readonly number[]): readonly TableMaker[] => {
    const groups = new Map<number, number[]>()
    for (const f of findings) {
      const { root } = nodes[f]!
      groups.set(root, [...(groups.get(root) ?? []), f])
    }
    return [...groups.values()].map((group): TableMaker => {
      const [f, ...others] = group as [number, ...number[]] // at least one each
      if (others.length === 0) return (evidence) => single(f, evidence)
      const together = memoizeByEvidence(merged, (_, evidence) =>
        familyTable(merged, likelihood, group, evidence),
      )
      return (evidence) => together(f, evidence)
    })
  })
  return {
    single,
    families: (findings, evidence) => makersOf(findings).map((make) => make(evidence)),
    joint(findings, evidence) {
      const [first, ...others] = makersOf(findings)
      if (!first) throw new RangeError('Expected at least one finding, got none')
      let table = first(evidence)
      for (const make of others) table = productsWith(table)(make(evidence))
      return table
    },
  }
}
