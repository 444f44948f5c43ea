/** The decision-theoretic doctor: chooses questions and exams by expected value of information. */
import type { Agent } from '../agent.js'
import { accuracyUtility, utilityTable } from '../inference/utility.js'
import type { Disease } from '../knowledge/knowledge.js'
import type { BayesianOptions, DoctorState, Offer } from './bayesian.js'
import {
  bestOffer,
  expectedInformationGain,
  hasTime,
  relativeCost,
  stateTracker,
  topProbability,
} from './bayesian.js'

/** Options of {@link valueOfInformation}. */
export interface ValueOfInformationOptions extends BayesianOptions {
  /** Utility that a cost of 1 (all turns, all money or all minutes) must gain. @default 0.05 */
  readonly price?: number
  /** Probability of the most probable disease at which it stops. @default 0.99 */
  readonly threshold?: number
  /** Least expected information gain, in nats per cost of 1, that is worth going on for. @default 0.01 */
  readonly minGain?: number
  /** Utility of diagnosing `said` when `truth` is right. @default 1 where they are the same, else 0 */
  readonly utility?: (said: Disease, truth: Disease) => number
}

/**
 * Makes a doctor that takes the offer of the highest value of information: expected utility of the best diagnosis
 * after it, minus that of the best diagnosis now, minus `price` times its cost (its share of all turns, money and
 * minutes). Where no single offer is worth its cost (several together still may be), it takes the one of the
 * highest expected information gain per cost. It stops once that is below `minGain`, or at `threshold`.
 */
export function valueOfInformation({
  price = 0.05,
  threshold = 0.99,
  minGain = 0.01,
  utility: customUtility,
  ...options
}: ValueOfInformationOptions): Agent {
  const { knowledge } = options
  const read = stateTracker(options)
  const utility = customUtility
    ? utilityTable(knowledge, customUtility)
    : accuracyUtility(knowledge)
  const utilityAfter = ({ posterior, belief, done }: DoctorState, { kind, id }: Offer): number =>
    kind === 'ask'
      ? posterior.expectedBestUtility(belief, id, utility)
      : posterior.expectedBestUtilityOfExam(belief, id, done, utility)
  return (observation) => {
    const state = read(observation)
    const { disease, worth: now } = state.posterior.bestDiagnosis(state.belief, utility)
    const conclusion = { action: state.diagnose(disease) }
    if (!hasTime(state)) return conclusion
    const worthwhile = bestOffer(
      state,
      (one) => utilityAfter(state, one) - now - price * relativeCost(state, one),
    )
    // Rounding errors alone may be above 0.
    if (worthwhile.offer && worthwhile.worth > 1e-9) return { action: worthwhile.offer.action }
    if (topProbability(state) >= threshold) return conclusion
    const informative = bestOffer(state, (one, most) => {
      const cost = relativeCost(state, one)
      return expectedInformationGain(state, one, most * cost) / cost
    })
    return informative.offer && informative.worth >= minGain
      ? { action: informative.offer.action }
      : conclusion
  }
}
