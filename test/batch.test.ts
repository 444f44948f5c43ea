import { describe, expect, test } from 'vitest'
import type { TokenSegment, TrainBatch } from '../src/batch.js'
import { assertBatch, countDrawnTokens, makeNormaliser, normaliserKinds } from '../src/batch.js'
import { fc } from './fixtures/property.js'

/** A segment whose mask is given, after a prompt of two tokens. */
function segment(mask: readonly number[], rolloutId = 'r1'): TokenSegment {
  const drawn = Uint8Array.from(mask)
  return {
    rolloutId,
    groupId: 'g1',
    tokens: new Int32Array(2 + mask.length),
    promptLength: 2,
    mask: drawn,
    logprobs: Float32Array.from(drawn, (m) => (m ? -1 : 0)),
    advantages: Float32Array.from(drawn, (m) => (m ? 0.5 : 0)),
    policyVersions: Int32Array.from(drawn, (m) => (m ? 3 : -1)),
    temperature: 1,
    logprobMode: 'scaled',
    stopReason: 'stop',
  }
}

/** Segments of up to four rollouts, each with at least one drawn token. */
const segments = fc.array(
  fc
    .tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 6 }),
    )
    .map(([rollout, mask]) => segment([...mask, 1], `r${rollout}`)),
  { minLength: 1, maxLength: 12 },
)

const total = (perSegment: Float64Array, list: readonly TokenSegment[]): number =>
  list.reduce((sum, each, i) => sum + (perSegment[i] ?? Number.NaN) * countDrawnTokens(each), 0)

test('drawnTokens counts what the policy drew', () => {
  expect([segment([1, 0, 0, 1, 1]), segment([]), segment([0])].map(countDrawnTokens)).toEqual([
    3, 0, 0,
  ])
})

describe('normalise', () => {
  const list = [segment([1, 1, 0], 'a'), segment([1], 'a'), segment([1, 0], 'b')]

  test('token-mean divides by all drawn tokens', () => {
    expect([...makeNormaliser('token-mean', list).perSegment]).toEqual([1 / 4, 1 / 4, 1 / 4])
  })

  test('rollout-mean averages within a rollout, over all its segments, then over rollouts', () => {
    expect([...makeNormaliser('rollout-mean', list).perSegment]).toEqual([1 / 6, 1 / 6, 1 / 2])
  })

  test('dr-grpo divides by rollouts times a fixed number of tokens', () => {
    const { kind, perSegment } = makeNormaliser('dr-grpo', list, { maxTokens: 10 })
    expect([kind, [...perSegment]]).toEqual(['dr-grpo', [1 / 20, 1 / 20, 1 / 20]])
  })

  test('sum divides by nothing', () => {
    expect([...makeNormaliser('sum', list).perSegment]).toEqual([1, 1, 1])
  })

  test('the means weigh all drawn tokens to 1, whatever the batch', () => {
    fc.assert(
      fc.property(segments, (drawn) => {
        for (const kind of ['token-mean', 'rollout-mean'] as const)
          expect(total(makeNormaliser(kind, drawn).perSegment, drawn)).toBeCloseTo(1, 12)
      }),
    )
  })

  test('rollout-mean gives every rollout the same weight, however long it is', () => {
    fc.assert(
      fc.property(segments, (drawn) => {
        const { perSegment } = makeNormaliser('rollout-mean', drawn)
        const byRollout = new Map<string, number>()
        drawn.forEach((each, i) => {
          const weight = (perSegment[i] ?? Number.NaN) * countDrawnTokens(each)
          byRollout.set(each.rolloutId, (byRollout.get(each.rolloutId) ?? 0) + weight)
        })
        for (const weight of byRollout.values()) expect(weight).toBeCloseTo(1 / byRollout.size, 12)
      }),
    )
  })

  test('dr-grpo weighs a token the same in a long and a short rollout', () => {
    fc.assert(
      fc.property(segments, (drawn) => {
        const { perSegment } = makeNormaliser('dr-grpo', drawn, { maxTokens: 50 })
        const rollouts = new Set(drawn.map(({ rolloutId }) => rolloutId)).size
        for (const weight of perSegment) expect(weight).toBeCloseTo(1 / (50 * rollouts), 12)
      }),
    )
  })

  test('a segment without drawn tokens weighs 0 rather than NaN', () => {
    const empty = [segment([0, 0], 'a')]
    for (const kind of ['token-mean', 'rollout-mean'] as const)
      expect([...makeNormaliser(kind, empty).perSegment]).toEqual([0])
  })

  for (const options of [{}, { maxTokens: 0 }, { maxTokens: Number.NaN }])
    test(`dr-grpo refuses ${JSON.stringify(options)}`, () => {
      expect(() => makeNormaliser('dr-grpo', list, options)).toThrow(
        new RangeError(
          `Expected \`maxTokens\` to be a positive number, got \`${options.maxTokens}\``,
        ),
      )
    })

  test('every kind there is makes one multiplier per segment', () => {
    for (const kind of normaliserKinds)
      expect(makeNormaliser(kind, list, { maxTokens: 5 }).perSegment).toHaveLength(3)
  })
})

