/** Baselines with an exact posterior but poor question choice: they show what good questions are worth. */
import type { Agent } from '../agent.js'
import { pick } from '../seed.js'
import type { BayesianOptions, DoctorState, Offer } from './bayesian.js'
import { bestOffer, conclude, hasTime, isOpen, stateTracker } from './bayesian.js'

type ChooseOffer = (state: DoctorState, seed: number) => Offer | undefined

/** Makes a doctor that takes offers until one turn is left or none is chosen, then diagnoses. */
function listener(options: BayesianOptions, choose: ChooseOffer): Agent {
  const read = stateTracker(options)
  return (observation, { seed }) => {
    const state = read(observation)
    const offer = hasTime(state) ? choose(state, seed) : undefined
    return offer ? { action: offer.action } : conclude(state)
  }
}

/** Makes a doctor that asks open questions at random, then diagnoses the most probable disease. */
export const randomAsk = (options: BayesianOptions): Agent =>
  listener({ ...options, questionsOnly: true }, (state, seed) => {
    const open = state.offers.filter((offer) => isOpen(state, offer))
    return open.length > 0 ? pick(open, seed, 'turns left', state.left.turns) : undefined
  })

/** Makes a doctor that asks for the finding most probably present, then diagnoses the most probable disease. */
export const positiveChaser = (options: BayesianOptions): Agent =>
  listener(
    { ...options, questionsOnly: true },
    (state) =>
      bestOffer(state, ({ id }) => state.posterior.presenceProbability(state.belief, id)).offer,
  )

/** Makes a doctor that asks every patient the same questions, most frequent finding first, then diagnoses. */
export function askAll(options: BayesianOptions): Agent {
  let marginal: ReadonlyMap<string, number> | undefined
  return listener({ ...options, questionsOnly: true }, (state) => {
    const { posterior, offers } = state
    if (!marginal) {
      const prior = posterior.start({})
      marginal = new Map(
        offers.map(({ id }) => [id, posterior.presenceProbability(prior, id)] as const),
      )
    }
    const frequency = marginal
    return bestOffer(state, ({ id }) => frequency.get(id) ?? 0).offer
  })
}

/** Makes a doctor that asks nothing, orders every affordable exam, cheapest first, then diagnoses. */
export const orderAll = (options: BayesianOptions): Agent =>
  listener(options, (state) => {
    const cheapness = (money: number): number => 1 / (1 + money)
    return bestOffer(state, ({ kind, money }) => (kind === 'order' ? cheapness(money) : 0)).offer
  })
