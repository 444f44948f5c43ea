import { describe, expect, test } from 'vitest'
import { makeNormaliser, normaliserKinds } from '../../../src/batch.js'
import type { BatchLossOptions, LossBatch } from '../../../src/trainers/losses/batch-loss.js'
import { batchLoss } from '../../../src/trainers/losses/batch-loss.js'
import { segmentLoss } from '../../../src/trainers/losses/policy.js'
import { stepReport } from '../../../src/trainers/losses/step-report.js'
import { fc } from '../../fixtures/property.js'
import type { Drawn } from '../../fixtures/segments.js'
import { anyLoss, drawnSegments } from '../../fixtures/segments.js'

const clip = { kind: 'ppo-clip', low: 0.2, high: 0.28 } as const
const options: BatchLossOptions = { loss: clip, normaliser: 'token-mean' }

/** Segments as plain arrays. */
const plain = (drawn: readonly Drawn[]): LossBatch => ({
  logprobs: drawn.map(({ logprobs }) => [...logprobs]),
  oldLogprobs: drawn.map(({ segment }) => [...(segment.oldLogprobs ?? [])]),
  samplerLogprobs: drawn.map(({ segment }) => [...segment.logprobs]),
  refLogprobs: drawn.map(({ segment }) => [...(segment.refLogprobs ?? [])]),
  advantages: drawn.map(({ segment }) => [...segment.advantages]),
  mask: drawn.map(({ segment }) => [...segment.mask]),
  rollouts: drawn.map(({ segment }) => segment.rolloutId),
})

describe('by hand', () => {
  test('PPO of two sequences, one clipped token and one that was read', () => {
    const made = batchLoss(
      {
        logprobs: [
          [Math.log(0.6), Math.log(0.5), -9],
          [Math.log(0.3), Math.log(0.2)],
        ],
        oldLogprobs: [
          [Math.log(0.4), Math.log(0.5), Number.NaN],
          [Math.log(0.3), Math.log(0.4)],
        ],
        advantages: [1, [-2, -2]],
        mask: [
          [1, 1, 0],
          [1, 1],
        ],
      },
      options,
    )
    // -1.28 (clipped), -1, 2, and 1.6: clipped from below at ratio .5.
    expect(made.loss).toBeCloseTo((-1.28 - 1 + 2 + 1.6) / 4, 12)
    expect(made.gradients.map((row) => row.map((slope) => Number(slope.toFixed(12)) + 0))).toEqual([
      [0, -0.25, 0],
      [0.5, 0],
    ])
    expect(made).toMatchObject({ tokens: 4, clipFraction: 0.5, droppedFraction: 0, entropy: null })
    expect(made.ratio.max).toBeCloseTo(1.5, 12)
    expect(made).not.toHaveProperty('policyVersion')
  })

  test('on-policy by default: every ratio is 1, and the gradient is -A over tokens', () => {
    const made = batchLoss({ logprobs: [[-1, -2], [-3]], advantages: [2, -1] }, options)
    expect(made.loss).toBeCloseTo((-2 - 2 + 1) / 3, 12)
    expect(made.gradients.flat().map((slope) => slope * 3)).toEqual([-2, -2, 1])
    expect(made).toMatchObject({ ratio: { mean: 1, max: 1 }, kl: 0, ess: 1, clipFraction: 0 })
  })

  test('an entropy bonus is in the loss and not in the gradient', () => {
    const batch = { logprobs: [[-1, -1]], advantages: [1], entropies: [[0.5, 1.5]] }
    const made = batchLoss(batch, { ...options, loss: { ...clip, entropy: 0.1 } })
    expect(made.loss).toBeCloseTo(-1 - 0.1, 12)
    expect(made.entropy).toBe(1)
    expect(made.gradients).toEqual(batchLoss(batch, options).gradients)
  })

  test('the multipliers of rows may be anything', () => {
    const batch = { logprobs: [[-1], [-1]], advantages: [1, 1] }
    const made = batchLoss(batch, { loss: clip, normaliser: [0.25, 4] })
    expect(made.loss).toBe(-4.25)
    expect(made.gradients).toEqual([[-0.25], [-4]])
  })

  test('clipFraction counts no token of advantage 0', () => {
    const far = { logprobs: [[0, 0, 0, 0]], oldLogprobs: [[-2, -2, -2, -2]] }
    const share = (loss: BatchLossOptions['loss'], advantages: readonly number[]) =>
      batchLoss({ ...far, advantages: [advantages] }, { ...options, loss }).clipFraction
    for (const kind of ['ppo-clip', 'cispo', 'gspo'] as const) {
      expect(share({ ...clip, kind }, [1, 1, 1, 1])).toBe(1)
      expect(share({ ...clip, kind }, [1, 0, 0, 0])).toBe(0.25)
      expect(share({ ...clip, kind }, [0, 0, 0, 0])).toBe(0)
    }
  })
})

