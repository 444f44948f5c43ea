/**
 * Linearisation of any loss, for a server that only knows importance sampling. At the weights of the log-probs, the
 * ratio r is 1 and the gradient of -rA by log p is -A: with A = -d loss / d log p it is the desired gradient, exact for
 * one step. An entropy bonus is no function of the drawn tokens' log-probs and cannot be linearised.
 */
import { assertBatch, type TrainBatch } from '../../batch.js'
import { segmentLoss } from './policy.js'

/**
 * Makes the batch whose importance-sampling gradient at these log-probs is the gradient of `batch`, with the same
 * normaliser.
 * @param logprobs for each segment, log p of every token after the prompt under the weights being trained
 * @throws RangeError for a loss with an entropy bonus, or a wrong number of log-probs
 */
export function linearise(
  batch: TrainBatch,
  logprobs: readonly (Float64Array | Float32Array)[],
): TrainBatch {
  assertBatch(batch)
  if (batch.loss.entropy !== 0)
    throw new RangeError(
      `Expected entropy 0, which is all that can be linearised, got ${batch.loss.entropy}`,
    )
  if (logprobs.length !== batch.segments.length)
    throw new RangeError(
      `Expected log-probs of ${batch.segments.length} segments, got ${logprobs.length}`,
    )
  const segments = batch.segments.map((segment, s) => {
    const now = logprobs[s]!
    const { slopes } = segmentLoss(batch.loss, segment, now)
    const { oldLogprobs: _old, refLogprobs: _ref, ...kept } = segment
    return {
      ...kept,
      logprobs: Float32Array.from(now, (value, t) => (segment.mask[t] === 1 ? value : 0)),
      advantages: Float32Array.from(slopes, (slope) => -slope),
    }
  })
  return { ...batch, segments, loss: { kind: 'importance-sampling', entropy: 0 } }
}
