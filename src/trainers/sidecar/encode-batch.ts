/**
 * Encodes a training batch for a server. Our own sidecar has every loss natively. Any other Tinker server gets its own
 * form of the loss, or else the importance-sampling loss with the same gradient (`linearise.ts`), at the cost of one
 * more forward pass.
 */
import type { Objective, TokenSegment, TrainBatch } from '../../batch.js'
import { linearise } from '../losses/linearise.js'
import type { Datum, TrainingModel, WireLoss } from '../tinker/wire.js'
import {
  encodeDatum,
  encodeLossDatum,
  encodeNativeLoss,
  encodeSidecarDatum,
  outputRows,
  scaleMask,
} from './datum.js'

/** A batch encoded for a server: its data and the loss to run on them. */
export interface EncodedBatch {
  readonly data: readonly Datum[]
  readonly loss: WireLoss
}

/** The wire's own loss that equals the objective, if there is one. */
function equivalentLoss(objective: Objective): Pick<WireLoss, 'name' | 'config'> | undefined {
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

/** Encodes a segment for a loss of the wire; the normaliser's weight multiplies the advantages. */
function wireDatum(segment: TokenSegment, weight: number, { name }: WireLoss): Datum {
  const advantages = scaled(segment.advantages, weight)
  if (name === 'cross_entropy') return encodeDatum(segment, { weights: advantages })
  return encodeDatum(segment, { advantages, logprobs: segment.oldLogprobs ?? segment.logprobs })
}

/** Encodes a batch for our sidecar's own loss. */
export const encodeNativeBatch = ({ segments, normaliser, loss }: TrainBatch): EncodedBatch => ({
  data: segments.map((segment, s) => encodeLossDatum(segment, normaliser.perSegment[s]!)),
  loss: encodeNativeLoss(loss),
})

/** Encodes a batch for a loss of the wire. @throws RangeError for segments drawn at a temperature other than 1 */
export async function encodeWireBatch(
  batch: TrainBatch,
  logprobs: () => Promise<readonly Float32Array[]>,
): Promise<EncodedBatch> {
  const { segments, normaliser, loss } = batch
  assertUnitTemperature(segments)
  const own = loss.kl || loss.correction ? undefined : equivalentLoss(loss)
  const sent = own ? batch : linearise(batch, await logprobs())
  const route = own ?? { name: 'importance_sampling' }
  return {
    data: sent.segments.map((segment, s) => wireDatum(segment, normaliser.perSegment[s]!, route)),
    loss: route,
  }
}

/** Checks that segments were drawn at temperature 1; the wire's passes take no temperature. */
function assertUnitTemperature(segments: readonly TokenSegment[]): void {
  const other = segments.find(({ temperature }) => temperature !== 1)
  if (other)
    throw new RangeError(
      `segment of rollout ${other.rolloutId}: expected temperature 1, which is all that a Tinker server without extensions trains at, got ${other.temperature}`,
    )
}

/** Computes log p of every drawn token under the current weights. */
export async function computeLogprobs(
  model: TrainingModel,
  segments: readonly TokenSegment[],
  extended: boolean,
): Promise<readonly Float32Array[]> {
  if (!extended) assertUnitTemperature(segments)
  const data = segments.map((segment) => {
    const weights = scaleMask(segment, 1)
    return extended
      ? encodeSidecarDatum(segment, { weights, logprobs: segment.logprobs, advantages: weights })
      : encodeDatum(segment, { weights })
  })
  const loss = extended
    ? { name: 'bedside', extension: true, config: { kind: 'policy-gradient' } }
    : { name: 'cross_entropy' }
  return outputRows(segments, await model.forward(data, loss), 'logprobs')
}
