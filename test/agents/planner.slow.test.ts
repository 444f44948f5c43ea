import { describe, expect, test } from 'vitest'
import type { DoctorState, Offer } from '../../src/agents/bayesian.js'
import {
  bestOffer,
  expectedInformationGain,
  hasTime,
  outcomeDistribution,
  relativeCost,
  stateTracker,
  topProbability,
} from '../../src/agents/bayesian.js'
import { oracle } from '../../src/agents/oracle.js'
import { planFrom, planner } from '../../src/agents/planner.js'
import type { Knowledge } from '../../src/knowledge/knowledge.js'
import { clinic } from '../../src/knowledge/knowledge.js'
import { tiers } from '../../src/knowledge/tiers.js'
import { pick } from '../../src/seed.js'
import { consult, seen } from '../fixtures/consulting.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'
import { randomClinic } from '../fixtures/random-clinic.js'

const noise = { forget: 0.05, deny: 0.1, overReport: 0.05 }

/** The start of a consultation with somebody of whom nothing is known. */
function start(knowledge: Knowledge, turns: number, money = 90): DoctorState {
  const observation = seen([], {
    intake: { view: 'doctor', demographics: { speaker: 'self' }, complaint: { en: 'Hello.' } },
    turnsLeft: turns,
    budget: { money, minutes: 60 },
  })
  return stateTracker({ knowledge, noise })(observation)
}

type Policy = (mind: DoctorState) => Offer | undefined

/** P(right) of a policy, exactly: over everything that may be answered. */
function worthOf(mind: DoctorState, policy: Policy): number {
  const offer = hasTime(mind) ? policy(mind) : undefined
  if (!offer) return topProbability(mind)
  return outcomeDistribution(mind, offer).reduce(
    (sum, { probability, state: then }) => sum + probability * worthOf(then, policy),
    0,
  )
}

const policies: Readonly<Record<string, Policy>> = {
  'most information': (mind) =>
    bestOffer(mind, (offer) => expectedInformationGain(mind, offer)).offer,
  'most information per cost': (mind) =>
    bestOffer(mind, (offer) => expectedInformationGain(mind, offer) / relativeCost(mind, offer))
      .offer,
  'the best diagnosis next': (mind) =>
    bestOffer(mind, ({ kind, id }) =>
      kind === 'ask'
        ? mind.posterior.expectedBestUtility(mind.belief, id) - topProbability(mind) + 1e-9
        : mind.posterior.expectedBestUtilityOfExam(mind.belief, id, mind.done) -
          topProbability(mind) +
          1e-9,
    ).offer,
  'anything at all': (mind) =>
    bestOffer(mind, ({ id }) => pick([1, 2, 3, 4], mind.left.turns, id)).offer,
}
const seeds = [0, 1, 2, 3, 4, 5]

describe('the exact plan', () => {
  test.each(Object.keys(policies))('is worth at least as much as: %s', (name) => {
    const policy = policies[name]!
    let better = 0
    for (const seed of seeds)
      for (const turns of [2, 4, 5]) {
        const mind = start(randomClinic(seed), turns)
        const [plan, greedy] = [planFrom(mind).worth, worthOf(mind, policy)]
        expect(plan).toBeGreaterThanOrEqual(greedy - 1e-12)
        if (plan > greedy + 1e-6) better++
      }
    expect(better).toBeGreaterThan(0)
  })

  test('is worth what following it comes to', () => {
    for (const seed of seeds) {
      const mind = start(randomClinic(seed), 4)
      const follow: Policy = (at) => planFrom(at).offer
      expect(worthOf(mind, follow)).toBeCloseTo(planFrom(mind).worth, 12)
    }
  })

  test('with one move left takes what most improves the diagnosis', () => {
    for (const seed of seeds) {
      const mind = start(randomClinic(seed), 2)
      const { posterior, belief, offers, done } = mind
      const best = Math.max(
        ...offers.map(({ kind, id }) =>
          kind === 'ask'
            ? posterior.expectedBestUtility(belief, id)
            : posterior.expectedBestUtilityOfExam(belief, id, done),
        ),
      )
      expect(planFrom(mind).worth).toBeCloseTo(best, 12)
    }
  })

  test('is worth no less with more turns or more money, and the more the dearer nothing is', () => {
    for (const seed of seeds) {
      const knowledge = randomClinic(seed)
      const worth = (turns: number, money: number, price = 0) =>
        planFrom(start(knowledge, turns, money), { price }).worth
      const byTurns = [1, 2, 3, 4, 5].map((turns) => worth(turns, 90))
      expect(byTurns).toEqual([...byTurns].sort((a, b) => a - b))
      const byMoney = [0, 30, 60, 90].map((money) => worth(4, money))
      expect(byMoney).toEqual([...byMoney].sort((a, b) => a - b))
      const byPrice = [1, 0.2, 0.05, 0].map((price) => worth(4, 90, price))
      expect(byPrice).toEqual([...byPrice].sort((a, b) => a - b))
      expect(byPrice[0]).toBeGreaterThanOrEqual(worth(1, 90))
    }
  })

  test('keeps within the money, also with what is unavailable costing none', () => {
    const knowledge = randomClinic(1)
    const walk = (mind: DoctorState): void => {
      expect(mind.left.money).toBeGreaterThanOrEqual(0)
      const { offer } = planFrom(mind)
      if (!offer) return
      for (const { state: then } of outcomeDistribution(mind, offer)) walk(then)
    }
    walk(start(knowledge, 5, 85))
  })
})

describe('where there is too much to compute with', () => {
  const knowledge = familyKnowledge()

  test('it says so, how much it is, and what to do', () => {
    expect(() => planFrom(start(knowledge, 10))).toThrow(
      /Expected at most 100000 situations to plan exactly, got [\d.e+]+, from \d+ questions and examinations in 10 turns: keep fewer findings .*, give fewer turns, or take the oracle/,
    )
    const budget = { turns: 10, money: 300, minutes: 2880 }
    expect(() => planner({ knowledge, budget })).toThrow(RangeError)
    expect(() => planner({ knowledge, budget: { ...budget, turns: 3 } })).not.toThrow()
    expect(() => planFrom(start(randomClinic(0), 4), { maxSituations: 20 })).toThrow(RangeError)
  })
})

test('the planning doctor plays: as well as the oracle in short consultations, and diagnoses in all', async () => {
  const knowledge = clinic(familyKnowledge(), ['chest'])
  const options = { knowledge, ...tiers.standard, questionsOnly: true }
  const playing = { knowledge, tier: 'standard', count: 150, maxTurns: 4 } as const
  const exact = await consult(planner(options), playing)
  const greedy = await consult(oracle(options), playing)
  for (const { stop } of exact.episodes) expect(stop).toBe('diagnosed')
  expect(exact.accuracy).toBeGreaterThan(greedy.accuracy - 0.05)
})
