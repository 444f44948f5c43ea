import { describe, expect, test } from 'vitest'
import type { Loss, Objective } from '../../../src/batch.js'
import { valueLoss } from '../../../src/trainers/losses/critic-targets.js'
import { icepop, mis, tis } from '../../../src/trainers/losses/importance-correction.js'
import { klEstimate, segmentLoss, tokenLoss } from '../../../src/trainers/losses/policy.js'
import { fc } from '../../fixtures/property.js'
import { anyLoss, drawnSegments, objectives } from '../../fixtures/segments.js'

const clip: Objective = { kind: 'ppo-clip', low: 0.2, high: 0.28 }

describe('ppo-clip', () => {
  test.each([
    // advantage, ratio → value, slope
    [1, 1, -1, -1],
    [1, 1.2, -1.2, -1.2],
    [1, 1.5, -1.28, 0],
    [1, 0.5, -0.5, -0.5],
    [-1, 0.5, 0.8, 0],
    [-1, 1.5, 1.5, 1.5],
  ])('advantage %d at ratio %d costs %d with slope %d', (advantage, ratio, value, slope) => {
    const loss = tokenLoss(clip, Math.log(ratio), ratio, advantage)
    expect(loss.value).toBeCloseTo(value, 12)
    expect(loss.slope).toBeCloseTo(slope, 12)
    expect(loss.clipped).toBe(slope === 0)
  })

  test('with a dual bound a bad token costs at most that much', () => {
    const dual: Objective = { ...clip, dual: 3 }
    expect(tokenLoss(dual, 0, 5, -1)).toEqual({ value: 3, slope: 0, clipped: true })
    expect(tokenLoss(dual, 0, 2.9, -1).slope).toBeCloseTo(2.9, 12)
    expect(tokenLoss(dual, 0, 5, 1).value).toBeCloseTo(-1.28, 12)
  })
})

test('a token of advantage 0 is never clipped, whatever its ratio', () => {
  for (const objective of objectives)
    for (const ratio of [0.01, 1, 1.5, 100])
      expect(tokenLoss(objective, Math.log(ratio), ratio, 0).clipped, objective.kind).toBe(false)
  expect(tokenLoss(clip, Math.log(1.5), 1.5, 1e-9).clipped).toBe(true)
})

test('an objective of unknown kind is refused by its name', () => {
  const unknown = { kind: 'dpo' } as unknown as Objective // as one who writes JavaScript could
  expect(() => tokenLoss(unknown, 0, 1, 1)).toThrow(
    /^Expected a loss of kind policy-gradient, .*, sapo, got `dpo`$/,
  )
})

describe('the other objectives at ratio 1.5', () => {
  const at = (objective: Objective, advantage: number) => tokenLoss(objective, -2, 1.5, advantage)
  test.each([
    [{ kind: 'policy-gradient' }, 2, -1],
    [{ kind: 'cross-entropy' }, 2, -1],
    [{ kind: 'importance-sampling' }, -1.5, -1.5],
    // The gradient of a clipped token is held back, not cut off.
    [{ kind: 'cispo', low: 0.2, high: 0.28 }, 2.56, -1.28],
    [{ kind: 'gspo', low: 0.2, high: 0.28 }, -1.28, 0],
  ] as const)('%o', (objective, value, slope) => {
    expect(at(objective, 1).value).toBeCloseTo(value, 12)
    expect(at(objective, 1).slope).toBeCloseTo(slope, 12)
  })

  test('sapo fades with the distance from 1, faster for bad tokens', () => {
    const sapo: Objective = { kind: 'sapo', tauPositive: 1, tauNegative: 2 }
    const gate = 1 / (1 + Math.exp(-0.5))
    expect(at(sapo, 1).value).toBeCloseTo(-4 * gate, 12)
    expect(at(sapo, 1).slope).toBeCloseTo(-4 * gate * (1 - gate) * 1.5, 12)
    expect(tokenLoss(sapo, 0, 1, 1).slope).toBeCloseTo(-1, 12)
    expect(Math.abs(at(sapo, -1).slope)).toBeLessThan(Math.abs(at(sapo, 1).slope))
    expect(Number.isFinite(tokenLoss(sapo, 0, 1e300, -1).value)).toBe(true)
  })
})

test('the estimates of KL agree to the second order, and only k1 is ever below 0', () => {
  for (const estimator of ['k1', 'k2', 'k3'] as const)
    expect(klEstimate(estimator, 0)).toEqual({ value: 0, slope: estimator === 'k1' ? 1 : 0 })
  expect(klEstimate('k3', 0.01).value).toBeCloseTo(klEstimate('k2', 0.01).value, 6)
  expect(klEstimate('k1', -1).value).toBe(-1)
  expect(klEstimate('k2', -1).value).toBe(0.5)
  expect(klEstimate('k3', -1).value).toBeCloseTo(Math.E - 2, 12)
})

