/** The actions that a whole bank of cases knows, and how telling each is: advice that fits everybody tells nothing. */
import type { Text } from '../../case.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { ActionIndex } from './recommended-actions.js'
import { indexActions } from './recommended-actions.js'

/** What a bank's cases may be advised. */
export interface ActionBank {
  readonly actions: ReadonlyMap<string, Text>
  /** The share of the cases that each action is recommended in, 0 to 1; one that is not listed is in none. */
  readonly shares: ReadonlyMap<string, number>
}

const banks = new WeakMap<Knowledge, ActionBank>()

/** The bank of a knowledge base, by the base rates of its diseases; the same one for the same knowledge base. */
export function actionBankOf(knowledge: Knowledge): ActionBank {
  const known = banks.get(knowledge)
  if (known) return known
  const all = knowledge.diseases.reduce((sum, { prior }) => sum + prior.base, 0)
  const shares = new Map<string, number>()
  for (const { recommend, prior } of knowledge.diseases)
    for (const id of new Set(recommend)) shares.set(id, (shares.get(id) ?? 0) + prior.base / all)
  const bank = { actions: knowledge.actions, shares }
  banks.set(knowledge, bank)
  return bank
}

/** From this share of the cases on, advice is generic and weighs nothing. */
const generic = 0.15
/** Up to this share it is as telling as can be. */
const rare = 0.01

/**
 * How telling an action is, from 0 (recommended in .15 of the cases or more) to 1 (in .01 or fewer): its inverse
 * document frequency between the two, −log share, scaled. 1 for one that the bank does not know.
 */
export function weightIn(bank: ActionBank, id: string): number {
  const share = bank.shares.get(id) ?? 0
  if (share <= rare) return 1
  return Math.max(0, Math.log(generic / share) / Math.log(generic / rare))
}

const indices = new WeakMap<ActionBank, ActionIndex>()

/** The bank's actions, to be looked for. */
export function bankIndex(bank: ActionBank): ActionIndex {
  let index = indices.get(bank)
  if (!index) {
    index = indexActions([...bank.actions].map(([id, text]) => ({ id, text })))
    indices.set(bank, index)
  }
  return index
}
