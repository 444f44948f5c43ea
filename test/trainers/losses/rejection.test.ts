/** verl's corrections between engines and its rejections, and what a batch is after them. */
import { describe, expect, test } from 'vitest'
import type { ImportanceCorrection } from '../../../src/batch.js'
import { makeNormaliser } from '../../../src/batch.js'
import { correctOffPolicy } from '../../../src/trainers/batches/group-batch.js'
import { batchLoss } from '../../../src/trainers/losses/batch-loss.js'
import {
  correctionWeights,
  scaleCorrection,
  tis,
} from '../../../src/trainers/losses/importance-correction.js'
import {
  type Rejection,
  rejectionMask,
  rejectOffPolicy,
} from '../../../src/trainers/losses/rejection.js'
import { golden, rowsOf } from '../../fixtures/golden.js'

type Matrix = readonly (readonly number[])[]

/** What verl's `compute_rollout_correction_and_rejection_mask` was told, and gave. */
interface CorrectionCase {
  readonly config: {
    readonly rollout_is?: 'token' | 'sequence'
    readonly rollout_is_threshold?: number | string
    readonly rollout_is_batch_normalize?: boolean
    readonly rollout_rs?: string
    readonly rollout_rs_threshold?: number | string
  }
  readonly outputs: {
    readonly response_mask: Matrix
    readonly weights?: Matrix
    readonly vanilla_token_mean: { readonly loss: number; readonly gradient: Matrix }
  }
}

const boundsOf = (text: number | string) => {
  const [low, high] = String(text).split('_').map(Number)
  return high === undefined ? { min: 0, max: low! } : { min: low!, max: high }
}

function correctionOf({ config }: CorrectionCase): ImportanceCorrection | undefined {
  const { rollout_is: level, rollout_is_threshold: threshold = 0 } = config
  if (level === undefined) return undefined
  return {
    level,
    mode: String(threshold).includes('_') ? 'mask' : 'truncate',
    ...boundsOf(threshold),
  }
}

function rejectionsOf({ config }: CorrectionCase): readonly Rejection[] {
  const { rollout_rs: named, rollout_rs_threshold: bounds } = config
  if (named === undefined) return []
  const limits = String(bounds).split(',')
  return named.split(',').map((one, n) => {
    const words = one.replace('seq_', '').split('_')
    const measure = words.pop() as Rejection['measure'] // of verl's closed list
    const over = words.pop() as Rejection['over']
    const { min, max } = boundsOf(limits[n]!)
    return { measure, over, max, ...(measure === 'k1' ? { min } : {}) }
  })
}

const near = (mine: number, theirs: number) =>
  Math.abs(mine - theirs) <= 1e-6 * Math.max(1, Math.abs(theirs))

describe("verl's corrections and rejections", () => {
  const all = golden('verl').filter(
    ({ kind, batch }) => kind === 'correction' && batch !== 'extreme',
  )

  test('are many, of every measure and reduction', () => {
    const named = all.flatMap((one) => rejectionsOf(one as unknown as CorrectionCase))
    for (const measure of ['k1', 'k2', 'k3'])
      expect(named.map((one) => one.measure)).toContain(measure)
    for (const over of ['token', 'sum', 'mean', 'max'])
      expect(named.map((one) => one.over)).toContain(over)
  })

  test.each(all.map((one) => [one.name, one] as const))('%s', (_, one) => {
    // The outputs of this kind, by the generator.
    const { config, outputs } = one as unknown as CorrectionCase
    const given = { config, outputs }
    const rows = rowsOf(one.inputs)
    const plain = correctionOf(given)
    const correction =
      plain && config.rollout_is_batch_normalize ? scaleCorrection(plain, rows) : plain
    const kept = rejectOffPolicy(rows, rejectionsOf(given))
    expect(kept.map(({ mask }) => [...mask])).toEqual(outputs.response_mask.map((row) => [...row]))
    rows.forEach((row, i) => {
      if (!outputs.weights) return
      const weights = correctionWeights(correction, row)
      row.mask.forEach((drawn, t) => {
        if (drawn) expect(near(weights[t]!, outputs.weights![i]![t]!), `row ${i}, ${t}`).toBe(true)
      })
    })
    const made = batchLoss(
      {
        logprobs: one.inputs.log_prob,
        oldLogprobs: one.inputs.old_log_prob,
        samplerLogprobs: rows.map(({ logprobs }) => logprobs),
        advantages: rows.map(({ advantages }) => advantages),
        mask: kept.map(({ mask }) => mask),
      },
      {
        loss: {
          ...{ kind: 'ppo-clip', low: 0.2, high: 0.2, dual: 3 },
          ...(correction ? { correction } : {}),
        },
        normaliser: 'token-mean',
      },
    )
    expect(near(made.loss, outputs.vanilla_token_mean.loss)).toBe(true)
    made.gradients.forEach((row, i) => {
      row.forEach((slope, t) => {
        expect(near(slope, outputs.vanilla_token_mean.gradient[i]![t]!), `${i}, ${t}`).toBe(true)
      })
    })
  })
})

