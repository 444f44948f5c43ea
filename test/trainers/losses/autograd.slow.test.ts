import { expect, test } from 'vitest'
import type { Loss, NormaliserKind } from '../../../src/batch.js'
import { makeNormaliser, normaliserKinds } from '../../../src/batch.js'
import { segmentLoss } from '../../../src/trainers/losses/policy.js'
import { fc } from '../../fixtures/property.js'
import { describeWithPython } from '../../fixtures/python.js'
import type { Drawn } from '../../fixtures/segments.js'
import { drawnSegments, losses } from '../../fixtures/segments.js'

interface Judged {
  readonly value: number
  readonly gradients: readonly (readonly number[])[]
}

function ours(loss: Loss, drawn: readonly Drawn[], kind: NormaliserKind) {
  const segments = drawn.map(({ segment }) => segment)
  const { perSegment } = makeNormaliser(kind, segments, { maxTokens: 12 })
  const made = drawn.map(({ segment, logprobs }) => segmentLoss(loss, segment, logprobs))
  return {
    weights: [...perSegment],
    value: made.reduce(
      (sum, { values }, s) => sum + perSegment[s]! * values.reduce((a, b) => a + b, 0),
      0,
    ),
    gradients: made.map(({ slopes }, s) => [...slopes].map((slope) => perSegment[s]! * slope)),
  }
}

const plain = ({ segment, logprobs }: Drawn) => ({
  segment: {
    mask: [...segment.mask],
    logprobs: [...segment.logprobs],
    oldLogprobs: [...(segment.oldLogprobs ?? [])],
    refLogprobs: [...(segment.refLogprobs ?? [])],
    advantages: [...segment.advantages],
  },
  now: [...logprobs],
})

describeWithPython('against autograd of torch in float64', 'sidecar', (run) => {
  test.each(normaliserKinds)(
    'every objective, correction and penalty has its gradient, with %s',
    (kind) => {
      const batches = fc.sample(drawnSegments(), { numRuns: losses.length, seed: 11 })
      const cases = losses.map((loss, i) => {
        const drawn = batches[i]!
        const segments = drawn.map(plain)
        return {
          loss,
          drawn,
          weights: ours(loss, drawn, kind).weights,
          segments: segments.map(({ segment }) => segment),
          now: segments.map(({ now }) => now),
        }
      })
      // The script is our own and answers in this form.
      const { cases: judged } = run('loss_gradients.py', {
        cases: cases.map(({ drawn: _, ...rest }) => rest),
      }) as { readonly cases: readonly Judged[] }
      expect(judged).toHaveLength(losses.length)
      cases.forEach(({ loss, drawn }, i) => {
        const mine = ours(loss, drawn, kind)
        const theirs = judged[i]!
        const near = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b))
        expect(near(mine.value, theirs.value), JSON.stringify(loss)).toBe(true)
        mine.gradients.forEach((gradient, s) => {
          const far = gradient.findIndex((slope, t) => !near(slope, theirs.gradients[s]![t]!))
          expect(far, `${JSON.stringify(loss)}, segment ${s}, token ${far}`).toBe(-1)
        })
      })
    },
    60_000,
  )
})

test('a batch in parts, and in any order, has the gradient of the whole', () => {
  const kinds = fc.constantFrom(...normaliserKinds)
  const which = fc.constantFrom(...losses)
  fc.assert(
    fc.property(which, drawnSegments(), kinds, fc.nat(), (loss, drawn, kind, turn) => {
      const whole = ours(loss, drawn, kind)
      const by = turn % drawn.length
      const turned = [...drawn.slice(by), ...drawn.slice(0, by)]
      const other = ours(loss, turned, kind)
      const parts = [drawn.slice(0, by), drawn.slice(by)]
      const partly = parts.map((part, p) =>
        // Each part with the multipliers of the whole batch.
        part.reduce((sum, { segment, logprobs }, s) => {
          const { values } = segmentLoss(loss, segment, logprobs)
          return sum + whole.weights[p * by + s]! * values.reduce((a, b) => a + b, 0)
        }, 0),
      )
      expect(Math.abs(partly[0]! + partly[1]! - whole.value)).toBeLessThan(
        1e-9 * (1 + Math.abs(whole.value)),
      )
      expect(Math.abs(other.value - whole.value)).toBeLessThan(1e-9 * (1 + Math.abs(whole.value)))
      turned.forEach((_, s) => {
        expect(other.gradients[s]).toEqual(whole.gradients[(s + by) % drawn.length])
      })
    }),
  )
})
