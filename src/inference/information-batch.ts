/** What every finding would tell, all at once: asked at every turn of every consultation, so made for speed. */

import type { Evidence, Model } from './generative-model.js'
import type { Table, Tables } from './outcome-tables.js'
import { information } from './outcome-tables.js'

/** The tables of findings of which nothing is known, one after the other in two lists of numbers. */
interface Reel {
  /** For each finding: where its numbers begin, where its diseases begin, its classes, its outcomes. */
  readonly places: Int32Array
  /** The entropy of each class, then the chance of each outcome in each class. */
  readonly numbers: Float64Array
  readonly listed: Int32Array
  /** The most classes of any. */
  readonly widest: number
}

function reelOf(tables: readonly Table[]): Reel {
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
    widest: Math.max(0, ...tables.map(({ classes }) => classes)),
  }
}

/** Like `information` of the finding's table. */
function informationIn(
  { places, numbers, listed }: Reel,
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
 * Makes a function that gives the mutual information of the disease and each finding, 0 of what is known
 * already; always the same list, so that it is to be read before the next call.
 */
export function sweepOver(
  { nodes }: Model,
  tables: Tables,
): (p: Float64Array, evidence: Evidence) => Float64Array {
  const nothing: Evidence = new Int8Array(nodes.length)
  const roots = Int32Array.from(nodes, ({ root }) => root)
  const touched = new Uint8Array(nodes.length)
  const out = new Float64Array(nodes.length)
  let reel: Reel | undefined
  let weight = new Float64Array(0)
  return (p, evidence) => {
    if (!reel) {
      reel = reelOf(nodes.map((_, f) => tables.single(f, nothing)))
      weight = new Float64Array(reel.widest)
    }
    touched.fill(0)
    for (let f = 0; f < roots.length; f++) if (evidence[f] !== 0) touched[roots[f]!] = 1
    for (let f = 0; f < roots.length; f++)
      if (touched[roots[f]!] === 0) out[f] = informationIn(reel, f, p, weight)
      else out[f] = evidence[f] === 0 ? information(tables.single(f, evidence), p) : 0
    return out
  }
}