describe('an importance correction', () => {
  const first = fc.sample(drawnSegments(1), { numRuns: 1, seed: 7 })[0]![0]!
  const off = (rho: number) => ({
    ...first.segment,
    mask: Uint8Array.of(1, 0, 1),
    tokens: Int32Array.of(0, 1, 2, 3),
    promptLength: 1,
    logprobs: Float32Array.of(-1, 0, -1),
    oldLogprobs: Float32Array.of(-1 + Math.log(rho), 0, -1 + Math.log(rho)),
    advantages: Float32Array.of(1, 0, 1),
    policyVersions: Int32Array.of(0, -1, 0),
  })
  const weightsAt = (correction: Loss['correction'], rho: number) =>
    [
      ...segmentLoss(
        { kind: 'importance-sampling', entropy: 0, ...(correction ? { correction } : {}) },
        off(rho),
        Float64Array.of(-1, 0, -1),
      ).weights,
    ].map((weight) => Number(weight.toFixed(5)))

  test.each([
    ['none', undefined, 4, [1, 0, 1]],
    ['token TIS', tis('token'), 4, [2, 0, 2]],
    ['token TIS inside', tis('token'), 1.5, [1.5, 0, 1.5]],
    ['sequence TIS multiplies', tis('sequence', { max: 10 }), 2, [4, 0, 4]],
    ['sequence MIS leaves out', mis('sequence'), 2, [0, 0, 0]],
    ['token MIS keeps', mis('token'), 2, [2, 0, 2]],
    ['IcePop above', icepop(), 6, [0, 0, 0]],
    ['IcePop below', icepop(), 0.4, [0, 0, 0]],
    ['IcePop inside', icepop(), 0.6, [0.6, 0, 0.6]],
  ] as const)('%s', (_, correction, rho, weights) => {
    expect(weightsAt(correction, rho)).toEqual(weights)
  })

  test('leaves out a token whose ratio is no number without becoming one', () => {
    const { values, slopes } = segmentLoss(
      { kind: 'importance-sampling', entropy: 0, correction: mis('token') },
      { ...off(10), oldLogprobs: Float32Array.of(400, 0, 400) },
      Float64Array.of(2000, 0, 2000),
    )
    expect([...values, ...slopes]).toEqual([0, 0, 0, 0, 0, 0])
  })
})

/** The sum of a segment's values, the objective's constants being held where the gradient holds them. */
const total = (loss: Loss, drawn: Parameters<typeof segmentLoss>[1], logprobs: Float64Array) =>
  segmentLoss(loss, drawn, logprobs).values.reduce((sum, value) => sum + value, 0)

test('the slopes are the derivatives of the values by the log-probs', () => {
  fc.assert(
    fc.property(anyLoss, drawnSegments(1), (loss, [drawn]) => {
      // The value of cispo holds a factor that its gradient takes for a constant; so does that of gspo, where
      // tokens weigh differently.
      fc.pre(loss.kind !== 'cispo')
      fc.pre(loss.kind !== 'gspo' || loss.correction?.level !== 'token')
      const { segment, logprobs } = drawn!
      const at = segmentLoss(loss, segment, logprobs)
      segment.mask.forEach((on, t) => {
        if (on === 0) {
          expect(at.slopes[t]).toBe(0)
          return
        }
        const moved = (by: number) => logprobs.map((value, i) => (i === t ? value + by : value))
        const [above, below] = [moved(1e-6), moved(-1e-6)]
        const kinks = [above, below].some(
          (one) => segmentLoss(loss, segment, one).clipped.join() !== at.clipped.join(),
        )
        if (kinks) return
        const slope = (total(loss, segment, above) - total(loss, segment, below)) / 2e-6
        expect(Math.abs(slope - at.slopes[t]!)).toBeLessThan(1e-4 * (1 + Math.abs(slope)))
      })
    }),
    { numRuns: 300 },
  )
})

test('what is masked is not read', () => {
  fc.assert(
    fc.property(anyLoss, drawnSegments(1), (loss, [drawn]) => {
      const { segment, logprobs } = drawn!
      const hidden = logprobs.map((value, t) => (segment.mask[t] === 1 ? value : Number.NaN))
      expect(segmentLoss(loss, segment, hidden)).toEqual(segmentLoss(loss, segment, logprobs))
    }),
  )
})

test('refuses log-probs of another length, and a penalty without a reference', () => {
  const [drawn] = fc.sample(drawnSegments(1), { numRuns: 1, seed: 1 })[0]!
  const { segment, logprobs } = drawn!
  const loss: Loss = { kind: 'policy-gradient', entropy: 0 }
  expect(() => segmentLoss(loss, segment, logprobs.subarray(1))).toThrow(RangeError)
  const { refLogprobs: _, ...without } = segment
  const kl = { estimator: 'k3', coefficient: 1 } as const
  expect(() => segmentLoss({ ...loss, kl }, without, logprobs)).toThrow(/refLogprobs/)
})

describe('the value loss', () => {
  test('is half the squared error', () => {
    expect(valueLoss(3, 1, 0)).toEqual({ value: 2, slope: 2, clipped: false })
  })

  test.each([
    // prediction, target, old → value, slope, with range 0.5
    [0.3, 1, 0, 0.245, -0.7],
    [0.9, 1, 0, 0.125, 0],
    [-0.9, 1, 0, 1.805, -1.9],
    [2, 1, 0, 0.5, 1],
  ])('%d for %d, judged by %d, costs %d with slope %d', (prediction, target, old, value, slope) => {
    const loss = valueLoss(prediction, target, old, { range: 0.5 })
    expect(loss.value).toBeCloseTo(value, 12)
    expect(loss.slope).toBeCloseTo(slope, 12)
  })
})
