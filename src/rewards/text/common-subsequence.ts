/** The longest common subsequence, thirty-two steps at a time. */

/** For each symbol of a pattern, a bit at every place where it stands. */
function placesOf(pattern: readonly string[], words: number): Map<string, Int32Array> {
  const places = new Map<string, Int32Array>()
  pattern.forEach((symbol, at) => {
    let bits = places.get(symbol)
    if (!bits) {
      bits = new Int32Array(words)
      places.set(symbol, bits)
    }
    bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31))
  })
  return places
}

const zeroBits = (word: number): number => {
  let zeros = 0
  for (let rest = ~word; rest !== 0; rest &= rest - 1) zeros++
  return zeros
}

/**
 * How many symbols the longest common subsequence has, exactly: Hyyrö's bit-parallel form (2004) of the table of
 * prefixes. Time is |longer| × |shorter| / 32, memory |alphabet of the shorter| × |shorter| / 32.
 */
export function commonSubsequence(one: readonly string[], other: readonly string[]): number {
  const [pattern, text] = one.length <= other.length ? [one, other] : [other, one]
  const words = (pattern.length + 31) >>> 5
  const places = placesOf(pattern, words)
  const row = new Int32Array(words).fill(-1)
  for (const symbol of text) {
    const bits = places.get(symbol)
    if (!bits) continue
    let carry = 0
    for (let w = 0; w < words; w++) {
      const before = row[w] ?? 0
      const at = bits[w] ?? 0
      const sum = (before >>> 0) + ((before & at) >>> 0) + carry
      carry = sum > 0xffff_ffff ? 1 : 0
      row[w] = sum | (before & ~at)
    }
  }
  // A zero is a step of the last row; places past the pattern stay ones.
  return row.reduce((steps, word) => steps + zeroBits(word), 0)
}
