/** Doctors who diagnose on their first turn: what a consultation must beat. */
import type { Agent } from '../agent.js'
import type { Case } from '../case.js'
import { fullInformation, mostProbable, yearsOf } from '../inference/posterior.js'
import type { BayesianOptions } from './bayesian.js'
import { bayesian, conclude } from './bayesian.js'

/** Makes a doctor that names what is most common at the patient's age and sex, whatever they complain of. */
export function prior(options: BayesianOptions): Agent {
  const read = bayesian(options)
  return (observation) => {
    const mind = read(observation)
    const { age, sex } = observation.intake.demographics
    return conclude({ ...mind, belief: mind.posterior.start({ age: yearsOf(age), sex }) })
  }
}

/** Makes a doctor that names what is most probable by age, sex and complaint. */
export function complaintOnly(options: BayesianOptions): Agent {
  const read = bayesian(options)
  return (observation) => conclude(read(observation))
}

export interface FullInformationOptions extends BayesianOptions {
  /** Every case it may meet; it knows a patient by the identity of their demographics, for intakes may be equal. */
  readonly cases: Iterable<Case>
  /** Only what the patient can tell, or only what examinations show. @default both */
  readonly knownBy?: 'patient' | 'exam'
}

/**
 * Makes a doctor that knows every finding of the cases it meets as it truly is, but not what they have, and names
 * the most probable disease at once: no doctor can be right more often. It throws a RangeError for any other case.
 */
export function fullInformationDoctor({
  cases,
  knownBy,
  ...options
}: FullInformationOptions): Agent {
  const read = bayesian(options)
  const known = new Map([...cases].map((truth) => [truth.demographics, truth] as const))
  return (observation) => {
    const truth = known.get(observation.intake.demographics)
    if (!truth)
      throw new RangeError(
        `Expected one of the ${known.size} cases it was told of, got another one (age ${observation.intake.demographics.age?.v})`,
      )
    const mind = read(observation)
    const belief = fullInformation(mind.posterior, truth, knownBy ? { knownBy } : {})
    return { action: mind.diagnose(mostProbable(options.knowledge, belief)) }
  }
}
