/** Information gain: how much the consultation raised the posterior probability of the true diagnosis. */
import type { GraderView } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { Belief } from '../../inference/belief.js'
import { beliefTrace, beliefTraceEnds, primaryDiseaseIndex } from '../../inference/belief-trace.js'
import { getPosterior, type PosteriorOptions } from '../../inference/posterior.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import { notApplicable, ok, type Reward } from '../../reward.js'
import { type ShapeOptions, shapeReward } from '../combinators/shaping.js'
import { clamp } from '../combinators/weighted-mean.js'
import { defineReward } from '../define.js'

/** The generator of a case: knowledge base and difficulty tier. */
export interface CaseWorld {
  /** @default the knowledge base of the package */
  readonly knowledge?: Knowledge
  /** Noise parameters of the tier. @default textbook patients without noise */
  readonly tier?: PosteriorOptions
}

/** Options of {@link informationGain}. */
export interface InformationGainOptions extends CaseWorld {
  /** The generator of one case, where cases come from several. @default the options' own */
  readonly worldOf?: (truth: GraderView) => CaseWorld
  /** Floor of the diagnosis's probability, at which the potential is 0. @default 0.001 */
  readonly least?: number
}

const defaultLeast = 1e-3

/**
 * The potential of a belief: 1 - log p / log `least` with p the probability of the true diagnosis, floored at `least`.
 * 0 for a diagnosis at the floor, 1 for a certain one.
 */
const potential = ({ probabilities }: Belief, disease: number, least: number): number =>
  1 - Math.log(Math.max(least, probabilities[disease]!)) / Math.log(least)

/**
 * The potentials before the first turn and after every turn. Their turn-by-turn differences sum to
 * {@link informationGain}, so that repeats and detours gain nothing. Undefined where the diagnosis is not in the
 * knowledge base.
 */
export const informationPotentials = (
  episode: Pick<Episode, 'intake' | 'turns'>,
  truth: GraderView,
  options: InformationGainOptions = {},
): readonly number[] | undefined => computePotentials(beliefTrace, episode, truth, options)

function computePotentials(
  selectBeliefs: (...asked: Parameters<typeof beliefTrace>) => readonly Belief[],
  episode: Pick<Episode, 'intake' | 'turns'>,
  truth: GraderView,
  options: InformationGainOptions,
): readonly number[] | undefined {
  const { least = defaultLeast, worldOf = () => options } = options
  const { knowledge = loadKnowledge(), tier } = worldOf(truth)
  const disease = primaryDiseaseIndex(knowledge, truth)
  if (disease < 0) return undefined
  const beliefs = selectBeliefs(getPosterior(knowledge, tier), episode, truth)
  return beliefs.map((belief) => potential(belief, disease, least))
}

/**
 * The last potential of an episode less its first, from -1 to 1: the information that the consultation added to the
 * intake, whether or not the doctor used it. Not applicable where the diagnosis is not in the knowledge base. It has the
 * form of potential-based shaping (Ng, Harada and Russell, 1999) with a potential that is kept at the end, so it pays
 * for asking well and does change the optimal policy: a training aid, not a score.
 * @throws RangeError for `least` outside 0 to 1
 */
export function informationGain(options: InformationGainOptions = {}): Reward {
  const { least = defaultLeast } = options
  if (!(least > 0 && least < 1))
    throw new RangeError(`Expected \`least\` to be between 0 and 1, got \`${least}\``)
  return defineReward(
    {
      name: 'information-gain',
      bounds: [-1, 1],
      source: 'potentials as in Ng et al. (1999), of the generator’s posterior',
    },
    (episode, truth) => {
      const [before, after] = computePotentials(beliefTraceEnds, episode, truth, options) ?? []
      if (before === undefined || after === undefined) return notApplicable
      return ok(after - before, `${before.toFixed(3)} to ${after.toFixed(3)}`)
    },
  )
}

/**
 * `shapeReward` with the potential of {@link informationPotentials}: the posterior given every reply and result so far,
 * never the doctor's words. In mode `turn` (the default) its `turns` reward the questions and orders that made the true
 * diagnosis more probable, and its total is the same for all siblings; in mode `episode` its total is β times the
 * information gain. Not applicable where the diagnosis is not in the knowledge base.
 * @throws RangeError for options out of range
 */
export const informationShaping = ({
  shaping = {},
  ...options
}: InformationGainOptions & { readonly shaping?: Omit<ShapeOptions, 'bounds'> } = {}): Reward =>
  shapeReward(
    // A probability rounded past 1 gives a potential past 1.
    (episode, truth) =>
      informationPotentials(episode, truth, options)?.map((one) => clamp(one, [0, 1])),
    {
      name: 'information-shaping',
      source:
        'ΔΦ as in Ng et al. (1999), of the generator’s posterior; objective-changing in the mode `episode`',
      ...shaping,
    },
  )
