/** The share of characters in common order: DoctorAgent-RL's first reward for a diagnosis and a recommendation. */
import { commonSubsequence } from './common-subsequence.js'

/**
 * |longest common subsequence| / |longer text|, by code points, in [0, 1]; 0 where a text is empty. Exactly what
 * `_get_rouge_score` of DoctorAgent-RL's env.py returns.
 *
 * Two diseases that end alike (炎, syndrome) have much in common without being alike.
 */
export function characterLcs(candidate: string, gold: string): number {
  if (candidate === '' || gold === '') return 0
  const [given, right] = [[...candidate], [...gold]]
  return commonSubsequence(given, right) / Math.max(given.length, right.length)
}
