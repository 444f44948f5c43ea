/** Baseline doctors that diagnose on their first turn: prior, complaint only, full information. */
import type { Agent, PrivilegedAgent } from '../agent.js'
import { ageInYears, fullInformationBelief, mostProbableDisease } from '../inference/posterior.js'
import { type BayesianOptions, conclude, stateTracker } from './bayesian.js'

/** Makes a doctor that names the most common disease at the patient's age and sex, ignoring the complaint. */
export function prior(options: BayesianOptions): Agent {
  const track = stateTracker(options)
  return (observation) => {
    const state = track(observation)
    const { age, sex } = observation.intake.demographics
    return conclude({ ...state, belief: state.posterior.start({ age: ageInYears(age), sex }) })
  }
}

/** Makes a doctor that names the most probable disease given age, sex and complaint. */
export function complaintOnly(options: BayesianOptions): Agent {
  const track = stateTracker(options)
  return (observation) => conclude(track(observation))
}

/** Options of {@link fullInformationDoctor}. */
export interface FullInformationOptions extends BayesianOptions {
  /** Restricts the findings to those the patient can tell, or those examinations show. @default both */
  readonly knownBy?: 'patient' | 'exam'
}

/**
 * Makes the Bayes bound of accuracy: a doctor that is given every true finding of a case, but not the diagnosis, and
 * names the most probable disease at once. No doctor can be right more often.
 */
export function fullInformationDoctor({
  knownBy,
  ...options
}: FullInformationOptions): PrivilegedAgent {
  const track = stateTracker(options)
  return {
    forCase: (truth) => (observation) => {
      const state = track(observation)
      const belief = fullInformationBelief(state.posterior, truth, knownBy ? { knownBy } : {})
      return { action: state.diagnose(mostProbableDisease(options.knowledge, belief)) }
    },
  }
}
