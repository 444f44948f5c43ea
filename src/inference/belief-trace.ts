/** The posterior track of an episode: what somebody who heard everything that was told knew, turn by turn. */

import type { GraderView } from '../case.js'
import { primary } from '../case.js'
import type { Episode } from '../episode.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import type { Belief } from './belief.js'
import type { Posterior } from './posterior.js'
import { yearsOf } from './posterior.js'

const atIntake = (
  posterior: Posterior,
  { demographics: { age, sex } }: Episode['intake'],
  { findings }: GraderView['complaint'],
): Belief => posterior.start({ age: yearsOf(age), sex, complaint: findings })

/** The beliefs before the first turn and after every turn, from the facts and not from how they were put. */
export function trackOf(
  posterior: Posterior,
  { intake, turns }: Pick<Episode, 'intake' | 'turns'>,
  { complaint }: Pick<GraderView, 'complaint'>,
): readonly [Belief, ...Belief[]] {
  let belief = atIntake(posterior, intake, complaint)
  const track: [Belief, ...Belief[]] = [belief]
  for (const { facts } of turns) {
    belief = posterior.observe(belief, facts.told)
    track.push(belief)
  }
  return track
}

/** The first and the last of {@link trackOf}, up to rounding: all that was told is taken in at once, which is quicker. */
export function trackEnds(
  posterior: Posterior,
  { intake, turns }: Pick<Episode, 'intake' | 'turns'>,
  { complaint }: Pick<GraderView, 'complaint'>,
): readonly [Belief, Belief] {
  const before = atIntake(posterior, intake, complaint)
  const told = turns.flatMap(({ facts }) => facts.told)
  return [before, posterior.observe(before, told)]
}

/** Below this a probability is as good as none, so that no single episode is worth more than all the others. */
const least = 1e-6

/**
 * The nats gained on the true diagnosis after every turn, log P(d* | told so far) - log P(d* | intake), the
 * probabilities no less than 1e-6; undefined where the diagnosis is none of the knowledge base's.
 */
export function gainedOf(
  knowledge: Knowledge,
  posterior: Posterior,
  episode: Pick<Episode, 'intake' | 'turns'>,
  truth: Pick<GraderView, 'complaint' | 'gold'>,
): readonly number[] | undefined {
  const d = diseaseOf(knowledge, truth)
  if (d < 0) return undefined
  const [first, ...later] = trackOf(posterior, episode, truth)
  const log = ({ probabilities }: Belief): number => Math.log(Math.max(least, probabilities[d]!))
  return later.map((belief) => log(belief) - log(first))
}

/** The index of a case's primary diagnosis in the knowledge base; -1 where it is not in it. */
export function diseaseOf({ diseases }: Knowledge, { gold }: Pick<GraderView, 'gold'>): number {
  const { id } = primary(gold)
  return diseases.findIndex((disease) => disease.id === id)
}