describe('assertBatch', () => {
  const batch = (list: readonly TokenSegment[]): TrainBatch => ({
    step: 1,
    policyVersion: 3,
    segments: list,
    normaliser: makeNormaliser('token-mean', list),
    loss: { kind: 'policy-gradient', entropy: 0 },
    adam: { learningRate: 0.1 },
  })
  const good = segment([1, 0, 1], 'ep-1')

  test('lets a whole batch pass', () => {
    expect(() => assertBatch(batch([good, segment([1], 'ep-2')]))).not.toThrow()
  })

  const refuses = (what: string, broken: TrainBatch, message: string) =>
    test(`refuses ${what}`, () => {
      expect(() => assertBatch(broken)).toThrow(new RangeError(message))
    })

  refuses('a batch without segments', batch([]), 'Expected a batch with segments, got none')
  refuses(
    'a normaliser of other segments',
    { ...batch([good]), normaliser: { kind: 'sum', perSegment: new Float64Array(2) } },
    'Expected one normaliser per segment (1), got 2',
  )
  refuses(
    'a normaliser of NaN',
    { ...batch([good]), normaliser: { kind: 'sum', perSegment: Float64Array.of(Number.NaN) } },
    'Expected finite normalisers, got NaN for segments[0]',
  )
  refuses(
    'a segment without a prompt',
    batch([{ ...good, promptLength: 0 }]),
    'segments[0] of rollout ep-1: expected promptLength >= 1, got 0',
  )
  for (const field of ['mask', 'logprobs', 'advantages', 'policyVersions'] as const)
    refuses(
      `${field} of another length, by segment and field`,
      batch([segment([1], 'ep-0'), { ...good, [field]: good[field].slice(1) }]),
      `segments[1] of rollout ep-1: expected ${field} of length 3, got 2`,
    )
  refuses(
    'an old log-prob too few, by segment and field',
    batch([{ ...good, oldLogprobs: good.logprobs.slice(1) }]),
    'segments[0] of rollout ep-1: expected oldLogprobs of length 3, got 2',
  )
  refuses(
    'a KL penalty without a reference',
    {
      ...batch([good]),
      loss: {
        kind: 'policy-gradient',
        entropy: 0,
        kl: { estimator: 'k3', coefficient: 0.1 },
      },
    },
    'segments[0] of rollout ep-1: expected refLogprobs for a loss with a KL penalty, got none',
  )
  refuses(
    'a token drawn by weights older than the bound',
    { ...batch([good]), policyVersion: 9, maxStaleness: 2 },
    'segments[0] of rollout ep-1: expected policyVersions from 7 to 9, got 3 at token 0',
  )
  refuses(
    'a token drawn by weights that are yet to come',
    { ...batch([good]), policyVersion: 2, maxStaleness: 2 },
    'segments[0] of rollout ep-1: expected policyVersions from 0 to 2, got 3 at token 0',
  )
  refuses(
    'an advantage of NaN, by token',
    batch([{ ...good, advantages: Float32Array.of(0.5, 0, Number.NaN) }]),
    'segments[0] of rollout ep-1: expected finite advantages, got NaN at token 2',
  )
  refuses(
    'a log-prob of -Infinity, by token',
    batch([{ ...good, logprobs: Float32Array.of(Number.NEGATIVE_INFINITY, 0, -1) }]),
    'segments[0] of rollout ep-1: expected finite logprobs, got -Infinity at token 0',
  )
})
