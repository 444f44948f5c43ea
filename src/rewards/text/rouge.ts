/** ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) as google's `rouge-score` and DoctorAgent-RL's evaluation compute them. */
import { lcsLength } from './common-subsequence.js'
import {
  charactersOrWords,
  countCommonTokens,
  countTokens,
  googleTokens,
  ngrams,
  type PrecisionRecall,
  precisionRecall,
} from './tokens.js'

/** The ROUGE variant: unigrams, bigrams or the longest common subsequence. */
export type RougeKind = 1 | 2 | 'l'

/** ROUGE of two token lists; 0 where one is shorter than the n-gram. */
export function rouge(
  candidate: readonly string[],
  gold: readonly string[],
  kind: RougeKind,
): PrecisionRecall {
  if (kind === 'l')
    return precisionRecall(lcsLength(candidate, gold), candidate.length, gold.length)
  const [given, right] = [ngrams(candidate, kind), ngrams(gold, kind)]
  return precisionRecall(countCommonTokens(given, countTokens(right)), given.length, right.length)
}

/** ROUGE of `rouge-score` 0.1.2 without a stemmer. Only a-z and 0-9 count: a Chinese text without any scores 0. */
export const googleRouge = (candidate: string, gold: string, kind: RougeKind): PrecisionRecall =>
  rouge(googleTokens(candidate), googleTokens(gold), kind)

/** ROUGE of DoctorAgent-RL's evaluation: by characters if the text has a Han one; 1 where both texts are empty. */
export function doctorAgentRouge(
  candidate: string,
  gold: string,
  kind: RougeKind,
): PrecisionRecall {
  if (candidate === '' && gold === '') return { precision: 1, recall: 1, f1: 1 }
  return rouge(charactersOrWords(candidate), charactersOrWords(gold), kind)
}
