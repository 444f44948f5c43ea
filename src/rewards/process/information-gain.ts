/** How much nearer to the diagnosis what was told has brought somebody who heard it all. */

import type { GraderView } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { Belief } from '../../inference/belief.js'
import { diseaseOf, trackEnds, trackOf } from '../../inference/belief-trace.js'
import type { PosteriorOptions } from '../../inference/posterior.js'
import { posteriorOf } from '../../inference/posterior.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'

/** What cases were generated from. */
export interface CaseWorld {
  /** @default the one that comes with the package */
  readonly knowledge?: Knowledge
  /** The knobs of the tier. @default patients out of the textbook, without noise */
  readonly tier?: PosteriorOptions
}

export interface InformationGainOptions extends CaseWorld {
  /** The world of one case, where not all are of one. @default the options' own */
  readonly worldOf?: (truth: GraderView) => CaseWorld
  /** Probability of the diagnosis from which on there is something to gain. @default 0.001 */
  readonly least?: number
}

const leastByDefault = 1e-3

/**
 * The potential of a belief: 1 - log p / log `least` with p the probability of the true diagnosis, at least
 * `least`; 0 for a diagnosis nobody thinks of, 1 for one that is sure.
 */
const potential = ({ probabilities }: Belief, disease: number, least: number): number =>
  1 - Math.log(Math.max(least, probabilities[disease]!)) / Math.log(least)

/**
 * The potentials before the first turn and after every turn. Their differences, turn by turn, sum to the reward
 * below, so that nothing is gained by being told the same again or by a detour. Undefined where the diagnosis is
 * none of the knowledge base's.
 */
export const informationPotentials = (
  episode: Pick<Episode, 'intake' | 'turns'>,
  truth: GraderView,
  options: InformationGainOptions = {},
): readonly number[] | undefined => potentialsOf(trackOf, episode, truth, options)

/** The potentials of the beliefs that `beliefsOf` picks. */
function potentialsOf(
  beliefsOf: (...asked: Parameters<typeof trackOf>) => readonly Belief[],
  episode: Pick<Episode, 'intake' | 'turns'>,
  truth: GraderView,
  options: InformationGainOptions,
): readonly number[] | undefined {
  const { least = leastByDefault, worldOf = () => options } = options
  const { knowledge = loadKnowledge(), tier } = worldOf(truth)
  const disease = diseaseOf(knowledge, truth)
  if (disease < 0) return undefined
  const beliefs = beliefsOf(posteriorOf(knowledge, tier), episode, truth)
  return beliefs.map((belief) => potential(belief, disease, least))
}

/**
 * The last potential of an episode less its first, from -1 to 1: what the consultation added to the intake,
 * whether or not the doctor made anything of it. Not applicable where the diagnosis is none of the knowledge
 * base's. It has the form of potential-based shaping (Ng, Harada and Russell, 1999) with a potential that is
 * kept at the end, so it pays for asking well and does shift what is optimal: a help in training, no score.
 * @throws RangeError for `least` outside 0 to 1
 */
export function informationGain(options: InformationGainOptions = {}): Reward {
  const { least = leastByDefault } = options
  if (!(least > 0 && least < 1))
    throw new RangeError(`Expected \`least\` to be between 0 and 1, got \`${least}\``)
  return defineReward(
    {
      name: 'information-gain',
      bounds: [-1, 1],
      source: 'potentials as in Ng et al. (1999), of the generator’s posterior',
    },
    (episode, truth) => {
      const [before, after] = potentialsOf(trackEnds, episode, truth, options) ?? []
      if (before === undefined || after === undefined) return notApplicable
      return ok(after - before, `${before.toFixed(3)} to ${after.toFixed(3)}`)
    },
  )
}
