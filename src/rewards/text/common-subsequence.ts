/** Longest common subsequence (LCS), and the similarity that DoctorAgent-RL makes of it. */

/** Bit masks of the positions of each symbol in a pattern. */
function positionMasks(pattern: readonly string[], words: number): Map<string, Int32Array> {
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

const countZeroBits = (word: number): number => {
  let zeros = 0
  for (let rest = ~word; rest !== 0; rest &= rest - 1) zeros++
  return zeros
}

/**
 * The exact length of the longest common subsequence, in symbols, by Hyyrö's bit-parallel dynamic programming (2004).
 * Time is |longer| × |shorter| / 32, memory |alphabet of the shorter| × |shorter| / 32.
 */
export function lcsLength(one: readonly string[], other: readonly string[]): number {
  const [pattern, text] = one.length <= other.length ? [one, other] : [other, one]
  const words = (pattern.length + 31) >>> 5
  const places = positionMasks(pattern, words)
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
  // Each zero bit of the last row is a step of the LCS; bits past the pattern stay ones.
  return row.reduce((steps, word) => steps + countZeroBits(word), 0)
}

/**
 * |longest common subsequence| / |longer text|, by code points, in [0, 1]; 0 where a text is empty. Exactly the result
 * of `_get_rouge_score` in DoctorAgent-RL's env.py.
 *
 * Two diseases whose names end alike (炎, syndrome) score high without being similar.
 */
export function characterLcs(candidate: string, gold: string): number {
  if (candidate === '' || gold === '') return 0
  const [given, right] = [[...candidate], [...gold]]
  return lcsLength(given, right) / Math.max(given.length, right.length)
}
