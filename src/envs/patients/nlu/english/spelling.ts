/**
 * Spelling correction in Latin script: an unknown word within one edit of a known word is replaced by it, else by one
 * that sounds alike and is at most two edits away: "flegm", "throte".
 */

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

/** How a word sounds, roughly: its consonants in the order they are heard. */
const soundOf = (word: string): string =>
  word
    .replace(/^(?:kn|gn|pn)/, 'n')
    .replace(/^wr/, 'r')
    .replace(/ph/g, 'f')
    .replace(/ght/g, 't')
    .replace(/c?k|ch|q|c(?![eiy])/g, 'k')
    .replace(/sc(?=[eiy])|[cz]/g, 's')
    .replace(/x/g, 'ks')
    .replace(/(?!^)[aeiouyhw]/g, '')
    .replace(/^[aeiou]/, 'a')
    .replace(/(.)\1+/g, '$1')

/** The least number of letters inserted, deleted or changed, where it is at most three; else four. */
function editsApart(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 3) return 4
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1), row[j]! + 1, next[j - 1]! + 1),
      )
    row = next
  }
  return Math.min(row[b.length]!, 4)
}

/** Letters of the shortest word that is corrected. */
const minLength = 4
/** How much the frequency of a word counts that only sounds alike. */
const heardShare = 0.3
/** Letters of the shortest word that is corrected by its sound. */
const minHeard = 5
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

/** The known words by what an unknown one is compared with: first letter and length, or sound. */
function indexWords(vocabulary: ReadonlyMap<string, number>) {
  const known = [...vocabulary.keys()].filter(
    (word) => word.length >= minLength && !/[^a-z]/.test(word),
  )
  const group = (keyOf: (word: string) => string): ReadonlyMap<string, readonly string[]> => {
    const groups = new Map<string, string[]>()
    for (const word of known) {
      const key = keyOf(word)
      const members = groups.get(key)
      if (members) members.push(word)
      else groups.set(key, [word])
    }
    return groups
  }
  const byShape = group((word) => `${word[0]}${word.length}`)
  // Few words need it, so it is made late.
  let bySound: ReadonlyMap<string, readonly string[]> | undefined
  return {
    shapedLike: (key: string): readonly string[] => byShape.get(key) ?? [],
    soundingLike(word: string): readonly string[] {
      if (word.length < minHeard) return []
      bySound ??= group(soundOf)
      const alike = bySound.get(soundOf(word)) ?? []
      const edits = alike.map((one) => editsApart(word, one))
      const least = Math.min(...edits)
      const far = least > 2 || 3 * least > word.length + 1
      return far ? [] : alike.filter((_, n) => edits[n] === least)
    },
  }
}

/**
 * Makes a function that corrects the words of a text to words of a vocabulary; of several candidates the most
 * frequent is taken. A correction keeps the first letter or its sound, or swaps the first two letters.
 * @param vocabulary the frequency of each word
 */
export function makeSpellingCorrector(
  vocabulary: ReadonlyMap<string, number>,
): (text: string) => string {
  const { shapedLike, soundingLike } = indexWords(vocabulary)
  const correct = (raw: string): string => {
    const word = raw.toLowerCase().replace(/['’]/g, '')
    if (word.length < minLength || word.length > 20) return raw
    if (vocabulary.has(word) || neverCorrected.has(word)) return raw
    if (word.endsWith('s') && vocabulary.has(word.slice(0, -1))) return raw
    const keys = [0, 1, -1].map((more) => `${word[0]}${word.length + more}`)
    const near = [...keys, `${word[1]}${word.length}`]
      .flatMap(shapedLike)
      .filter((one) => isOneEditApart(word, one))
      .filter((one) => word.length > maxShortLength || isShortSlip(word, one))
    // A common word that sounds alike is likelier than a rare one that is an edit nearer: "throte".
    const alike = soundingLike(word).filter((one) => !near.includes(one))
    const found = [...near, ...alike]
    const use = (one: string) => (vocabulary.get(one) ?? 0) * (alike.includes(one) ? heardShare : 1)
    return found.length > 0 ? found.reduce((a, b) => (use(b) > use(a) ? b : a)) : raw
  }
  return (text) => text.replace(latinWords, correct)
}