const row = (apart: readonly number[]) => ({
  mask: new Uint8Array(apart.length).fill(1),
  logprobs: Float32Array.from(apart, () => -1),
  oldLogprobs: Float32Array.from(apart, (x) => -1 + x),
})

test('a rejection without the log-probs of the trainer rejects nothing, and impossible bounds are refused', () => {
  const { oldLogprobs: _, ...unknown } = row([3, 0])
  const rule = { measure: 'k2', over: 'max', max: 0.1 } as const
  expect([...rejectionMask(rule, unknown)]).toEqual([1, 1])
  expect([...rejectionMask(rule, row([3, 0]))]).toEqual([0, 0])
  expect([...rejectionMask({ ...rule, over: 'token' }, row([3, 0]))]).toEqual([0, 1])
  expect(() => rejectionMask({ ...rule, measure: 'k1' }, row([0]))).toThrow(
    /k2 or k3 for a maximum/,
  )
  expect(() => rejectionMask({ measure: 'k1', over: 'sum', min: 2, max: 1 }, row([0]))).toThrow(
    /0 <= min <= max/,
  )
})

test('the geometric level bounds the mean ratio of a segment', () => {
  const level = { level: 'geometric', mode: 'mask', max: Math.exp(0.5) } as const
  expect([...correctionWeights(level, row([0.8, 0]))]).toEqual([
    expect.closeTo(Math.exp(0.4), 6),
    expect.closeTo(Math.exp(0.4), 6),
  ])
  expect([...correctionWeights(level, row([0.8, 0.4]))]).toEqual([0, 0])
  // Of the whole product, the first is out of bounds too.
  expect([...correctionWeights({ ...level, level: 'sequence' }, row([0.8, 0]))]).toEqual([0, 0])
})

describe('a batch that is corrected', () => {
  const segment = (rolloutId: string, apart: readonly number[]) => ({
    ...row(apart),
    ...{ rolloutId, groupId: 'g', promptLength: 1, temperature: 1 },
    tokens: new Int32Array(apart.length + 1),
    advantages: Float32Array.from(apart, () => 1),
    policyVersions: Int32Array.from(apart, () => 0),
    logprobMode: 'scaled' as const,
    stopReason: 'stop' as const,
  })
  const segments = [segment('a', [0, 0]), segment('b', [2, 2])]
  const batch = {
    ...{ step: 1, policyVersion: 0, segments, adam: { learningRate: 1 } },
    normaliser: makeNormaliser('token-mean', segments),
    loss: { kind: 'policy-gradient', entropy: 0, correction: tis('token', { max: 4 }) } as const,
  }
  const reject = [{ measure: 'k3', over: 'mean', max: 0.5 }] as const

  test('has a normaliser of what is left, and says what was rejected', () => {
    const { batch: left, rejected } = correctOffPolicy(batch, { reject })
    expect(left?.segments.map(({ rolloutId }) => rolloutId)).toEqual(['a'])
    expect([...(left?.normaliser.perSegment ?? [])]).toEqual([0.5])
    expect(rejected).toBe(0.5)
    const none = [{ measure: 'k1', over: 'sum', min: 9, max: 10 }] as const
    expect(correctOffPolicy(batch, { reject: none })).toEqual({ batch: undefined, rejected: 1 })
  })

  test('has weights of mean 1 where they are scaled, which needs a correction', () => {
    const { batch: made } = correctOffPolicy(batch, { scaleWeights: true })
    const weights = made!.segments.flatMap((one) => [
      ...correctionWeights(made!.loss.correction, one),
    ])
    expect(weights.reduce((sum, one) => sum + one, 0) / weights.length).toBeCloseTo(1, 9)
    expect(made?.normaliser).toBe(batch.normaliser)
    const { correction: _, ...bare } = batch.loss
    expect(() => correctOffPolicy({ ...batch, loss: bare }, { scaleWeights: true })).toThrow(
      /loss.correction/,
    )
  })
})
