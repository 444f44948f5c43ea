/**
 * What a doctor's probabilities amount to: one distribution over diseases, and what lies elsewhere.
 *
 * The confidence is P(diagnosis); unstated, the diagnosis has what the differential's numbers leave, so that an
 * unqualified diagnosis is a sure one. An entry without a number has no probability: a long list of names alone
 * changes nothing. What is stated of texts that name no disease, and what is left over, is elsewhere: one place, where
 * the truth never is, so that vagueness is not paid. Numbers that add up to more than 1 are scaled down to 1.
 */
import type { Gold } from '../../case.js'
import type { Diagnose } from './concept.js'
import { listOf } from './concept.js'
import type { Formulary } from './formulary.js'

/** Probabilities that sum to 1. */
export interface StatedBelief {
  /** By the id of the disease. */
  readonly of: ReadonlyMap<string, number>
  /** On nothing that is known. */
  readonly elsewhere: number
}

const nowhere: StatedBelief = { of: new Map(), elsewhere: 1 }

/** The belief a diagnosis states; all of it elsewhere where there is none. */
export function statedBelief(
  given: Diagnose | undefined,
  gold: Gold,
  formulary: Formulary,
): StatedBelief {
  if (!given) return nowhere
  const [first, ...others] = listOf(given, gold, formulary)
  const beside = others.reduce((sum, { p = 0 }) => sum + p, 0)
  const sure = first?.p ?? Math.max(0, 1 - beside)
  const scale = Math.max(1, sure + beside)
  const of = new Map<string, number>()
  for (const { concept, p = 0 } of [{ ...first, p: sure }, ...others])
    if (concept) of.set(concept.id, p / scale)
  const placed = [...of.values()].reduce((sum, p) => sum + p, 0)
  return { of, elsewhere: Math.max(0, 1 - placed) }
}
