/** Names that somebody may have meant: what to say where a name does not exist. */

/** Edits that turn one text into another: letters put in, left out, exchanged, or two neighbours swapped. */
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

/** No name is this long; what is, is near none. */
const longest = 100
const fewest = 3

const plainOf = (name: string): string => name.toLowerCase().replace(/[\s_]+/g, '-')

/** How far off a name is; undefined where it is something else altogether. */
function distance(given: string, name: string): number | undefined {
  const edits = editDistance(given, name)
  if (edits <= Math.max(given.length, name.length) / 3) return edits
  const within = given.length >= fewest && (name.includes(given) || given.includes(name))
  return within ? edits : undefined
}

/**
 * The names nearest to the one given, at most `most`, nearest first: those within a third of their letters of it
 * (case, blanks and underlines do not count), and those that hold it or are held by it.
 * @param most @default 3
 */
export function nearNames(given: string, names: readonly string[], most = 3): readonly string[] {
  const plain = plainOf(given)
  if (plain === '' || plain.length > longest) return []
  return names
    .flatMap((name, place) => {
      const far = distance(plain, plainOf(name))
      return far === undefined ? [] : [{ name, far, place }]
    })
    .sort((a, b) => a.far - b.far || a.place - b.place)
    .slice(0, most)
    .map(({ name }) => name)
}
