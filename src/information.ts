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

function groupByRoot({ nodes }: Model, findings: readonly number[]): number[][] {
  const groups = new Map<number, number[]>()
  for (const f of findings) {
    const { root } = nodes[f]!
    const group = groups.get(root)
    if (group) group.push(f)
    else groups.set(root, [f])
  }
  return [...groups.values()]
}

/** Numbers that tables made for one kind of question may hold together: 128 MiB. */
const maxNumbers = 2 ** 24

/** Things made once for what is known of a family, and which of it is asked; forgotten all at once when many. */
function keeper<T>(
  { nodes, columns }: Model,
  familyOf: readonly number[][],
  make: (f: number, evidence: Evidence) => T,
) {
  const kept = new Map<number, T>()
  return (f: number, evidence: Evidence): T => {
    let key = 0
    for (const member of familyOf[f]!) {
      const { closed } = nodes[member]!
      key = key * (2 * closed + 3) + evidence[member]! + closed + 1
    }
    // The finding comes last: families differ in their number of states, so that a first digit would collide.
    key = key * nodes.length + f
    // A family of about a dozen has too many states for a number of its own.
    if (key > Number.MAX_SAFE_INTEGER) return make(f, evidence)
    let thing = kept.get(key)
    if (thing === undefined) {
      thing = make(f, evidence)
      if (kept.size * columns >= maxNumbers) kept.clear()
      kept.set(key, thing)
    }
    return thing
  }
}

/** Likelihoods and outcome tables under a noise, each made once for what is known of its family. */
export interface Tables {
  /** P(evidence of the family of a finding | disease). */
  likelihood(finding: number, evidence: Evidence): Float64Array
  /** One finding not yet told. */
  single(finding: number, evidence: Evidence): Table
  /** Findings not yet told, one table for each family of them. */
  families(findings: readonly number[], evidence: Evidence): readonly Table[]
  /** Findings not yet told, jointly: as many outcomes as their states multiply to. */
  joint(findings: readonly number[], evidence: Evidence): Table
}

/** Makes the tables of a model, each when it is first needed. */
export function tablesOf(model: Model, channel: Channel): Tables {
  const groups = groupByRoot(model, [...model.nodes.keys()])
  const familyOf = model.nodes.map(({ root }) => groups.find(([first]) => first === root) ?? [])
  const joints = new Map<string, Table>()
  const likelihood = keeper(model, familyOf, (f, evidence) =>
    familyLikelihood(model, model.nodes[f]!.root, evidence, channel),
  )

  /** The joint table of findings of one family. */
  const family = (findings: readonly number[], evidence: Evidence): Table => {
    const base = likelihood(findings[0]!, evidence)
    const supposed = evidence.slice()
    const rows: Float64Array[] = []
    const suppose = (i: number): void => {
      const f = findings[i]
      if (f === undefined) {
        const row = likelihood(findings[0]!, supposed)
        rows.push(row.map((p, d) => (base[d]! > 0 ? p / base[d]! : 0)))
        return
      }
      for (let state = 0; state < toldStates(model.nodes[f]!); state++) {
        supposed[f] = 1 + state
        suppose(i + 1)
      }
      supposed[f] = 0
    }
    suppose(0)
    return tableOf(rows, model.columns)
  }
  const single = keeper(model, familyOf, (f, evidence) => family([f], evidence))
  const families = (findings: readonly number[], evidence: Evidence): readonly Table[] =>
    groupByRoot(model, findings).map((group) =>
      group.length === 1 ? single(group[0]!, evidence) : family(group, evidence),
    )
  const untouched = (f: number, evidence: Evidence): boolean =>
    familyOf[f]!.every((member) => evidence[member] === 0)
  return {
    likelihood,
    single,
    families,
    joint(findings, evidence) {
      if (findings.length === 1) return single(findings[0]!, evidence)
      const fresh = findings.every((f) => untouched(f, evidence))
      const key = fresh ? findings.join() : ''
      const table = joints.get(key) ?? families(findings, evidence).reduce(product)
      if (fresh) joints.set(key, table)
      return table
    },
  }
}
