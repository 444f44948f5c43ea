/** What a diagnosis is worth, right or wrong, and how all of them stand for some probabilities. */
import type { Disease, Knowledge } from '../knowledge/knowledge.js'

/** What naming a disease is worth when another is true; nothing where it is not listed. */
export interface Utility {
  readonly diseases: number
  /** By true disease: what can be said, and its worth. */
  readonly said: readonly Int32Array[]
  readonly worth: readonly Float64Array[]
}

/** What each diagnosis is worth on the whole, and which are worth most. */
export interface Standing {
  /** Σ P(true) · worth(said, true), by what is said. */
  readonly worth: Float64Array
  /** Diseases, the one worth most to say first. */
  readonly order: Int32Array
}

/** How the diagnoses stand for probabilities of diseases. */
export function standingOf({ diseases, said, worth }: Utility, p: Float64Array): Standing {
  const sums = new Float64Array(diseases)
  for (let d = 0; d < diseases; d++)
    for (let i = 0; i < said[d]!.length; i++) sums[said[d]![i]!]! += p[d]! * worth[d]![i]!
  const order = Int32Array.from(sums.keys()).sort((a, b) => sums[b]! - sums[a]! || a - b)
  return { worth: sums, order }
}

/** What naming one disease is worth when another is true, as a table. */
export function utilityOf(
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
    said: lists.map((list) => Int32Array.from(list, ([a]) => a)),
    worth: lists.map((list) => Float64Array.from(list, ([, value]) => value)),
  }
}

const rightness = new WeakMap<Knowledge, Utility>()

/** 1 for the right disease and 0 for any other. */
export function rightOnly(knowledge: Knowledge): Utility {
  const known = rightness.get(knowledge)
  if (known) return known
  const utility = utilityOf(knowledge, (said, truth) => (said === truth ? 1 : 0))
  rightness.set(knowledge, utility)
  return utility
}
