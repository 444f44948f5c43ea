/** Utility of a diagnosis given the true disease, and diagnoses ranked by expected utility. */
import type { Disease, Knowledge } from '../knowledge/knowledge.js'
import { perKnowledge } from '../knowledge/per-knowledge.js'

/** Sparse utility table u(diagnosis, true disease); 0 where a diagnosis is not listed. */
export interface Utility {
  /** Number of diseases. */
  readonly diseases: number
  /** By true disease: indices of the diagnoses with a utility other than 0. */
  readonly diagnoses: readonly Int32Array[]
  /** By true disease: their utilities, in the same order. */
  readonly worth: readonly Float64Array[]
}

/** Expected utility of every diagnosis, and their order by it. */
export interface DiagnosisRanking {
  /** Σ over true diseases d of P(d) · u(diagnosis, d), by diagnosis. */
  readonly worth: Float64Array
  /** Disease indices by descending expected utility; of equals the lower index first. */
  readonly order: Int32Array
}

/** Expected utility and rank of every diagnosis for disease probabilities `p`. */
export function rankDiagnoses(
  { diseases, diagnoses: said, worth }: Utility,
  p: Float64Array,
): DiagnosisRanking {
  const sums = new Float64Array(diseases)
  for (let d = 0; d < diseases; d++)
    for (let i = 0; i < said[d]!.length; i++) sums[said[d]![i]!]! += p[d]! * worth[d]![i]!
  const order = Int32Array.from(sums.keys()).sort((a, b) => sums[b]! - sums[a]! || a - b)
  return { worth: sums, order }
}

/** Tabulates a utility function over all pairs of a diagnosis and a true disease. */
export function utilityTable(
  { diseases }: Knowledge,
  worth: (said: Disease, truth: Disease) => number,
): Utility {
  const lists = diseases.map((truth) =>
    diseases.flatMap((said, a) => {
      const value = worth(said, truth)
      return value === 0 ? [] : [[a, value] as const]
    }),
  )
  return {
    diseases: diseases.length,
    diagnoses: lists.map((list) => Int32Array.from(list, ([a]) => a)),
    worth: lists.map((list) => Float64Array.from(list, ([, value]) => value)),
  }
}

/** Utility 1 for the right disease and 0 for any other, memoised: expected utility is then P(right). */
export const accuracyUtility: (knowledge: Knowledge) => Utility = perKnowledge((knowledge) =>
  utilityTable(knowledge, (said, truth) => (said === truth ? 1 : 0)),
)
