/** The decision-theoretic doctor: asks or orders only what may make a better diagnosis worth more than it costs. */
import type { Agent } from '../agent.js'
import { rightOnly, utilityOf } from '../inference/utility.js'
import type { Disease } from '../knowledge/knowledge.js'
import type { BayesianOptions, Mind, Offer } from './bayesian.js'
import { bayesian, bestOffer, certainty, costOf, gainOf, hasTime } from './bayesian.js'

export interface ValueOptions extends BayesianOptions {
  /** Worth that a cost of 1 (all turns, all money or all minutes) must bring. @default 0.05 */
  readonly price?: number
  /** Probability from which doubt is no reason to go on. @default 0.99 */
  readonly threshold?: number
  /** Nats per cost of 1 below which nothing is worth going on for. @default 0.01 */
  readonly minGain?: number
  /** What naming one disease is worth when another is true. @default 1 for the right one, or else 0 */
  readonly utility?: (said: Disease, truth: Disease) => number
}

/**
 * Makes a doctor that takes what has most value of information: the expected worth of the best diagnosis after
 * it, less that of the best one now, less `price` times its cost (its share of all turns, money and minutes).
 * While no single answer is worth its cost, which is not to say that several are not, it takes what tells most
 * per cost instead, and it stops once that is below `minGain` or the most probable disease reaches `threshold`.
 */
export function valueOfInformation({
  price = 0.05,
  threshold = 0.99,
  minGain = 0.01,
  utility: worthOf,
  ...options
}: ValueOptions): Agent {
  const { knowledge } = options
  const read = bayesian(options)
  const utility = worthOf ? utilityOf(knowledge, worthOf) : rightOnly(knowledge)
  const after = ({ posterior, belief, done }: Mind, { kind, id }: Offer): number =>
    kind === 'ask'
      ? posterior.expectedBest(belief, id, utility)
      : posterior.expectedBestOfExam(belief, id, done, utility)
  return (observation) => {
    const mind = read(observation)
    const { disease, worth: now } = mind.posterior.best(mind.belief, utility)
    const conclusion = { action: mind.diagnose(disease) }
    if (!hasTime(mind)) return conclusion
    const worthwhile = bestOffer(mind, (one) => after(mind, one) - now - price * costOf(mind, one))
    // Rounding may make worth of nothing.
    if (worthwhile.offer && worthwhile.worth > 1e-9) return { action: worthwhile.offer.action }
    if (certainty(mind) >= threshold) return conclusion
    const telling = bestOffer(mind, (one, most) => {
      const cost = costOf(mind, one)
      return gainOf(mind, one, most * cost) / cost
    })
    return telling.offer && telling.worth >= minGain ? { action: telling.offer.action } : conclusion
  }
}
