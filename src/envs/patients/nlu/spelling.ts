/** Spelling correction in Latin script: an unknown word within one edit of a known word is replaced by it. */

/** Whether two words are one edit apart: a letter inserted, deleted or changed, or two neighbours swapped. */
function isOneEditApart(a: string, b: string): boolean {
  let from = 0
  while (from < a.length && a[from] === b[from]) from++
  let tail = 0
  while (tail < Math.min(a.length, b.length) - from && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const [left, right] = [a.slice(from, a.length - tail), b.slice(from, b.length - tail)]
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}

/** Letters of the shortest word that is corrected. */
const minLength = 4
/** Letters of the longest word of which only missing and swapped letters are corrected. */
const maxShortLength = 4
const latinWords = /[a-z][a-z'’]*/gi
/** Correct words that are close to a word of the knowledge base. */
const neverCorrected = new Set(
  'shall shell stall couch clock couple weather whether leather feather father mother other others brother teach reach beach match watch latch catch house horse mouse there their these those where which while white write right light might sight night would could should about above again going doing being having taking making asking talking walking working please thank thanks today money honey story early later water waiter wiser wider tired hired wired pills bills hills sister mister street sweet sheet hello house place plane plant price prize drive driver river table cable party paper power phone photo piece pleased letter better bitter butter lunch bunch punch month mouth movie moving music never lever fewer sewer favour flavour fever'.split(
    ' ',
  ),
)

/** Whether a short word lacks a letter or has letters swapped. A changed letter would make another word. */
const isShortSlip = (word: string, known: string): boolean =>
  known.length > word.length || [...word].sort().join() === [...known].sort().join()

/**
 * Makes a function that corrects the words of a text to words of a vocabulary; of several candidates the most
 * frequent is taken. A correction keeps the first letter, or swaps the first two.
 * @param vocabulary the frequency of each word
 */
export function makeSpellingCorrector(
  vocabulary: ReadonlyMap<string, number>,
): (text: string) => string {
  const buckets = new Map<string, string[]>()
  for (const word of vocabulary.keys()) {
    if (word.length < minLength || /[^a-z]/.test(word)) continue
    const key = `${word[0]}${word.length}`
    const bucket = buckets.get(key)
    if (bucket) bucket.push(word)
    else buckets.set(key, [word])
  }
  const correct = (raw: string): string => {
    const word = raw.toLowerCase().replace(/['’]/g, '')
    if (word.length < minLength || word.length > 20) return raw
    if (vocabulary.has(word) || neverCorrected.has(word)) return raw
    if (word.endsWith('s') && vocabulary.has(word.slice(0, -1))) return raw
    const keys = [0, 1, -1].map((more) => `${word[0]}${word.length + more}`)
    const found = [...keys, `${word[1]}${word.length}`]
      .flatMap((key) => buckets.get(key) ?? [])
      .filter((known) => isOneEditApart(word, known))
      .filter((known) => word.length > maxShortLength || isShortSlip(word, known))
    const use = (known: string) => vocabulary.get(known) ?? 0
    return found.length > 0 ? found.reduce((a, b) => (use(b) > use(a) ? b : a)) : raw
  }
  return (text) => text.replace(latinWords, correct)
}
