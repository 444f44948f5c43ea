import { describe, expect, test } from 'vitest'
import type { Loss, TokenSegment } from '../../../src/batch.js'
import { replySpace } from '../../../src/knowledge/action-space.js'
import { uniform } from '../../../src/seed.js'
import {
  type PolicyWeights,
  policyShape,
  rowWidth,
  zeroWeights,
} from '../../../src/trainers/embedded/belief.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { segmentPasses } from '../../../src/trainers/embedded/gradient.js'
import { featureExtractor } from '../../../src/trainers/embedded/policy.js'
import { featureCache } from '../../../src/trainers/embedded/segment-features.js'
import { tokenizer } from '../../../src/trainers/embedded/tokenizer.js'
import { stepReport } from '../../../src/trainers/losses/step-report.js'
import { played, segmentsOf } from './batches.js'
import { words } from './play.js'

/** A policy of the small world with weights that are all over the place, and what it needs to be differentiated. */
function randomPolicy(segments: readonly TokenSegment[], space = words) {
  const extractor = featureExtractor(space, tokenizer(space))
  const shape = policyShape(extractor)
  const cache = featureCache(extractor, shape.fixed)
  const rowOf = cache.addRows(segments, new Map())
  const rows = Array.from({ length: shape.fixed + rowOf.size }, (_, row) =>
    Float64Array.from({ length: rowWidth(shape, row) }, (__, i) => uniform(7, row, i) * 2 - 1),
  )
  const passes = segmentPasses(shape)
  const pass = (weights: PolicyWeights, loss: Loss) => {
    const gradient = weights.rows.map(({ length }) => new Float64Array(length))
    const sums = stepReport(loss, 0)
    const scales = { weight: 0.3, bonus: 0.3 * loss.entropy }
    for (const segment of segments)
      passes.addGradient(segment, cache.get(segment, rowOf), scales, { weights, gradient, sums })
    return { gradient, loss: sums.report(1, 0).loss }
  }
  return { weights: { rowOf, rows }, shape, pass }
}

/** The same weights but one. */
const moved = ({ rowOf, rows }: PolicyWeights, row: number, at: number, by: number) => ({
  rowOf,
  rows: rows.map((own, r) => (r === row ? own.map((w, i) => (i === at ? w + by : w)) : own)),
})

const losses: readonly Loss[] = [
  { kind: 'policy-gradient', entropy: 0 },
  { kind: 'policy-gradient', entropy: 0.7 },
  { kind: 'cross-entropy', entropy: 0 },
]

describe('the gradient', () => {
  test.each(losses)('of $kind, entropy $entropy, is that of finite differences', async (loss) => {
    const episodes = await played(embedded({ actionSpace: words }), 8, { temperature: 0.8 })
    const segments = segmentsOf(episodes, (_, n) => (n % 3) - 0.7)
    const { weights, pass } = randomPolicy(segments)
    const { gradient } = pass(weights, loss)
    const step = 1e-5
    let largest = 0
    weights.rows.forEach((own, row) => {
      for (let at = 0; at < own.length; at++) {
        const up = pass(moved(weights, row, at, step), loss).loss
        const down = pass(moved(weights, row, at, -step), loss).loss
        expect(gradient[row]?.[at], `row ${row}, column ${at}`).toBeCloseTo(
          (up - down) / (2 * step),
          6,
        )
        largest = Math.max(largest, Math.abs(gradient[row]?.[at] ?? 0))
      }
    })
    expect(largest).toBeGreaterThan(0.1)
  })

  test('moves the belief, the questions’ values, the bias and the gate', async () => {
    const segments = segmentsOf(await played(embedded({ actionSpace: words }), 8), (_, n) => n - 3)
    const { weights, pass, shape } = randomPolicy(segments)
    const { gradient } = pass(weights, { kind: 'policy-gradient', entropy: 0 })
    for (const row of [shape.bias, shape.gate, shape.values, shape.fixed])
      expect(gradient[row]?.some((slope) => slope !== 0)).toBe(true)
  })
})

test('a space of replies has conclusions only: what was read decides, and there is nothing to ask', () => {
  const space = replySpace('en', ['yes', 'no', 'perhaps'])
  const shape = policyShape(featureExtractor(space, tokenizer(space)))
  expect([...shape.conclusions]).toEqual([0, 1, 2])
  expect(shape.others).toHaveLength(0)
  expect(zeroWeights(shape).rows.map(({ length }) => length)).toEqual([0, 67, 0, 0, 0])
})
