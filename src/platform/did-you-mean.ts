/** Suggestions ("did you mean") for a name that does not exist, by edit distance. */

/** Edit distance of two texts: insertions, deletions, substitutions and swaps of neighbours. */
export function editDistance(one: string, other: string): number {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, j) => j)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      if (swapped) best = Math.min(best, before[j - 2]! + 1)
      row.push(best)
    }
    before = last
    last = row
  }
  return last[other.length]!
}

/** Longer input gets no suggestions. */
const maxLength = 100
/** Letters an input needs for a match by containment. */
const minContained = 3

const simplify = (name: string): string => name.toLowerCase().replace(/[\s_]+/g, '-')

/** Edit distance to a name; undefined for a name that is too different. */
function distance(given: string, name: string): number | undefined {
  const edits = editDistance(given, name)
  if (edits <= Math.max(given.length, name.length) / 3) return edits
  const contained = given.length >= minContained && (name.includes(given) || given.includes(name))
  return contained ? edits : undefined
}

/**
 * Names close to the given one, nearest first: names within an edit distance of a third of the letters (ignoring
 * case, blanks and underscores), and names that contain it or are contained in it.
 * @param most how many names at most @default 3
 */
export function suggestNames(given: string, names: readonly string[], most = 3): readonly string[] {
  const plain = simplify(given)
  if (plain === '' || plain.length > maxLength) return []
  return names
    .flatMap((name, index) => {
      const far = distance(plain, simplify(name))
      return far === undefined ? [] : [{ name, far, index }]
    })
    .sort((a, b) => a.far - b.far || a.index - b.index)
    .slice(0, most)
    .map(({ name }) => name)
}
