/** Mutual information of the disease and every finding in one pass. Runs every turn, so it is written for speed. */

import type { Evidence } from './evidence.js'
import type { Model } from './generative-model.js'
import { mutualInformation, type OutcomeTable, type OutcomeTables } from './outcome-tables.js'

/** Outcome tables of all findings for one band of patients, for families without evidence, packed into two arrays. */
interface PackedTables {
  /** Four numbers a finding: its offset in `numbers`, its offset in `listed`, its classes, its outcomes. */
  readonly places: Int32Array
  /** For each finding, the entropy of each class in nats, then P(outcome | class) by outcome and class. */
  readonly numbers: Float64Array
  /** For each finding, the diseases of its classes from 1 on. */
  readonly listed: Int32Array
  /** Largest number of classes of a finding. */
  readonly maxClasses: number
}

function packTables(tables: readonly OutcomeTable[]): PackedTables {
  const places = new Int32Array(4 * tables.length)
  const numbers: number[] = []
  const listed: number[] = []
  tables.forEach((table, f) => {
    places.set([numbers.length, listed.length, table.classes, table.outcomes], 4 * f)
    numbers.push(...table.entropy, ...table.chance)
    listed.push(...table.listed)
  })
  return {
    places,
    numbers: Float64Array.from(numbers),
    listed: Int32Array.from(listed),
    maxClasses: Math.max(0, ...tables.map(({ classes }) => classes)),
  }
}

/** The same as `mutualInformation` of the table of finding `f`, for disease probabilities `p`; `weight` is scratch. */
function packedInformation(
  { places, numbers, listed }: PackedTables,
  f: number,
  p: Float64Array,
  weight: Float64Array,
): number {
  let at = places[4 * f]!
  const from = places[4 * f + 1]! - 1
  const classes = places[4 * f + 2]!
  const outcomes = places[4 * f + 3]!
  let rest = 1
  for (let g = 1; g < classes; g++) {
    const own = p[listed[from + g]!]!
    weight[g] = own
    rest -= own
  }
  weight[0] = rest > 0 ? rest : 0
  let total = 0
  for (let g = 0; g < classes; g++, at++) total -= weight[g]! * numbers[at]!
  for (let o = 0; o < outcomes; o++) {
    let mean = 0
    for (let g = 0; g < classes; g++, at++) mean += weight[g]! * numbers[at]!
    if (mean > 0) total -= mean * Math.log(mean)
  }
  return total > 0 ? total : 0
}

/**
 * Makes a function that returns the mutual information of the disease and each finding, in nats; 0 for findings
 * with evidence. Every call returns the same array: read it before the next call.
 */
export function informationBatch(
  { nodes }: Model,
  tables: OutcomeTables,
): (p: Float64Array, evidence: Evidence) => Float64Array {
  const roots = Int32Array.from(nodes, ({ root }) => root)
  const touched = new Uint8Array(nodes.length)
  const out = new Float64Array(nodes.length)
  const packs = new Map<number, PackedTables>()
  let weight = new Float64Array(0)
  const packFor = (band: number): PackedTables => {
    const nothing: Evidence = new Int8Array(nodes.length + 1)
    nothing[nodes.length] = band
    const packed = packTables(nodes.map((_, f) => tables.single(f, nothing)))
    packs.set(band, packed)
    if (weight.length < packed.maxClasses) weight = new Float64Array(packed.maxClasses)
    return packed
  }
  return (p, evidence) => {
    const band = evidence[nodes.length] ?? 0
    const packed = packs.get(band) ?? packFor(band)
    touched.fill(0)
    for (let f = 0; f < roots.length; f++) if (evidence[f] !== 0) touched[roots[f]!] = 1
    for (let f = 0; f < roots.length; f++)
      if (touched[roots[f]!] === 0) out[f] = packedInformation(packed, f, p, weight)
      else out[f] = evidence[f] === 0 ? mutualInformation(tables.single(f, evidence), p) : 0
    return out
  }
}
