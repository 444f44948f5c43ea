import { expect, test } from 'vitest'
import { lossTerms } from '../../../src/backend.js'
import type { Loss, TokenSegment, TrainBatch } from '../../../src/batch.js'
import { makeNormaliser, normaliserKinds } from '../../../src/batch.js'
import { linearise } from '../../../src/trainers/losses/linearise.js'
import { segmentLoss } from '../../../src/trainers/losses/policy.js'
import {
  encodeNativeBatch,
  encodeNativeLoss,
  outputRows,
} from '../../../src/trainers/sidecar/encode-batch.js'
import { servedTerms } from '../../../src/trainers/sidecar/loss-terms.js'
import type { TrainingModel } from '../../../src/trainers/tinker/wire.js'
import { fc } from '../../fixtures/property.js'
import { describeWithPython } from '../../fixtures/python.js'
import type { Drawn } from '../../fixtures/segments.js'
import { drawnSegments, losses } from '../../fixtures/segments.js'
import { served } from '../../fixtures/sidecar-server.js'

const batches = fc.sample(drawnSegments(4), { numRuns: losses.length, seed: 5 })

const batchOf = (loss: Loss, segments: readonly TokenSegment[], n: number): TrainBatch => ({
  step: 1,
  policyVersion: 0,
  segments,
  normaliser: makeNormaliser(normaliserKinds[n % normaliserKinds.length]!, segments, {
    maxTokens: 12,
  }),
  loss,
  adam: { learningRate: 0.01 },
})

/** log p of the drawn tokens under the model's weights. */
const read = async (model: TrainingModel, segments: readonly TokenSegment[]) => {
  const { data, loss } = encodeNativeBatch(
    batchOf({ kind: 'policy-gradient', entropy: 0 }, segments, 0),
  )
  return outputRows(segments, await model.forward(data, loss), 'logprobs')
}

/** The segments as if they had been drawn near the model: the distances of the fixture, from its own log-probs. */
async function near(model: TrainingModel, drawn: readonly Drawn[]): Promise<TokenSegment[]> {
  const segments = drawn.map(({ segment }) => segment)
  const now = await read(model, segments)
  return drawn.map(({ segment, logprobs }, s) => {
    const { mask } = segment
    const moved = (row: Float32Array | undefined) =>
      Float32Array.from(mask, (is, t) => (is ? row![t]! - logprobs[t]! + now[s]![t]! : 0))
    return {
      ...segment,
      logprobs: moved(segment.logprobs),
      oldLogprobs: moved(segment.oldLogprobs),
      refLogprobs: moved(segment.refLogprobs),
    }
  })
}

const far = (a: number, b: number) => Math.abs(a - b) / Math.max(1, Math.abs(b))

/** Every setting that our losses are sent with, and the words of those that are words. */
function settingsSent(): Readonly<Record<string, ReadonlySet<string>>> {
  const sent: Record<string, Set<string>> = {}
  const bonuses: readonly Loss[] = [
    { kind: 'policy-gradient', entropy: 0.1 },
    { kind: 'policy-gradient', entropy: 0.1, entropyOver: 'tokens' },
    { kind: 'policy-gradient', entropy: 0, offPolicyMask: { threshold: 1, behaviour: 'sampler' } },
  ]
  const normaliser = { kind: 'sum', perSegment: new Float64Array([1]), drawnTokens: 4 } as const
  for (const loss of [...losses, ...bonuses])
    for (const [key, value] of Object.entries(encodeNativeLoss(loss, normaliser).config ?? {}))
      sent[key] = new Set(sent[key]).add(typeof value === 'string' ? value : 'number')
  return sent
}

describeWithPython('gradients in the sidecar', 'sidecar', () => {
  const { service } = served('float64')

  test('its capabilities name exactly the settings and words that our losses are sent with', () => {
    const { lossSettings = {} } = service().extensions ?? {}
    const said = Object.entries(lossSettings.bedside ?? {}).map(([key, taken]) => [
      key,
      new Set([taken].flat()),
    ])
    expect(Object.fromEntries(said)).toEqual(settingsSent())
    expect(servedTerms({ lossSettings })).toEqual(lossTerms)
  })

  test('our derivatives are autograd’s, for every objective, correction and penalty', async () => {
    const model = await service().createModel({ mode: 'full', seed: 1 })
    let worst = 0
    for (const [n, loss] of losses.entries()) {
      const batch = batchOf(loss, await near(model, batches[n]!), n)
      const { segments, normaliser } = batch
      const { data, loss: sent } = encodeNativeBatch(batch)
      const output = await model.forwardBackward(data, sent)
      const [logprobs, slopes] = ['logprobs', 'slopes'].map((name) =>
        outputRows(segments, output, name),
      )
      segments.forEach((segment, s) => {
        const ours = segmentLoss(loss, segment, logprobs![s]!)
        ours.slopes.forEach((slope, t) => {
          worst = Math.max(worst, far(slopes![s]![t]!, slope * normaliser.perSegment[s]!))
        })
      })
    }
    expect(worst).toBeLessThan(1e-6)
    await model.unload()
  }, 120_000)

  test('a linearised loss has the gradient of the native one, to the last bit of what crosses the wire', async () => {
    /** Gradient norm, then the log-probs after a step on the batch: as it is, or linearised at log-probs moved a little. */
    const stepped = async (batch: TrainBatch, moved?: number): Promise<readonly number[]> => {
      const model = await service().createModel({ mode: 'full', seed: 1 })
      let sign = 1
      const nudged = (row: Float32Array) =>
        row.map((value) => {
          sign = -sign
          return value * (1 + sign * (moved ?? 0))
        })
      const route = encodeNativeBatch(
        moved === undefined
          ? batch
          : linearise(batch, (await read(model, batch.segments)).map(nudged)),
      )
      await model.forwardBackward(route.data, route.loss)
      // So large an epsilon makes Adam's step a multiple of the gradient.
      const adam = { beta1: 0, beta2: 0.9, epsilon: 1, weightDecay: 0, maxGradNorm: Infinity }
      const metrics = await model.optimStep({ learningRate: 0.05, ...adam })
      const after = await read(model, batch.segments)
      await model.unload()
      return [metrics['grad_norm:mean'] ?? Number.NaN, ...after.flatMap((row) => [...row])]
    }
    const furthest = (a: readonly number[], b: readonly number[]) =>
      Math.max(...a.map((value, i) => far(value, b[i]!)))
    // Log-probs come back in float32, whose last bit is worth 6e-8 of a number.
    const lastBit = 6e-8
    const model = await service().createModel({ mode: 'full', seed: 1 })
    for (let n = 0; n < losses.length; n += 7) {
      const batch = batchOf(losses[n]!, await near(model, batches[n]!), n)
      const linearised = await stepped(batch, 0)
      const gap = furthest(await stepped(batch), linearised)
      const rounding = furthest(await stepped(batch, lastBit), linearised)
      expect(gap, JSON.stringify(losses[n])).toBeLessThan(2 * rounding + 1e-7)
      expect(gap, JSON.stringify(losses[n])).toBeLessThan(5e-6)
    }
    await model.unload()
  }, 120_000)
})
