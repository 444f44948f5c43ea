/** ROUGE (Lin 2004) as google's `rouge-score` and DoctorAgent-RL's evaluation compute it, and the latter's BLEU. */
import { lcsLength } from './common-subsequence.js'
import type { PrecisionRecall } from './tokens.js'
import {
  charactersOrWords,
  countCommonTokens,
  countTokens,
  googleTokens,
  ngrams,
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

/**
 * N-gram precision of the candidate, in [0, 1], times the brevity penalty e^(1 − |gold|/|candidate|) where the candidate
 * is shorter. For that n alone, unlike BLEU (Papineni et al. 2002), which is a mean over 1 to n.
 * 1 where both texts are empty, 0 where one is.
 */
export function doctorAgentBleu(candidate: string, gold: string, n: 1 | 2 | 3 | 4): number {
  if (candidate === '' && gold === '') return 1
  const [given, right] = [charactersOrWords(candidate), charactersOrWords(gold)]
  const runs = ngrams(given, n)
  if (runs.length === 0) return 0
  const precision = countCommonTokens(runs, countTokens(ngrams(right, n))) / runs.length
  const brevity = given.length < right.length ? Math.exp(1 - right.length / given.length) : 1
  return brevity * precision
}
