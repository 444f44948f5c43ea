/** Doctors who diagnose on their first turn: what a consultation must beat. */
import type { Agent, PrivilegedAgent } from '../agent.js'
import { ageInYears, fullInformationBelief, mostProbableDisease } from '../inference/posterior.js'
import type { BayesianOptions } from './bayesian.js'
import { conclude, stateTracker } from './bayesian.js'

/** Makes a doctor that names what is most common at the patient's age and sex, whatever they complain of. */
export function prior(options: BayesianOptions): Agent {
  const read = stateTracker(options)
  return (observation) => {
    const mind = read(observation)
    const { age, sex } = observation.intake.demographics
    return conclude({ ...mind, belief: mind.posterior.start({ age: ageInYears(age), sex }) })
  }
}

/** Makes a doctor that names what is most probable by age, sex and complaint. */
export function complaintOnly(options: BayesianOptions): Agent {
  const read = stateTracker(options)
  return (observation) => conclude(read(observation))
}

export interface FullInformationOptions extends BayesianOptions {
  /** Only what the patient can tell, or only what examinations show. @default both */
  readonly knownBy?: 'patient' | 'exam'
}

/**
 * Makes the Bayes bound of accuracy: a doctor that is given every finding of a case as it truly is, but not the
 * diagnosis, and names the most probable disease at once. No doctor can be right more often.
 */
export function fullInformationDoctor({
  knownBy,
  ...options
}: FullInformationOptions): PrivilegedAgent {
  const read = stateTracker(options)
  return {
    forCase: (truth) => (observation) => {
      const mind = read(observation)
      const belief = fullInformationBelief(mind.posterior, truth, knownBy ? { knownBy } : {})
      return { action: mind.diagnose(mostProbableDisease(options.knowledge, belief)) }
    },
  }
}