test('is what every backend computes, for every loss and normaliser', () => {
  fc.assert(
    fc.property(
      anyLoss,
      drawnSegments(),
      fc.constantFrom(...normaliserKinds),
      (loss, drawn, normaliser) => {
        const segments = drawn.map(({ segment }) => segment)
        const { perSegment } = makeNormaliser(normaliser, segments, { maxTokens: 12 })
        const sums = stepReport(loss, 0)
        const slopes = drawn.map((read, s) => sums.add({ ...read, weight: perSegment[s]! }))
        const { policyVersion: _, gradNorm: __, logprobGap: ___, ...report } = sums.report(0, 0)
        const made = batchLoss(plain(drawn), { loss, normaliser, maxTokens: 12 })
        expect(made).toEqual({
          ...report,
          entropy: null,
          gradients: slopes.map((row) => [...row]),
        })
        const total = drawn.reduce((sum, { segment, logprobs }, s) => {
          const { values } = segmentLoss(loss, segment, logprobs)
          return sum + perSegment[s]! * values.reduce((a, b) => a + b, 0)
        }, 0)
        expect(Math.abs(made.loss - total)).toBeLessThan(1e-9 * (1 + Math.abs(total)))
      },
    ),
  )
})

test('its gradients are the derivatives of its loss', () => {
  fc.assert(
    fc.property(drawnSegments(3), fc.constantFrom(...normaliserKinds), (drawn, normaliser) => {
      const kl = { estimator: 'k3', coefficient: 0.2 } as const
      const smooth = {
        loss: { kind: 'importance-sampling', kl },
        normaliser,
        maxTokens: 9,
      } as const
      const batch = plain(drawn)
      const { gradients } = batchLoss(batch, smooth)
      const moved = (r: number, t: number, by: number) =>
        batchLoss(
          {
            ...batch,
            logprobs: batch.logprobs.map((row, i) =>
              Array.from(row, (value, j) => (i === r && j === t ? value + by : value)),
            ),
          },
          smooth,
        ).loss
      gradients.forEach((row, r) => {
        row.forEach((slope, t) => {
          const numeric = (moved(r, t, 1e-6) - moved(r, t, -1e-6)) / 2e-6
          expect(Math.abs(numeric - slope)).toBeLessThan(1e-5 * (1 + Math.abs(slope)))
        })
      })
    }),
    { numRuns: 40 },
  )
})

