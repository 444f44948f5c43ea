/** Whether what the doctor recommends is what this case needs: treatment and disposition, action by action. */
import type { Gold } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Part, Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'
import type { ActionBank } from './action-bank.js'
import { actionBankOf, bankIndex, weightIn } from './action-bank.js'
import type { ActionIndex } from './recommended-actions.js'
import { indexActions, recommendedIn } from './recommended-actions.js'

export interface TreatmentOptions {
  /**
   * All that cases may be advised (`actionBankOf`): what is recommended beside the case's own costs precision, and generic
   * advice weighs nothing. An empty one makes constant advice pay. @default the package's knowledge base's
   */
  readonly bank?: ActionBank
}

/** Loaded when something is scored, and not before. */
export const packageBank = (): ActionBank => actionBankOf(loadKnowledge())

type Actions = Gold['actions']

const indices = new WeakMap<ActionBank, WeakMap<Actions, ActionIndex>>()

/** The bank's actions and those a case has beside them, to be looked for. */
function indexOf(actions: Actions, bank: ActionBank): ActionIndex {
  // Where the bank has them all, as with generated cases, nothing of a case is read.
  const strange = actions.filter(({ id }) => !bank.actions.has(id))
  if (strange.length === 0) return bankIndex(bank)
  const known = indices.get(bank) ?? new WeakMap<Actions, ActionIndex>()
  indices.set(bank, known)
  let index = known.get(actions)
  if (!index) {
    index = [...bankIndex(bank), ...indexActions(strange)]
    known.set(actions, index)
  }
  return index
}

/** The ids of the case's and the bank's actions that a recommendation recommends. */
export const adviceIn = (text: string, { actions }: Gold, bank: ActionBank): ReadonlySet<string> =>
  recommendedIn(text, indexOf(actions, bank))

const isUseful = (weight: number): boolean => Number.isFinite(weight) && weight > 0

/** What each recommended action weighs: the case's own weight, by how telling it is. */
function wantedOf({ actions }: Gold, bank: ActionBank): ReadonlyMap<string, number> {
  const wanted = new Map<string, number>()
  for (const { id, polarity, weight } of actions) {
    const telling = weight * weightIn(bank, id)
    if (polarity === 'recommend' && isUseful(telling)) wanted.set(id, telling)
  }
  return wanted
}

function f1(text: string, gold: Gold, bank: ActionBank): Part {
  const wanted = wantedOf(gold, bank)
  if (wanted.size === 0) return notApplicable
  const harmful = new Set(
    gold.actions.filter(({ polarity }) => polarity === 'contraindicated').map(({ id }) => id),
  )
  const advised = adviceIn(text, gold, bank)
  let hit = 0
  let beside = 0
  for (const id of advised) {
    if (wanted.has(id)) hit += wanted.get(id)!
    // What does harm is never generic.
    else beside += harmful.has(id) ? 1 : weightIn(bank, id)
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
 * F1, weighted, of the actions that the recommendation recommends (`recommended-actions.ts`) against those the case
 * recommends. An action weighs what the case says, times how telling it is in the bank: "rest and drink plenty" or
 * "arrange a follow-up" weigh nothing there, whether right or beside the point. A contraindicated action, and any other
 * telling one of the bank, costs precision; `noContraindicated` is the gate. No recommendation earns 0.
 * Not applicable where the case recommends nothing that weighs anything.
 *
 * It finds authored wordings in both languages and no synonyms: whoever writes freely is better judged by a model.
 * @param bank all that cases may be advised @default the package's knowledge base's
 */
export const treatment = ({ bank }: TreatmentOptions = {}): Reward =>
  defineReward(
    {
      name: 'treatment',
      bounds: [0, 1],
      source:
        'F1 over atomic actions after MedRBench and AI Hospital, weighted by inverse document frequency',
    },
    (episode, { gold }) =>
      f1(diagnosisOf(episode)?.recommendation ?? '', gold, bank ?? packageBank()),
  )
