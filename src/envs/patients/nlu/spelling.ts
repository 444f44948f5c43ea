/** Slips of the pen in Latin script, mended where a word is unknown and nearly one that is known. */

/** Whether two words differ by one letter: put in, left out, changed, or two of them swapped. */
function nearlySame(a: string, b: string): boolean {
  let from = 0
  while (from < a.length && a[from] === b[from]) from++
  let tail = 0
  while (tail < Math.min(a.length, b.length) - from && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const [left, right] = [a.slice(from, a.length - tail), b.slice(from, b.length - tail)]
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}

const shortest = 4
/** Longest word of which only slips that are sure are mended. */
const short = 4
const letters = /[a-z][a-z'’]*/gi
/** Words of their own, however near they are to one of the knowledge base. */
const others = new Set(
  'shall shell stall couch clock couple weather whether leather feather father mother other others brother teach reach beach match watch latch catch house horse mouse there their these those where which while white write right light might sight night would could should about above again going doing being having taking making asking talking walking working please thank thanks today money honey story early later water waiter wiser wider tired hired wired pills bills hills sister mister street sweet sheet hello house place plane plant price prize drive driver river table cable party paper power phone photo piece pleased letter better bitter butter lunch bunch punch month mouth movie moving music never lever fewer sewer favour flavour fever'.split(
    ' ',
  ),
)

/** Whether a short word, where any letter changed makes another one, lacks a letter or has two swapped. */
const isShortSlip = (word: string, known: string): boolean =>
  known.length > word.length || [...word].sort().join() === [...known].sort().join()

/**
 * Makes a reader that mends the words of a text by the likest word of a vocabulary, of several the most used;
 * each keeps its first letter, or has the first two swapped.
 * @param vocabulary how often each word is used
 */
export function speller(vocabulary: ReadonlyMap<string, number>): (text: string) => string {
  const buckets = new Map<string, string[]>()
  for (const word of vocabulary.keys()) {
    if (word.length < shortest || /[^a-z]/.test(word)) continue
    const key = `${word[0]}${word.length}`
    const bucket = buckets.get(key)
    if (bucket) bucket.push(word)
    else buckets.set(key, [word])
  }
  const mended = (raw: string): string => {
    const word = raw.toLowerCase().replace(/['’]/g, '')
    if (word.length < shortest || word.length > 20 || vocabulary.has(word) || others.has(word))
      return raw
    if (word.endsWith('s') && vocabulary.has(word.slice(0, -1))) return raw
    const keys = [0, 1, -1].map((more) => `${word[0]}${word.length + more}`)
    const found = [...keys, `${word[1]}${word.length}`]
      .flatMap((key) => buckets.get(key) ?? [])
      .filter((known) => nearlySame(word, known))
      .filter((known) => word.length > short || isShortSlip(word, known))
    const use = (known: string) => vocabulary.get(known) ?? 0
    return found.length > 0 ? found.reduce((a, b) => (use(b) > use(a) ? b : a)) : raw
  }
  return (text) => text.replace(letters, mended)
}
