/** One batch, five ways: our own functions, the sidecar's, slime's, verl's, and the linearised loss. */
import { expect, test } from 'vitest'
import type { Loss } from '../../../src/batch.js'
import { makeNormaliser } from '../../../src/batch.js'
import { batchLoss } from '../../../src/trainers/losses/batch-loss.js'
import { linearise } from '../../../src/trainers/losses/linearise.js'
import { fc } from '../../fixtures/property.js'
import { describeWithPython } from '../../fixtures/python.js'
import { drawnSegments } from '../../fixtures/segments.js'

const kl = { estimator: 'k3', coefficient: 0.05 } as const
const losses: readonly Loss[] = [
  { kind: 'ppo-clip', low: 0.2, high: 0.28, dual: 3, entropy: 0, kl },
  { kind: 'ppo-clip', low: 0.2, high: 0.2, entropy: 0 },
  { kind: 'gspo', low: 0.03, high: 0.04, entropy: 0, kl },
  { kind: 'cispo', low: 0.2, high: 0.28, entropy: 0 },
]

interface Way {
  readonly loss: number
  readonly gradients: readonly (readonly number[])[]
}

const near = (mine: number, theirs: number) => Math.abs(mine - theirs) <= 1e-6

describeWithPython('one batch, five ways', 'verl', (run) => {
  test.each(losses.map((loss, n) => [`${loss.kind} ${n}`, loss, n] as const))(
    '%s',
    (_, loss, n) => {
      const [drawn = []] = fc.sample(drawnSegments(6), { numRuns: 1, seed: 17 + n })
      const segments = drawn.map(({ segment }) => segment)
      const now = drawn.map(({ logprobs }) => logprobs)
      const row = (of: ArrayLike<number> | undefined) => Array.from(of ?? [])
      const rows = segments.map((segment, s) => ({
        mask: row(segment.mask),
        logprobs: row(segment.logprobs),
        oldLogprobs: row(segment.oldLogprobs),
        refLogprobs: row(segment.refLogprobs),
        advantage: segment.advantages[0] ?? 0,
        now: row(now[s]),
      }))
      const ours = batchLoss(
        {
          logprobs: now,
          oldLogprobs: rows.map(({ oldLogprobs }) => oldLogprobs),
          samplerLogprobs: rows.map(({ logprobs }) => logprobs),
          refLogprobs: rows.map(({ refLogprobs }) => refLogprobs),
          advantages: rows.map(({ advantage }) => advantage),
          mask: rows.map(({ mask }) => mask),
        },
        { loss, normaliser: 'token-mean' },
      )
      // The script is our own and answers in this form.
      const theirs = run('five_ways.py', { loss, rows }) as Readonly<Record<string, Way>>
      expect(Object.keys(theirs)).toEqual(['sidecar', 'slime', 'verl'])
      for (const [name, way] of Object.entries(theirs)) {
        expect(near(way.loss, ours.loss), `${name}: ${way.loss} for ${ours.loss}`).toBe(true)
        ours.gradients.forEach((slopes, s) => {
          slopes.forEach((slope, t) => {
            const other = way.gradients[s]![t]!
            expect(near(other, slope), `${name}, ${s}, ${t}: ${other} for ${slope}`).toBe(true)
          })
        })
      }
      const normaliser = makeNormaliser('token-mean', segments)
      const batch = { step: 1, policyVersion: 0, segments, normaliser, loss }
      const linear = linearise({ ...batch, adam: { learningRate: 1 } }, now)
      const again = batchLoss(
        {
          logprobs: now,
          oldLogprobs: linear.segments.map(({ logprobs }) => logprobs),
          advantages: linear.segments.map(({ advantages }) => advantages),
          mask: rows.map(({ mask }) => mask),
        },
        { loss: linear.loss, normaliser: 'token-mean' },
      )
      // Its value is another; what it does to the weights is the same, to the last bit of float32.
      ours.gradients.forEach((slopes, s) => {
        slopes.forEach((slope, t) => {
          expect(near(again.gradients[s]![t]!, slope), `linearised, ${s}, ${t}`).toBe(true)
        })
      })
    },
    120_000,
  )
})
