/**
 * Exact dynamic programming: what to ask or order first so that, with everything that may then be answered and
 * done about it, the diagnosis is right as often as it can be. For small clinics or few turns only.
 */
import type { Agent } from '../agent.js'
import type { Observation } from '../env.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import { expandPanel } from '../knowledge/knowledge.js'
import type { BayesianOptions, Means, Mind, Offer } from './bayesian.js'
import {
  after,
  bayesian,
  certainty,
  conclude,
  costOf,
  gainOf,
  hasTime,
  isOpen,
} from './bayesian.js'

export interface PlanOptions {
  /** P(right) that a cost of 1 (all turns, all money or all minutes) must bring. @default 0 */
  readonly price?: number
  /** Situations it reckons with at most. @default 100,000 */
  readonly maxSituations?: number
}

export interface PlannerOptions extends BayesianOptions, PlanOptions {
  /** What its consultations may take, to say at once whether that is too much. @default it is seen in each of them */
  readonly budget?: Means
}

const manySituations = 100_000

/** The best that can be done from some point on. */
export interface Plan {
  /** P(right) less the price of what it takes, over everything that may be answered. */
  readonly worth: number
  /** What to do first; absent where it is best to diagnose. */
  readonly offer?: Offer
}

/** What an offer may show, as indices of findings. */
function shows({ exam, findings }: Knowledge, { kind, id }: Offer): readonly number[] {
  const ordered = exam.get(id)
  const members = ordered ? expandPanel(ordered) : []
  const ids = kind === 'ask' ? [id] : members.flatMap((member) => exam.get(member)?.yields ?? [])
  return findings.flatMap((finding, f) => (ids.includes(finding.id) ? [f] : []))
}

function rootOf(finding: Knowledge['finding'], id: string): string {
  const parent = finding.get(id)?.parent
  return parent ? rootOf(finding, parent.finding) : id
}

/** Offers that may ever tell something: one of a family may tell nothing until another is known. */
function relevant(mind: Mind): readonly Offer[] {
  const { knowledge, offers } = mind
  const telling = new Set<string>()
  const roots = (offer: Offer): readonly string[] =>
    shows(knowledge, offer).map((f) => rootOf(knowledge.finding, knowledge.findings[f]!.id))
  for (const offer of offers)
    if (gainOf(mind, offer) > 1e-12) for (const root of roots(offer)) telling.add(root)
  return offers.filter(
    (offer) => isOpen(mind, offer) && roots(offer).some((root) => telling.has(root)),
  )
}

/**
 * The offers there are to plan with.
 * @throws RangeError where what was done with them, in any order, and how each turned out, are too many situations
 */
function planned(mind: Mind, maxSituations: number): readonly Offer[] {
  const offers = relevant(mind)
  // The elementary symmetric polynomials of the numbers of outcomes, up to as many moves as there are turns.
  const counts = new Float64Array(Math.max(1, Math.min(mind.left.turns, offers.length + 1)))
  counts[0] = 1
  for (const offer of offers) {
    const outcomes = after(mind, offer).length
    for (let k = counts.length - 1; k > 0; k--) counts[k]! += outcomes * counts[k - 1]!
  }
  const situations = counts.reduce((sum, count) => sum + count, 0)
  if (situations > maxSituations)
    throw new RangeError(
      `Expected at most ${maxSituations} situations to plan exactly, got ${situations.toPrecision(2)}, from ${offers.length} questions and examinations in ${mind.left.turns} turns: keep fewer findings (a small clinic, questions only), give fewer turns, or take the oracle`,
    )
  return offers
}

/**
 * The best plan from a point of a consultation on, exactly: every order of every open offer that may tell
 * something, and every answer, within the turns, the money and the minutes left.
 * @throws RangeError where there are more than `maxSituations`
 */
export function planFrom(
  mind: Mind,
  { price = 0, maxSituations = manySituations }: PlanOptions = {},
): Plan {
  if (!hasTime(mind)) return { worth: certainty(mind) }
  const offers = planned(mind, maxSituations)
  const findings = [...new Set(offers.flatMap((offer) => shows(mind.knowledge, offer)))]
  const known = new Map<string, Plan>()
  const keyOf = ({ belief, closed, done, left }: Mind): string => {
    let key = `${left.turns} ${left.money} ${left.minutes} `
    for (const f of findings) key += String.fromCharCode(64 + belief.evidence[f]!)
    for (const { kind, id } of offers) key += (kind === 'ask' ? closed : done).has(id) ? '1' : '0'
    return key
  }
  const solve = (at: Mind): Plan => {
    const key = keyOf(at)
    const before = known.get(key)
    if (before) return before
    let plan: Plan = { worth: certainty(at) }
    for (const offer of hasTime(at) ? offers : []) {
      if (!isOpen(at, offer)) continue
      let worth = -price * costOf(at, offer)
      for (const { probability, mind: then } of after(at, offer))
        worth += probability * solve(then).worth
      // Rounding is no reason to go on.
      if (worth > plan.worth + 1e-12) plan = { worth, offer }
    }
    known.set(key, plan)
    return plan
  }
  return solve(mind)
}

/**
 * Makes the doctor that plans exactly, as `planFrom`, anew at every turn: no doctor is right more often in
 * consultations of this model. It throws a RangeError where there is too much to reckon with.
 * @throws RangeError where that is clear from `budget`
 */
export function planner({ price, maxSituations, budget, ...options }: PlannerOptions): Agent {
  const read = bayesian(options)
  const limits = {
    ...(price === undefined ? {} : { price }),
    ...(maxSituations === undefined ? {} : { maxSituations }),
  }
  if (budget) planned(read(unseen(budget)), maxSituations ?? manySituations)
  return (observation) => {
    const mind = read(observation)
    const { offer } = planFrom(mind, limits)
    return offer ? { action: offer.action } : conclude(mind)
  }
}

/** A patient of whom nothing is known yet. */
const unseen = ({ turns, ...budget }: Means): Observation => ({
  intake: { view: 'doctor', demographics: { speaker: 'self' }, complaint: {} },
  turns: [],
  turnsLeft: turns,
  spent: { money: 0, minutes: 0 },
  budget,
  language: 'en',
})