describe('refuses with the field, the place and the value', () => {
  const batch: LossBatch = {
    logprobs: [
      [-1, -2],
      [-3, -4],
    ],
    advantages: [1, -1],
  }
  const refused = (over: object, by: object = {}) => {
    try {
      // Whatever a caller without types could write.
      batchLoss({ ...batch, ...over } as LossBatch, { ...options, ...by } as BatchLossOptions)
    } catch (error) {
      return String(error)
    }
    return 'nothing'
  }

  test.each([
    [{ oldLogprobs: [[-1, -1]] }, 'Expected `oldLogprobs` of 2 rows, got 1'],
    [{ oldLogprobs: [[-1], [-1, -1]] }, 'Expected `oldLogprobs[0]` of length 2, got 1'],
    [{ advantages: [1] }, 'Expected `advantages` of 2 rows, got 1'],
    [
      { advantages: [1, Number.NaN] },
      'Expected `advantages[1]` to be finite where drawn, got `NaN` at token 0',
    ],
    [
      {
        logprobs: [
          [-1, Number.NEGATIVE_INFINITY],
          [-1, -1],
        ],
      },
      'Expected `logprobs[0]` to be finite where drawn, got `-Infinity` at token 1',
    ],
    [
      {
        mask: [
          [1, 2],
          [1, 1],
        ],
      },
      'Expected `mask[0]` to be 0 or 1, got `2` at token 1',
    ],
    [{ mask: [[1, 1]] }, 'Expected `mask` of 2 rows, got 1'],
    [
      {
        mask: [
          [0, 0],
          [0, 0],
        ],
      },
      'Expected a batch with drawn tokens, got none',
    ],
    [{ rollouts: ['a'] }, 'Expected `rollouts` of 2 rows, got 1'],
  ])('%j', (over, message) => {
    expect(refused(over)).toBe(`RangeError: ${message}`)
  })

  test.each([
    [{ loss: { kind: 'dpo' } }, /`loss\.kind` to be policy-gradient, .*, got `dpo`$/],
    [{ loss: { ...clip, low: -0.1 } }, /`loss\.low` to be at least 0, got `-0.1`$/],
    [{ loss: { ...clip, high: Number.NaN } }, /`loss\.high` to be at least 0, got `NaN`$/],
    [{ loss: { kind: 'gspo', low: 0.1 } }, /`loss\.high` to be at least 0, got `undefined`$/],
    [{ loss: { ...clip, dual: 1 } }, /`loss\.dual` to be finite and above 1, got `1`$/],
    [{ loss: { kind: 'sapo', tauPositive: 0, tauNegative: 1 } }, /`loss\.tauPositive` .* got `0`$/],
    [{ loss: { ...clip, entropy: -1 } }, /`loss\.entropy` to be at least 0, got `-1`$/],
    [{ loss: { ...clip, entropy: 1 } }, /`entropies`, which this loss needs, got `undefined`$/],
    [
      { loss: { ...clip, kl: { estimator: 'k4', coefficient: 1 } } },
      /`loss\.kl\.estimator` to be k1, k2, k3, got `k4`$/,
    ],
    [
      { loss: { ...clip, kl: { estimator: 'k1', coefficient: 1 } } },
      /`refLogprobs`, which this loss needs, got `undefined`$/,
    ],
    [
      { loss: { ...clip, correction: { level: 'token', mode: 'truncate', max: 2 } } },
      /`samplerLogprobs`, which this loss needs, got `undefined`$/,
    ],
    [
      { loss: { ...clip, correction: { level: 'token', mode: 'mask', min: 2, max: 1 } } },
      /`loss\.correction\.max` to be at least 2, got `1`$/,
    ],
    [{ normaliser: 'mean' }, /`normaliser` to be token-mean, .*, got `mean`$/],
    [{ normaliser: [1] }, /`normaliser` of 2 finite numbers, got `1`$/],
    [{ normaliser: [1, Number.NaN] }, /`normaliser` of 2 finite numbers, got `NaN`$/],
    [{ normaliser: 'dr-grpo' }, /`maxTokens` to be a positive number, got `undefined`$/],
  ])('%j', (by, message) => {
    expect(refused({}, by)).toMatch(/^RangeError: Expected /)
    expect(refused({}, by)).toMatch(message)
  })

  test('and takes bounds that are none', () => {
    for (const high of [Number.POSITIVE_INFINITY, -0.8])
      expect(refused({}, { loss: { kind: 'cispo', low: 1, high } })).toBe('nothing')
    expect(refused({}, { loss: { kind: 'cispo', low: 0.5, high: -0.1 } })).toContain('got `-0.1`')
  })
})
