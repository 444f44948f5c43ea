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

/** A loss on a batch of its own, as the script reads it. */
function caseOf(loss: Loss, n: number) {
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
  return { loss, segments, now, rows }
}

/** Our own functions on it, and on the same loss linearised. */
function ourWays({ loss, segments, now, rows }: ReturnType<typeof caseOf>) {
  const mask = rows.map((row) => row.mask)
  const ours = batchLoss(
    {
      logprobs: now,
      oldLogprobs: rows.map(({ oldLogprobs }) => oldLogprobs),
      samplerLogprobs: rows.map(({ logprobs }) => logprobs),
      refLogprobs: rows.map(({ refLogprobs }) => refLogprobs),
      advantages: rows.map(({ advantage }) => advantage),
      mask,
    },
    { loss, normaliser: 'token-mean' },
  )
  const normaliser = makeNormaliser('token-mean', segments)
  const batch = { step: 1, policyVersion: 0, segments, normaliser, loss }
  const linear = linearise({ ...batch, adam: { learningRate: 1 } }, now)
  const linearised = batchLoss(
    {
      logprobs: now,
      oldLogprobs: linear.segments.map(({ logprobs }) => logprobs),
      advantages: linear.segments.map(({ advantages }) => advantages),
      mask,
    },
    { loss: linear.loss, normaliser: 'token-mean' },
  )
  return { ours, linearised }
}

describeWithPython('one batch, five ways', 'verl', (run) => {
  test('has one loss and one gradient within 1e-6', () => {
    const cases = losses.map(caseOf)
    // The script is our own and answers in this form.
    const found = run('five_ways.py', {
      cases: cases.map(({ loss, rows }) => ({ loss, rows })),
    }) as readonly Readonly<Record<string, Way>>[]
    expect(found).toHaveLength(losses.length)
    cases.forEach((one, n) => {
      const { ours, linearised } = ourWays(one)
      // The value of the linearised loss is another; what it does to the weights is the same.
      const ways = { ...found[n], linearised: { ...linearised, loss: ours.loss } }
      expect(Object.keys(ways)).toEqual(['sidecar', 'slime', 'verl', 'linearised'])
      for (const [name, way] of Object.entries(ways)) {
        const where = `${one.loss.kind} ${n}, ${name}`
        expect(near(way.loss, ours.loss), `${where}: ${way.loss} for ${ours.loss}`).toBe(true)
        const gaps = ours.gradients.flatMap((slopes, s) =>
          slopes.filter((slope, t) => !near(way.gradients[s]![t]!, slope)),
        )
        expect(gaps, where).toEqual([])
      }
    })
  }, 300_000)
})
