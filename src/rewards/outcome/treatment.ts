/** Treatment reward: F1 of the actions recommended (treatment and disposition) against those the case needs. */
import type { Gold, Text } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import { loadKnowledge } from '../../knowledge/load.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import { notApplicable, ok, type Part, type Reward } from '../../reward.js'
import { unitReward } from '../define.js'
import { type ActionIndex, findRecommendedActions, indexActions } from './recommended-actions.js'

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

/** Options of {@link treatment}. */
export interface TreatmentOptions {
  /**
   * All actions that may be recommended (`actionBankOf`): those that the case does not recommend cost precision, and
   * generic ones weigh nothing. An empty bank makes constant advice pay. @default that of the package's knowledge base
   */
  readonly bank?: ActionBank
}

/** The action bank of the package's knowledge base, which is loaded on the first call. */
export const defaultActionBank = (): ActionBank => actionBankOf(loadKnowledge())

const caseIndices = memoizeByIdentity((bank: ActionBank) =>
  memoizeByIdentity((actions: Gold['actions']): ActionIndex => {
    // Where the bank has them all, as with generated cases, nothing of a case is indexed.
    const strange = actions.filter(({ id }) => !bank.actions.has(id))
    return strange.length === 0 ? bankIndex(bank) : [...bankIndex(bank), ...indexActions(strange)]
  }),
)

/** Finds the ids of the case's and the bank's actions that a text recommends. */
export const findAdvisedActions = (
  text: string,
  { actions }: Gold,
  bank: ActionBank,
): ReadonlySet<string> => findRecommendedActions(text, caseIndices(bank)(actions))

const isUseful = (weight: number): boolean => Number.isFinite(weight) && weight > 0

function wantedWeights({ actions }: Gold, bank: ActionBank): ReadonlyMap<string, number> {
  const wanted = new Map<string, number>()
  for (const { id, polarity, weight } of actions) {
    const telling = weight * actionWeight(bank, id)
    if (polarity === 'recommend' && isUseful(telling)) wanted.set(id, telling)
  }
  return wanted
}

function f1(text: string, gold: Gold, bank: ActionBank): Part {
  const wanted = wantedWeights(gold, bank)
  if (wanted.size === 0) return notApplicable
  const harmful = new Set(
    gold.actions.filter(({ polarity }) => polarity === 'contraindicated').map(({ id }) => id),
  )
  const advised = findAdvisedActions(text, gold, bank)
  let hit = 0
  let beside = 0
  for (const id of advised) {
    if (wanted.has(id)) hit += wanted.get(id)!
    // A harmful action is never generic.
    else beside += harmful.has(id) ? 1 : actionWeight(bank, id)
  }
  let all = 0
  for (const weight of wanted.values()) all += weight
  const of = [...wanted.keys()].filter((id) => advised.has(id))
  return ok(
    Math.min(1, (2 * hit) / (hit + beside + all)),
    `${of.length} of ${wanted.size} wanted, ${advised.size} found${of.length > 0 ? `: ${of.join(', ')}` : ''}`,
  )
}

/**
 * Weighted F1 of the actions found in the recommendation (`recommended-actions.ts`) against those the case recommends.
 * The weight is the case's own times the action's specificity in the bank: "rest and drink plenty" or "arrange a
 * follow-up" weigh nothing there, right or wrong. A contraindicated action, and any other specific one of the bank,
 * costs precision; `noContraindicated` is the gate. No recommendation earns 0. Not applicable where the case recommends
 * no action of positive weight.
 *
 * Only authored wordings are found, in both languages, and no synonyms: use a model to judge free wording.
 * @param bank all actions that may be recommended @default that of the package's knowledge base
 */
export const treatment = ({ bank }: TreatmentOptions = {}): Reward =>
  unitReward(
    'treatment',
    'F1 over atomic actions after MedRBench and AI Hospital, weighted by inverse document frequency',
    (episode, { gold }) =>
      f1(diagnosisOf(episode)?.recommendation ?? '', gold, bank ?? defaultActionBank()),
  )
