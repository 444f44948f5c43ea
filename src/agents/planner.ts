/** The exact planner: dynamic programming to maximise P(right diagnosis), for small clinics or few turns only. */
import type { Agent } from '../agent.js'
import type { Observation } from '../env.js'
import { expandPanel, type Knowledge, parentOf } from '../knowledge/knowledge.js'
import type { BayesianOptions, Budget, DoctorState, Offer } from './bayesian.js'
import {
  conclude,
  expectedInformationGain,
  hasTime,
  isOpen,
  outcomeDistribution,
  relativeCost,
  stateTracker,
  topProbability,
} from './bayesian.js'

/** Options of {@link planFrom}. */
export interface PlanOptions {
  /** P(right) that a cost of 1 (all turns, all money or all minutes) must gain. @default 0 */
  readonly price?: number
  /** Most states (actions taken, with their outcomes) to plan over. @default 100,000 */
  readonly maxSituations?: number
}

/** Options of {@link planner}. */
export interface PlannerOptions extends BayesianOptions, PlanOptions {
  /** Budget of its consultations, to fail early where it allows too many states. @default each observation's */
  readonly budget?: Budget
}

const defaultMaxSituations = 100_000

/** The optimal plan from one point of a consultation on. */
export interface Plan {
  /** Expected P(right) minus the price of the costs, under the best play. */
  readonly worth: number
  /** Best first offer; absent where it is best to diagnose now. */
  readonly offer?: Offer
}

/** Indices of the findings that an offer may show. */
function shownFindings({ exam, findings }: Knowledge, { kind, id }: Offer): readonly number[] {
  const ordered = exam.get(id)
  const members = ordered ? expandPanel(ordered) : []
  const ids = kind === 'ask' ? [id] : members.flatMap((member) => exam.get(member)?.yields ?? [])
  return findings.flatMap((finding, f) => (ids.includes(finding.id) ? [f] : []))
}

function findRoot(finding: Knowledge['finding'], id: string): string {
  const known = finding.get(id)
  const above = known && parentOf(known)
  return above === undefined ? id : findRoot(finding, above)
}

/** Open offers that may become informative: in a family, one may tell nothing until another is known. */
function informativeOffers(state: DoctorState): readonly Offer[] {
  const { knowledge, offers } = state
  const informative = new Set<string>()
  const roots = (offer: Offer): readonly string[] =>
    shownFindings(knowledge, offer).map((f) =>
      findRoot(knowledge.finding, knowledge.findings[f]!.id),
    )
  for (const offer of offers)
    if (expectedInformationGain(state, offer) > 1e-12)
      for (const root of roots(offer)) informative.add(root)
  return offers.filter(
    (offer) => isOpen(state, offer) && roots(offer).some((root) => informative.has(root)),
  )
}

/**
 * Finds the offers to plan with.
 * @throws RangeError where their combinations, in any order, with every outcome, are too many states
 */
function plannableOffers(state: DoctorState, maxSituations: number): readonly Offer[] {
  const offers = informativeOffers(state)
  // Elementary symmetric polynomials of the numbers of outcomes, up to as many offers as there are turns.
  const counts = new Float64Array(Math.max(1, Math.min(state.left.turns, offers.length + 1)))
  counts[0] = 1
  for (const offer of offers) {
    const outcomes = outcomeDistribution(state, offer).length
    for (let k = counts.length - 1; k > 0; k--) counts[k]! += outcomes * counts[k - 1]!
  }
  const situations = counts.reduce((sum, count) => sum + count, 0)
  if (situations > maxSituations)
    throw new RangeError(
      `Expected at most ${maxSituations} situations to plan exactly, got ${situations.toPrecision(2)}, from ${offers.length} questions and examinations in ${state.left.turns} turns: keep fewer findings (a small clinic, questions only), give fewer turns, or take the oracle`,
    )
  return offers
}

/**
 * Plans exactly from one point of a consultation on: every order of the open offers that may be informative, with
 * every outcome, within the turns, money and minutes left.
 * @throws RangeError where there are more than `maxSituations` states
 */
export function planFrom(
  state: DoctorState,
  { price = 0, maxSituations = defaultMaxSituations }: PlanOptions = {},
): Plan {
  if (!hasTime(state)) return { worth: topProbability(state) }
  const offers = plannableOffers(state, maxSituations)
  const findings = [...new Set(offers.flatMap((offer) => shownFindings(state.knowledge, offer)))]
  const known = new Map<string, Plan>()
  const stateKey = ({ belief, closed, done, left }: DoctorState): string => {
    let key = `${left.turns} ${left.money} ${left.minutes} `
    for (const f of findings) key += String.fromCharCode(64 + belief.evidence[f]!)
    for (const { kind, id } of offers) key += (kind === 'ask' ? closed : done).has(id) ? '1' : '0'
    return key
  }
  const solve = (at: DoctorState): Plan => {
    const key = stateKey(at)
    const before = known.get(key)
    if (before) return before
    let plan: Plan = { worth: topProbability(at) }
    for (const offer of hasTime(at) ? offers : []) {
      if (!isOpen(at, offer)) continue
      let worth = -price * relativeCost(at, offer)
      for (const { probability, state: then } of outcomeDistribution(at, offer))
        worth += probability * solve(then).worth
      // A gain within rounding error is no reason to go on.
      if (worth > plan.worth + 1e-12) plan = { worth, offer }
    }
    known.set(key, plan)
    return plan
  }
  return solve(state)
}

/**
 * Makes the doctor that plans exactly with `planFrom`, again at every turn: under this model no doctor is right
 * more often. It throws a RangeError for an observation with too many states.
 * @throws RangeError where `budget` already allows too many states
 */
export function planner({ price, maxSituations, budget, ...options }: PlannerOptions): Agent {
  const read = stateTracker(options)
  const limits = {
    ...(price === undefined ? {} : { price }),
    ...(maxSituations === undefined ? {} : { maxSituations }),
  }
  if (budget) plannableOffers(read(emptyObservation(budget)), maxSituations ?? defaultMaxSituations)
  return (observation) => {
    const state = read(observation)
    const { offer } = planFrom(state, limits)
    return offer ? { action: offer.action } : conclude(state)
  }
}

/** Observation of a patient of whom nothing is known yet. */
const emptyObservation = ({ turns, ...budget }: Budget): Observation => ({
  intake: { view: 'doctor', demographics: { speaker: 'self' }, complaint: {} },
  turns: [],
  turnsLeft: turns,
  spent: { money: 0, minutes: 0 },
  budget,
  language: 'en',
})
