/** How each evaluation divides a text into tokens, and how it counts what two lists of them share. */

/** Precision, recall and their harmonic mean, each in [0, 1]. */
export interface Agreement {
  readonly precision: number
  readonly recall: number
  readonly f1: number
}

/** Of `common` tokens among so many of the candidate and so many of the gold text; 0 where one has none. */
export function agreement(common: number, candidate: number, gold: number): Agreement {
  const precision = candidate > 0 ? common / candidate : 0
  const recall = gold > 0 ? common / gold : 0
  const sum = precision + recall
  return { precision, recall, f1: sum === 0 ? 0 : (2 * precision * recall) / sum }
}

/** How often each token occurs. */
export type Bag = ReadonlyMap<string, number>

export function bagOf(tokens: readonly string[]): Bag {
  const bag = new Map<string, number>()
  for (const token of tokens) bag.set(token, (bag.get(token) ?? 0) + 1)
  return bag
}

/** Σ over tokens of the lesser of their two counts. */
export function commonCount(tokens: readonly string[], gold: Bag): number {
  const seen = new Map<string, number>()
  let common = 0
  for (const token of tokens) {
    const most = gold.get(token)
    if (most === undefined) continue
    const before = seen.get(token) ?? 0
    if (before < most) common++
    seen.set(token, before + 1)
  }
  return common
}

/** The tokens of google's `rouge-score` without stemming: runs of a-z and 0-9 of the lower-cased text, nothing else. */
export const googleTokens = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? []

// What Python's str.split() takes for whitespace; JavaScript's \s lacks the separators and has U+FEFF.
const pythonSpace =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the separators are four of them
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

/**
 * The tokens of DoctorAgent-RL's evaluation: every character, spaces included, of a text with any Han character; else
 * what whitespace divides, punctuation and case as they are.
 */
export const charactersOrWords = (text: string): string[] =>
  /[\u4e00-\u9fff]/.test(text) ? [...text] : text.split(pythonSpace).filter((word) => word !== '')

/** The runs of n tokens, as strings that are equal only where all n are. */
export function ngrams(tokens: readonly string[], n: number): readonly string[] {
  if (n === 1) return tokens
  const runs: string[] = []
  for (let at = 0; at + n <= tokens.length; at++) {
    let run = ''
    // The length before each keeps `ab` `c` apart from `a` `bc`.
    for (const token of tokens.slice(at, at + n)) run += `${token.length}:${token}`
    runs.push(run)
  }
  return runs
}
