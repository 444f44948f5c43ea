/** Information gain as potential-based reward shaping. */
import type { Reward } from '../../reward.js'
import type { ShapeOptions } from '../combinators/shaping.js'
import { shapeReward } from '../combinators/shaping.js'
import { clamp } from '../combinators/weighted-mean.js'
import type { InformationGainOptions } from './information-gain.js'
import { informationPotentials } from './information-gain.js'

/** Clips a potential to [0, 1]: a probability rounded past 1 gives a potential past 1. */
const clampToUnit = (potential: number): number => clamp(potential, [0, 1])

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
    (episode, truth) => informationPotentials(episode, truth, options)?.map(clampToUnit),
    {
      name: 'information-shaping',
      source:
        'ΔΦ as in Ng et al. (1999), of the generator’s posterior; objective-changing in the mode `episode`',
      ...shaping,
    },
  )
