/** BLEU of a single n, as DoctorAgent-RL's evaluation computes it. */
import { charactersOrWords, countCommonTokens, countTokens, ngrams } from './tokens.js'

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
