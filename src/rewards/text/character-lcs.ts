/** Character LCS similarity: DoctorAgent-RL's first reward for a diagnosis and a recommendation. */
import { lcsLength } from './common-subsequence.js'

/**
 * |longest common subsequence| / |longer text|, by code points, in [0, 1]; 0 where a text is empty. Exactly the result
 * of `_get_rouge_score` in DoctorAgent-RL's env.py.
 *
 * Two diseases whose names end alike (炎, syndrome) score high without being similar.
 */
export function characterLcs(candidate: string, gold: string): number {
  if (candidate === '' || gold === '') return 0
  const [given, right] = [[...candidate], [...gold]]
  return lcsLength(given, right) / Math.max(given.length, right.length)
}
