import { expect, test } from 'vitest'
import type { Loss, TrainBatch } from '../../../src/batch.js'
import { makeNormaliser } from '../../../src/batch.js'
import { linearise } from '../../../src/trainers/losses/linearise.js'
import { segmentLoss } from '../../../src/trainers/losses/policy.js'
import { fc } from '../../fixtures/property.js'
import type { Drawn } from '../../fixtures/segments.js'
import { anyLoss, drawnSegments } from '../../fixtures/segments.js'

const batchOf = (drawn: readonly Drawn[], loss: Loss): TrainBatch => {
  const segments = drawn.map(({ segment }) => segment)
  const normaliser = makeNormaliser('token-mean', segments)
  return { step: 1, policyVersion: 0, segments, normaliser, loss, adam: { learningRate: 1 } }
}

test('the importance-sampling gradient of a linearised batch is that of the batch', () => {
  fc.assert(
    fc.property(anyLoss, drawnSegments(), (loss, drawn) => {
      const batch = batchOf(drawn, loss)
      // As a server would compute them: in single precision.
      const now = drawn.map(({ logprobs }) => Float32Array.from(logprobs))
      const linear = linearise(batch, now)
      expect(linear.loss).toEqual({ kind: 'importance-sampling', entropy: 0 })
      expect(linear.normaliser).toBe(batch.normaliser)
      batch.segments.forEach((segment, s) => {
        const wanted = segmentLoss(loss, segment, now[s]!).slopes
        const got = segmentLoss(linear.loss, linear.segments[s]!, now[s]!).slopes
        got.forEach((slope, t) => {
          expect(Math.abs(slope - wanted[t]!)).toBeLessThan(1e-6 * (1 + Math.abs(wanted[t]!)))
        })
      })
    }),
  )
})

test('refuses an entropy bonus, and log-probs of another number of segments', () => {
  const drawn = fc.sample(drawnSegments(2), { numRuns: 1, seed: 3 })[0]!
  const batch = batchOf(drawn, { kind: 'ppo-clip', low: 0.2, high: 0.2, entropy: 0.01 })
  const logprobs = drawn.map((one) => one.logprobs)
  expect(() => linearise(batch, logprobs)).toThrow(/entropy 0/)
  const plain = { ...batch, loss: { ...batch.loss, entropy: 0 } }
  expect(() => linearise(plain, logprobs.slice(1))).toThrow(RangeError)
})
