/** Bank of all recommendable actions with an inverse-document-frequency weight: generic advice weighs nothing. */
import type { Text } from '../../case.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import { indexActions } from './recommended-actions.js'

/** All actions that the cases of a bank may be recommended. */
export interface ActionBank {
  /** Texts by action id. */
  readonly actions: ReadonlyMap<string, Text>
  /** Share of the cases, 0 to 1, in which each action is recommended; 0 for one that is not listed. */
  readonly shares: ReadonlyMap<string, number>
}

/** The action bank of a knowledge base, weighted by the base rates of its diseases; memoised per knowledge base. */
export const actionBankOf = perKnowledge((knowledge): ActionBank => {
  const all = knowledge.diseases.reduce((sum, { prior }) => sum + prior.base, 0)
  const shares = new Map<string, number>()
  for (const { recommend, prior } of knowledge.diseases)
    for (const id of new Set(recommend)) shares.set(id, (shares.get(id) ?? 0) + prior.base / all)
  return { actions: knowledge.actions, shares }
})

/** At this share of the cases and above, an action is generic and weighs 0. */
const generic = 0.15
/** At this share and below, it weighs 1. */
const rare = 0.01

/**
 * How specific an action is, from 0 (recommended in .15 of the cases or more) to 1 (in .01 or fewer): its inverse
 * document frequency, −log share, scaled between the two. 1 for an action outside the bank.
 */
export function actionWeight(bank: ActionBank, id: string): number {
  const share = bank.shares.get(id) ?? 0
  if (share <= rare) return 1
  return Math.max(0, Math.log(generic / share) / Math.log(generic / rare))
}

/** The search index of the bank's actions; memoised per bank. */
export const bankIndex = memoizeByIdentity((bank: ActionBank) =>
  indexActions([...bank.actions].map(([id, text]) => ({ id, text }))),
)
