/** Doctors who make the most of what they hear, and choose badly what to ask: what good questions are worth. */
import type { Agent } from '../agent.js'
import { pick } from '../seed.js'
import type { BayesianOptions, Mind, Offer } from './bayesian.js'
import { bayesian, bestOffer, conclude, hasTime, isOpen } from './bayesian.js'

type Choice = (mind: Mind, seed: number) => Offer | undefined

/** Takes what it chooses until one turn is left or there is nothing more, then names the most probable disease. */
function listener(options: BayesianOptions, choose: Choice): Agent {
  const read = bayesian(options)
  return (observation, { seed }) => {
    const mind = read(observation)
    const offer = hasTime(mind) ? choose(mind, seed) : undefined
    return offer ? { action: offer.action } : conclude(mind)
  }
}

/** Makes a doctor that asks questions at random, none twice that was answered, and then names the most probable disease. */
export const randomAsk = (options: BayesianOptions): Agent =>
  listener({ ...options, questionsOnly: true }, (mind, seed) => {
    const open = mind.offers.filter((offer) => isOpen(mind, offer))
    return open.length > 0 ? pick(open, seed, 'turns left', mind.left.turns) : undefined
  })

/** Makes a doctor that asks for what is most probably there, and then names the most probable disease. */
export const positiveChaser = (options: BayesianOptions): Agent =>
  listener(
    { ...options, questionsOnly: true },
    (mind) => bestOffer(mind, ({ id }) => mind.posterior.presence(mind.belief, id)).offer,
  )

/**
 * Makes a doctor that asks everybody the same questions, what is most often there first, and then names the most
 * probable disease.
 */
export function askAll(options: BayesianOptions): Agent {
  let marginal: ReadonlyMap<string, number> | undefined
  return listener({ ...options, questionsOnly: true }, (mind) => {
    const { posterior, offers } = mind
    if (!marginal) {
      const anybody = posterior.start({})
      marginal = new Map(offers.map(({ id }) => [id, posterior.presence(anybody, id)] as const))
    }
    const often = marginal
    return bestOffer(mind, ({ id }) => often.get(id) ?? 0).offer
  })
}

/** Makes a doctor that asks nothing, orders everything it can pay for, the cheapest first, and then names the most probable disease. */
export const orderAll = (options: BayesianOptions): Agent =>
  listener(options, (mind) => {
    const dear = (money: number): number => 1 / (1 + money)
    return bestOffer(mind, ({ kind, money }) => (kind === 'order' ? dear(money) : 0)).offer
  })
