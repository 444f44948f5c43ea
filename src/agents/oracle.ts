/**
 * The oracle doctors: they keep the exact posterior of the generator and ask or order whatever tells most.
 * They are optimal for the generator, not for medicine, and greedy, so strong baselines rather than bounds.
 */
import type { Agent } from '../agent.js'
import type { BayesianOptions, Mind, Offer } from './bayesian.js'
import { bayesian, bestOffer, certainty, conclude, costOf, gainOf, hasTime } from './bayesian.js'

export interface OracleOptions extends BayesianOptions {
  /** Probability at which it stops asking. @default 0.99 */
  readonly threshold?: number
  /** Nats below which nothing is worth a turn. @default 0.001 */
  readonly minGain?: number
}

/** Takes the offer that tells most per `price` while there is a turn, doubt, and something to be learnt. */
function greedy(
  { threshold = 0.99, minGain = 1e-3, ...options }: OracleOptions,
  price: (mind: Mind, offer: Offer) => number,
): Agent {
  const read = bayesian(options)
  return (observation) => {
    const mind = read(observation)
    if (!hasTime(mind) || certainty(mind) >= threshold) return conclude(mind)
    const { offer } = bestOffer(mind, (one, most) => {
      const paid = price(mind, one)
      const gain = gainOf(mind, one, Math.max(minGain, most * paid))
      return gain < minGain ? 0 : gain / paid
    })
    return offer ? { action: offer.action } : conclude(mind)
  }
}

/**
 * Makes the oracle doctor: each turn the question or affordable examination of largest expected information,
 * until one turn is left, the most probable disease reaches `threshold`, or nothing is worth `minGain`; then
 * that disease with its recommendation.
 */
export const oracle = (options: OracleOptions): Agent => greedy(options, () => 1)

/**
 * Like the oracle, but each turn what tells most for what it costs: expected information over the share of the
 * turns, the money and the minutes that it takes.
 */
export const oraclePerCost = (options: OracleOptions): Agent => greedy(options, costOf)
