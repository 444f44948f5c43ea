/** How much an answer would say of the disease: outcome tables per finding and jointly, and their mutual information. */
import type { Channel, Evidence, Model } from './likelihood.js'
import { familyLikelihood, toldStates } from './likelihood.js'

/** P(outcome | disease) of one question or examination, and its entropy for each disease. */
export interface Table {
  readonly outcomes: number
  /** At `[outcome * diseases + disease]`. */
  readonly chance: Float64Array
  readonly entropy: Float64Array
}

const plogp = (p: number): number => (p > 0 ? p * Math.log(p) : 0)

/** Mutual information of disease and outcome in nats: H(outcome) - E[H(outcome | disease)]. */
export function information({ outcomes, chance, entropy }: Table, p: Float64Array): number {
  const diseases = p.length
  let total = 0
  for (let d = 0; d < diseases; d++) total -= p[d]! * entropy[d]!
  for (let o = 0; o < outcomes; o++) {
    let mean = 0
    for (let d = 0, at = o * diseases; d < diseases; d++, at++) mean += p[d]! * chance[at]!
    total -= plogp(mean)
  }
  return Math.max(0, total)
}

function tableOf(rows: readonly Float64Array[], diseases: number): Table {
  const chance = new Float64Array(rows.length * diseases)
  const entropy = new Float64Array(diseases)
  rows.forEach((row, o) => {
    chance.set(row, o * diseases)
    for (let d = 0; d < diseases; d++) entropy[d]! -= plogp(row[d]!)
  })
  return { outcomes: rows.length, chance, entropy }
}

/** The joint table of two things independent given the disease. */
function product(a: Table, b: Table): Table {
  const diseases = a.entropy.length
  const chance = new Float64Array(a.outcomes * b.outcomes * diseases)
  let at = 0
  for (let i = 0; i < a.outcomes; i++)
    for (let j = 0; j < b.outcomes; j++)
      for (let d = 0; d < diseases; d++, at++)
        chance[at] = a.chance[i * diseases + d]! * b.chance[j * diseases + d]!
  const entropy = a.entropy.map((h, d) => h + b.entropy[d]!)
  return { outcomes: a.outcomes * b.outcomes, chance, entropy }
}

/** The joint table of findings of one family, given the evidence. */
function familyTable(
  model: Model,
  findings: readonly number[],
  evidence: Evidence,
  channel: Channel,
): Table {
  const root = model.nodes[findings[0]!]!.root
  const base = familyLikelihood(model, root, evidence, channel)
  const supposed = evidence.slice()
  const rows: Float64Array[] = []
  const suppose = (i: number): void => {
    const f = findings[i]
    if (f === undefined) {
      const row = familyLikelihood(model, root, supposed, channel)
      rows.push(row.map((p, d) => (base[d]! > 0 ? p / base[d]! : 0)))
      return
    }
    const states = toldStates(model.nodes[f]!)
    for (let state = 0; state < states; state++) {
      supposed[f] = 1 + state
      suppose(i + 1)
    }
    supposed[f] = 0
  }
  suppose(0)
  return tableOf(rows, model.diseases)
}

function groupByRoot({ nodes }: Model, findings: readonly number[]): number[][] {
  const groups = new Map<number, number[]>()
  for (const f of findings) {
    const { root } = nodes[f]!
    groups.set(root, [...(groups.get(root) ?? []), f])
  }
  return [...groups.values()]
}

/** Outcome tables under a noise, each made once for what is known of its family. */
export interface Tables {
  /** One finding not yet told. */
  single(finding: number, evidence: Evidence): Table
  /** Findings not yet told, one table for each family of them. */
  families(findings: readonly number[], evidence: Evidence): readonly Table[]
  /** Findings not yet told, jointly: as many outcomes as their states multiply to. */
  joint(findings: readonly number[], evidence: Evidence): Table
}

const maxKept = 20_000

/** A number for what is known of a family and which of it is asked; NaN for a family too large to have one. */
function keyOf(family: readonly number[], evidence: Evidence, f: number): number {
  let key = f + 1
  for (const member of family) key = key * 256 + evidence[member]! + 128
  return key <= Number.MAX_SAFE_INTEGER ? key : Number.NaN
}

/** Makes the tables of a model; a few ms, then a look-up for most questions. */
export function tablesOf(model: Model, channel: Channel): Tables {
  const { nodes } = model
  const families = groupByRoot(model, [...nodes.keys()])
  const familyOf = new Map(families.flatMap((family) => family.map((f) => [f, family] as const)))
  const kept = new Map<number, Table>()
  const joints = new Map<string, Table>()

  const single = (f: number, evidence: Evidence): Table => {
    const key = keyOf(familyOf.get(f) ?? [], evidence, f)
    const known = kept.get(key)
    if (known) return known
    const table = familyTable(model, [f], evidence, channel)
    if (kept.size >= maxKept) kept.clear()
    if (!Number.isNaN(key)) kept.set(key, table)
    return table
  }
  const byFamily = (findings: readonly number[], evidence: Evidence): readonly Table[] =>
    groupByRoot(model, findings).map((family) =>
      family.length === 1
        ? single(family[0]!, evidence)
        : familyTable(model, family, evidence, channel),
    )
  const untouched = (f: number, evidence: Evidence): boolean =>
    (familyOf.get(f) ?? []).every((member) => evidence[member] === 0)
  return {
    single,
    families: byFamily,
    joint(findings, evidence) {
      if (findings.length === 1) return single(findings[0]!, evidence)
      const fresh = findings.every((f) => untouched(f, evidence))
      const key = fresh ? findings.join() : ''
      const table = joints.get(key) ?? byFamily(findings, evidence).reduce(product)
      if (fresh) joints.set(key, table)
      return table
    },
  }
}
