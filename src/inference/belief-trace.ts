/** Belief trace of an episode: the posterior over diseases at intake and after each turn. */

import { type GraderView, primaryDiagnosis } from '../case.js'
import type { Episode } from '../episode.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import type { Belief } from './belief.js'
import { ageInYears, type Posterior } from './posterior.js'

const beliefAtIntake = (
  posterior: Posterior,
  { demographics: { age, sex } }: Episode['intake'],
  { findings }: GraderView['complaint'],
): Belief => posterior.start({ age: ageInYears(age), sex, complaint: findings })

/** Belief at intake and after every turn. Reads the findings each turn settled, never the wording of its text. */
export function beliefTrace(
  posterior: Posterior,
  { intake, turns }: Pick<Episode, 'intake' | 'turns'>,
  { complaint }: Pick<GraderView, 'complaint'>,
): readonly [Belief, ...Belief[]] {
  let belief = beliefAtIntake(posterior, intake, complaint)
  const trace: [Belief, ...Belief[]] = [belief]
  for (const { facts } of turns) {
    belief = posterior.observe(belief, facts.told)
    trace.push(belief)
  }
  return trace
}

/** First and last belief of {@link beliefTrace}, up to rounding. Faster: takes in all findings at once. */
export function beliefTraceEnds(
  posterior: Posterior,
  { intake, turns }: Pick<Episode, 'intake' | 'turns'>,
  { complaint }: Pick<GraderView, 'complaint'>,
): readonly [Belief, Belief] {
  const before = beliefAtIntake(posterior, intake, complaint)
  const revealed = turns.flatMap(({ facts }) => facts.told)
  return [before, posterior.observe(before, revealed)]
}

/** Floor of a probability inside a logarithm, so that no single episode outweighs all others. */
const minProbability = 1e-6

/**
 * Gain in log-probability of the true primary diagnosis d* after every turn, since intake, in nats:
 * log P(d* | findings so far) - log P(d* | intake), with probabilities floored at 1e-6. Undefined where the
 * knowledge base does not have d*.
 */
export function logProbabilityGains(
  knowledge: Knowledge,
  posterior: Posterior,
  episode: Pick<Episode, 'intake' | 'turns'>,
  truth: Pick<GraderView, 'complaint' | 'gold'>,
): readonly number[] | undefined {
  const d = primaryDiseaseIndex(knowledge, truth)
  if (d < 0) return undefined
  const [first, ...later] = beliefTrace(posterior, episode, truth)
  const log = ({ probabilities }: Belief): number =>
    Math.log(Math.max(minProbability, probabilities[d]!))
  return later.map((belief) => log(belief) - log(first))
}

/** Index of a case's primary diagnosis in `knowledge.diseases`; -1 where the knowledge base does not have it. */
export function primaryDiseaseIndex(
  { diseases }: Knowledge,
  { gold }: Pick<GraderView, 'gold'>,
): number {
  const { id } = primaryDiagnosis(gold)
  return diseases.findIndex((disease) => disease.id === id)
}
