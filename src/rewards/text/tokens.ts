/** Tokenizers of the published evaluations, and counts of common tokens and n-grams. */

/** Precision, recall and their harmonic mean, each in [0, 1]. */
export interface PrecisionRecall {
  readonly precision: number
  readonly recall: number
  readonly f1: number
}

/** Precision, recall and F1 from counts of common, candidate and gold tokens; 0 where a count is 0. */
export function precisionRecall(common: number, candidate: number, gold: number): PrecisionRecall {
  const precision = candidate > 0 ? common / candidate : 0
  const recall = gold > 0 ? common / gold : 0
  const sum = precision + recall
  return { precision, recall, f1: sum === 0 ? 0 : (2 * precision * recall) / sum }
}

/** Multiset of tokens: the count of each. */
export type TokenBag = ReadonlyMap<string, number>

/** Counts the occurrences of each token. */
export function countTokens(tokens: readonly string[]): TokenBag {
  const bag = new Map<string, number>()
  for (const token of tokens) bag.set(token, (bag.get(token) ?? 0) + 1)
  return bag
}

/** The number of common tokens: Σ over tokens of the smaller of their two counts. */
export function countCommonTokens(tokens: readonly string[], gold: TokenBag): number {
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

/** The tokens of Google's `rouge-score` without stemming: runs of a-z and 0-9 in the lower-cased text. */
export const googleTokens = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? []

// Whitespace of Python's str.split(); JavaScript's \s lacks the separators and has U+FEFF.
const pythonSpace =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the separators are four of them
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

/**
 * The tokens of DoctorAgent-RL's evaluation: every character, spaces included, of a text with any Han character; else
 * the words between whitespace, with punctuation and case as they are.
 */
export const charactersOrWords = (text: string): string[] =>
  /[\u4e00-\u9fff]/.test(text) ? [...text] : text.split(pythonSpace).filter((word) => word !== '')

/** The n-grams of a token list, as strings that are equal only if all n tokens are. */
export function ngrams(tokens: readonly string[], n: number): readonly string[] {
  if (n === 1) return tokens
  const runs: string[] = []
  for (let at = 0; at + n <= tokens.length; at++) {
    let run = ''
    // The length prefix distinguishes `ab` `c` from `a` `bc`.
    for (const token of tokens.slice(at, at + n)) run += `${token.length}:${token}`
    runs.push(run)
  }
  return runs
}
