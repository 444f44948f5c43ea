/**
 * The doctor's reward of MrlX-TakesTwo (2025), parity and fixed. The fixed form is bounded, reads the facts of the
 * turns, and pays nothing for a wrong diagnosis.
 */
import type { Reward } from '../../reward.js'
import { defineReward } from '../define.js'
import type { Formulary } from '../outcome/formulary.js'
import {
  combineParts,
  conductPart,
  diagnosisPart,
  historyPart,
  recommendationPart,
  requireTurns,
} from './doctoragent-rl-fixed.js'
import { maxTurnsRead, scoreDoctorParity } from './takestwo-parity.js'

/** Options of {@link takestwoDoctor}. */
export interface TakesTwoDoctorOptions {
  /** Whether to use the released formula. @default false */
  readonly parity?: boolean
  /** The published MAX_TURNS; parity only. @default 10 */
  readonly maxTurns?: number
  /** The diseases recognised by name; fixed form only. @default none */
  readonly formulary?: Formulary
}

/** Accuracy .5 (diagnosis, recommendation), information .3, compliance .2; published: 10, about 9, fines of 2 and 5. */
const weights = { diagnosis: 0.3, recommendation: 0.2, information: 0.3, compliance: 0.2 }

/**
 * Parity: 5·F1 of the diagnosis + 5·F1 of the recommendation, as bags of jieba tokens; +1 for each answer, -2 for one
 * with "sorry" in it; -2 for each answer with two question marks; and -5 without a diagnosis, or *with* a
 * recommendation. Only the first 100 turns are read, so that it lies in [-405, 110].
 *
 * Fixed, in [0, 1]: right × (.3 + .2·recommendation + .3·information + .2·compliance). Information is the history
 * coverage; compliance is 1 less .2 for each turn at fault (not one question, a repeat, a refused request), and 0 where
 * the recommendation is missing. An episode without a turn is unavailable.
 */
export function takestwoDoctor({
  parity = false,
  maxTurns = 10,
  formulary = [],
}: TakesTwoDoctorOptions = {}): Reward {
  if (parity)
    return defineReward(
      {
        name: 'takestwo-doctor-parity',
        bounds: [-4 * maxTurnsRead - 5, maxTurnsRead + 10],
        source: 'MrlX-TakesTwo `MedRewardMultiturn` (2025), as released',
        parity,
      },
      (episode, truth) => scoreDoctorParity(episode, truth, maxTurns),
    )
  return defineReward(
    {
      name: 'takestwo-doctor',
      bounds: [0, 1],
      source: 'MrlX-TakesTwo `MedRewardMultiturn` (2025), fixed',
    },
    async (episode, truth) => {
      requireTurns(episode)
      const parts = {
        recommendation: recommendationPart(episode, truth),
        information: await historyPart(episode, truth),
        compliance: conductPart(episode, truth),
      }
      return combineParts(diagnosisPart(episode, truth, formulary), parts, weights)
    },
  )
}
