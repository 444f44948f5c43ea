/** Information gain as potential-based shaping. */
import type { Reward } from '../../reward.js'
import type { ShapeOptions } from '../combinators/shape.js'
import { shape } from '../combinators/shape.js'
import { clamp } from '../combinators/weighing.js'
import type { InformationGainOptions } from './information-gain.js'
import { informationPotentials } from './information-gain.js'

/** A probability that was rounded past 1 makes a potential past 1. */
const within = (potential: number): number => clamp(potential, [0, 1])

/**
 * `shape` over how near the true diagnosis is for somebody who heard everything that was told, by the case's own
 * posterior and never by the doctor's words. In the mode `turn` (the default) its `turns` reward the questions and orders
 * that brought the diagnosis nearer, and its total is the same for all siblings; in the mode `episode` its total is at
 * most β of what was gained. Not applicable where the diagnosis is none of the knowledge base's.
 * @throws RangeError for options out of range
 */
export const informationShaping = ({
  shaping = {},
  ...options
}: InformationGainOptions & { readonly shaping?: Omit<ShapeOptions, 'bounds'> } = {}): Reward =>
  shape((episode, truth) => informationPotentials(episode, truth, options)?.map(within), {
    name: 'information-shaping',
    source:
      'ΔΦ as in Ng et al. (1999), of the generator’s posterior; objective-changing in the mode `episode`',
    ...shaping,
  })
