/**
 * The oracle doctors: greedy maximisers of expected information gain under the generator's exact posterior.
 * They know the generator, not medicine, and are greedy: strong baselines rather than bounds.
 */
import type { Agent } from '../agent.js'
import type { BayesianOptions, DoctorState, Offer } from './bayesian.js'
import {
  bestOffer,
  conclude,
  expectedInformationGain,
  hasTime,
  relativeCost,
  stateTracker,
  topProbability,
} from './bayesian.js'

/** Options of {@link oracle} and {@link oraclePerCost}. */
export interface OracleOptions extends BayesianOptions {
  /** Probability at which it stops asking. @default 0.99 */
  readonly threshold?: number
  /** Least expected information gain that is worth a turn, in nats. @default 0.001 */
  readonly minGain?: number
}

/** Takes the offer of the highest gain per `price` until turns, doubt or gain run out, then diagnoses. */
function greedy(
  { threshold = 0.99, minGain = 1e-3, ...options }: OracleOptions,
  price: (state: DoctorState, offer: Offer) => number,
): Agent {
  const read = stateTracker(options)
  return (observation) => {
    const state = read(observation)
    if (!hasTime(state) || topProbability(state) >= threshold) return conclude(state)
    const { offer } = bestOffer(state, (one, most) => {
      const paid = price(state, one)
      const gain = expectedInformationGain(state, one, Math.max(minGain, most * paid))
      return gain < minGain ? 0 : gain / paid
    })
    return offer ? { action: offer.action } : conclude(state)
  }
}

/**
 * Makes the oracle doctor: each turn it takes the question or affordable exam of the largest expected information
 * gain, until one turn is left, the most probable disease reaches `threshold`, or no gain reaches `minGain`. Then
 * it diagnoses that disease, with its recommendation.
 */
export const oracle = (options: OracleOptions): Agent => greedy(options, () => 1)

/**
 * Makes an oracle that maximises expected information gain per cost; the cost is the sum of the offer's shares of
 * the turns, the money and the minutes.
 */
export const oraclePerCost = (options: OracleOptions): Agent => greedy(options, relativeCost)
