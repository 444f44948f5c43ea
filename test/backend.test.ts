import { describe, expect, test } from 'vitest'
import type { Capabilities, LossTerm } from '../src/backend.js'
import { assertSteppable, lossTerms, termsOf } from '../src/backend.js'
import type { TokenSegment, TrainBatch } from '../src/batch.js'

const capabilities: Capabilities = {
  losses: ['policy-gradient'],
  normalisers: ['token-mean', 'sum'],
  entropy: false,
  exports: [],
}

const segment: TokenSegment = {
  rolloutId: 'r',
  groupId: 'g',
  tokens: Int32Array.of(5, 1),
  promptLength: 1,
  mask: Uint8Array.of(1),
  logprobs: Float32Array.of(-1),
  advantages: Float32Array.of(1),
  policyVersions: Int32Array.of(4),
  temperature: 1,
  logprobMode: 'scaled',
  stopReason: 'stop',
}

const batch = (change: Partial<TrainBatch> = {}): TrainBatch => ({
  step: 1,
  policyVersion: 4,
  segments: [segment],
  normaliser: { kind: 'sum', perSegment: Float64Array.of(1) },
  loss: { kind: 'policy-gradient', entropy: 0 },
  adam: { learningRate: 0.1 },
  ...change,
})

const plain = { kind: 'policy-gradient', entropy: 0 } as const
const bound = { level: 'token', mode: 'truncate', max: 2 } as const

/** As much of a backend as is looked at. */
const backend = { capabilities, policyVersion: 4 }

describe('assertSteppable', () => {
  test('lets pass what was declared', () => {
    expect(() => assertSteppable(backend, batch())).not.toThrow()
    const entropy = batch({ loss: { kind: 'policy-gradient', entropy: 0.01 } })
    expect(() =>
      assertSteppable({ ...backend, capabilities: { ...capabilities, entropy: true } }, entropy),
    ).not.toThrow()
  })

  test('refuses old log-probs where the trainer computes them itself', () => {
    const owner = { ...capabilities, owns: { oldWeights: false } }
    const segments = [{ ...segment, oldLogprobs: Float32Array.of(-1) }]
    expect(() => assertSteppable({ ...backend, capabilities: owner }, batch({ segments }))).toThrow(
      'Expected a batch without `oldLogprobs`',
    )
  })

  const terms: readonly [LossTerm, TrainBatch['loss']][] = [
    ['gspo-dual', { kind: 'gspo', low: 0.1, high: 0.1, dual: 3, entropy: 0 }],
    ['kl-ratio', { ...plain, kl: { estimator: 'k3', coefficient: 1, ratio: true } }],
    ['geometric-correction', { ...plain, correction: { ...bound, level: 'geometric' } }],
    ['scaled-correction', { ...plain, correction: { ...bound, scale: 2 } }],
    ['off-policy-mask', { ...plain, offPolicyMask: { threshold: 1 } }],
    ['entropy-over-tokens', { ...plain, entropy: 0.1, entropyOver: 'tokens' }],
  ]
  test.each(terms)('refuses the term %s of a loss unless it is declared', (term, loss) => {
    const all: Capabilities = {
      ...capabilities,
      ...{ losses: ['policy-gradient', 'gspo'], entropy: true, kl: true, correction: true },
      lossTerms,
    }
    const segments = [
      { ...segment, oldLogprobs: Float32Array.of(-1), refLogprobs: Float32Array.of(-1) },
    ]
    const given = batch({ loss, segments })
    expect(termsOf(loss)).toEqual([term])
    expect(() => assertSteppable({ ...backend, capabilities: all }, given)).not.toThrow()
    const less = { ...all, lossTerms: lossTerms.filter((one) => one !== term) }
    expect(() => assertSteppable({ ...backend, capabilities: less }, given)).toThrow(
      `Expected a loss without the term \`${term}\`, which this backend does not have`,
    )
  })

  const refuses = (what: string, change: Partial<TrainBatch>, message: string) =>
    test(`refuses ${what}, with what there is and what was asked for`, () => {
      expect(() => assertSteppable(backend, batch(change))).toThrow(new RangeError(message))
    })

  refuses(
    'another loss',
    { loss: { kind: 'ppo-clip', low: 0.2, high: 0.2, entropy: 0 } },
    'Expected a loss of policy-gradient, got `ppo-clip`',
  )
  refuses(
    'another normaliser',
    { normaliser: { kind: 'dr-grpo', perSegment: Float64Array.of(1) } },
    'Expected a normaliser of token-mean, sum, got `dr-grpo`',
  )
  refuses(
    'an entropy bonus',
    { loss: { kind: 'policy-gradient', entropy: 0.01 } },
    'Expected entropy 0, which is all this backend has, got 0.01',
  )
  refuses(
    'a malformed batch',
    { segments: [{ ...segment, mask: new Uint8Array(0) }] },
    'segments[0] of rollout r: expected mask of length 1, got 0',
  )
  refuses(
    'a batch of another policy version',
    { policyVersion: 5 },
    'Expected a batch for policy version 4, got one for 5',
  )
})
