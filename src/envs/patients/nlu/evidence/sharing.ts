/** How much of what a text says is ever said of some values of the similarity index. */
import type { Postings } from '../perceptron-updates.js'

/** The first place in a sorted part of a list whose entry is at least `least`. */
function firstFrom(list: Int32Array, from: number, to: number, least: number): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle]! < least) low = middle + 1
    else high = middle
  }
  return low
}

/** Makes the function that tells how much of a text, by its words or characters, phrases of some values have. */
export function makeSharing(
  { starts, owners }: Postings,
  of: Int32Array,
  size: number,
  place: ReadonlyMap<string, number>,
  idf: Float64Array,
  maxIdf: number,
) {
  const firsts = new Int32Array(size + 1).fill(of.length)
  for (let p = of.length - 1; p >= 0; p--) firsts[of[p]!] = p
  const has = (feature: number, value: string): boolean => {
    const v = place.get(value)
    if (v === undefined) return false
    const at = firstFrom(owners, starts[feature]!, starts[feature + 1]!, firsts[v]!)
    return at < starts[feature + 1]! && owners[at]! < firsts[v + 1]!
  }
  return (features: Int32Array, values: readonly string[]): number => {
    let [shared, all] = [0, 0]
    for (const feature of features) {
      const weight = (feature < 0 ? maxIdf : idf[feature]!) - 1
      all += weight
      if (feature >= 0 && values.some((value) => has(feature, value))) shared += weight
    }
    return all > 0 ? shared / all : 1
  }
}
