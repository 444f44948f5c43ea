/**
 * How a batch reaches the weights. Our own sidecar has every loss natively; any other Tinker server gets the loss it
 * has, or else the importance-sampling loss with the same gradient (`linearise.ts`), which costs a forward pass more.
 */
import type { Objective, TokenSegment, TrainBatch } from '../../batch.js'
import { linearise } from '../losses/linearise.js'
import type { Datum, TrainingModel, WireLoss } from '../tinker/wire.js'
import { datum, lossDatum, masked, nativeLoss, ownDatum, rowsOf } from './datum.js'

/** A batch on its way: what the pass gives, and the data it goes with. */
export interface Routed {
  readonly data: readonly Datum[]
  readonly loss: WireLoss
}

/** The loss of a server without extensions that is this very one, if there is one. */
function sameLoss(objective: Objective): Pick<WireLoss, 'name' | 'config'> | undefined {
  switch (objective.kind) {
    case 'importance-sampling':
      return { name: 'importance_sampling' }
    case 'policy-gradient':
    case 'cross-entropy':
      return { name: 'cross_entropy' }
    case 'ppo-clip':
    case 'cispo': {
      if (objective.kind === 'ppo-clip' && objective.dual !== undefined) return undefined
      const config = {
        clip_low_threshold: 1 - objective.low,
        clip_high_threshold: 1 + objective.high,
      }
      return { name: objective.kind === 'cispo' ? 'cispo' : 'ppo', config }
    }
    default:
      return undefined
  }
}

const scaled = (values: Float32Array, by: number): Float32Array => values.map((value) => by * value)

/** A segment for a loss of the wire: the normaliser's multiplier goes into weights or advantages. */
function wireDatum(segment: TokenSegment, weight: number, { name }: WireLoss): Datum {
  const advantages = scaled(segment.advantages, weight)
  if (name === 'cross_entropy') return datum(segment, { weights: advantages })
  return datum(segment, { advantages, logprobs: segment.oldLogprobs ?? segment.logprobs })
}

/** The batch for the sidecar's own loss. */
export const native = ({ segments, normaliser, loss }: TrainBatch): Routed => ({
  data: segments.map((segment, s) => lossDatum(segment, normaliser.perSegment[s]!)),
  loss: nativeLoss(loss),
})

/** The batch for a loss of the wire. @throws RangeError for segments drawn at another temperature than 1 */
export async function overWire(
  batch: TrainBatch,
  logprobs: () => Promise<readonly Float32Array[]>,
): Promise<Routed> {
  const { segments, normaliser, loss } = batch
  assertWarm(segments)
  const own = loss.kl || loss.correction ? undefined : sameLoss(loss)
  const sent = own ? batch : linearise(batch, await logprobs())
  const route = own ?? { name: 'importance_sampling' }
  return {
    data: sent.segments.map((segment, s) => wireDatum(segment, normaliser.perSegment[s]!, route)),
    loss: route,
  }
}

/** The wire's passes know no temperature. */
function assertWarm(segments: readonly TokenSegment[]): void {
  const other = segments.find(({ temperature }) => temperature !== 1)
  if (other)
    throw new RangeError(
      `segment of rollout ${other.rolloutId}: expected temperature 1, which is all that a Tinker server without extensions trains at, got ${other.temperature}`,
    )
}

/** log p of every drawn token under the weights of this moment. */
export async function currentLogprobs(
  model: TrainingModel,
  segments: readonly TokenSegment[],
  extended: boolean,
): Promise<readonly Float32Array[]> {
  if (!extended) assertWarm(segments)
  const data = segments.map((segment) => {
    const weights = masked(segment, 1)
    return extended
      ? ownDatum(segment, { weights, logprobs: segment.logprobs, advantages: weights })
      : datum(segment, { weights })
  })
  const loss = extended
    ? { name: 'bedside', extension: true, config: { kind: 'policy-gradient' } }
    : { name: 'cross_entropy' }
  return rowsOf(segments, await model.forward(data, loss), 'logprobs')
}
