/**
 * A doctor's stated belief: a probability distribution over diseases, with the remainder `elsewhere`.
 *
 * The confidence is P(diagnosis); without one, the diagnosis has the probability that the differential leaves, so that
 * an unqualified diagnosis is a sure one. An entry without a number has probability 0: a long list of names alone
 * changes nothing. Probability of texts that name no disease, and probability left over, goes to `elsewhere`, which
 * never holds the truth, so that vagueness is not paid. Numbers that sum to more than 1 are scaled down to 1.
 */
import type { Gold } from '../../case.js'
import type { DiagnoseAction } from './diagnosis-list.js'
import { diagnosisList } from './diagnosis-list.js'
import type { Formulary } from './formulary.js'

/** A probability distribution over diseases; `of` and `elsewhere` sum to 1. */
export interface StatedBelief {
  /** Probability by disease id. */
  readonly byDisease: ReadonlyMap<string, number>
  /** Probability on no known disease. */
  readonly elsewhere: number
}

const nowhere: StatedBelief = { byDisease: new Map(), elsewhere: 1 }

/** The belief that a diagnosis states; without a diagnosis all of it is elsewhere. */
export function statedBelief(
  given: DiagnoseAction | undefined,
  gold: Gold,
  formulary: Formulary,
): StatedBelief {
  if (!given) return nowhere
  const [first, ...others] = diagnosisList(given, gold, formulary)
  const beside = others.reduce((sum, { p = 0 }) => sum + p, 0)
  const sure = first?.p ?? Math.max(0, 1 - beside)
  const scale = Math.max(1, sure + beside)
  const of = new Map<string, number>()
  for (const { concept, p = 0 } of [{ ...first, p: sure }, ...others])
    if (concept) of.set(concept.id, p / scale)
  const placed = [...of.values()].reduce((sum, p) => sum + p, 0)
  return { byDisease: of, elsewhere: Math.max(0, 1 - placed) }
}
