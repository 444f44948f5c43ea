import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Loss } from '../../src/batch.js'
import { tokenLoss } from '../../src/trainers/losses.js'

const clip: Loss = { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0 }
const plain: Loss = { kind: 'policy-gradient', entropy: 0 }

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
    const loss = tokenLoss(clip, Math.log(ratio), 0, advantage)
    expect(loss.value).toBeCloseTo(value, 12)
    expect(loss.slope).toBeCloseTo(slope, 12)
    expect(loss.clipped).toBe(slope === 0)
  })
})

test('the slope is the derivative of the value by the log-prob', () => {
  const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })
  fc.assert(
    fc.property(
      fc.constantFrom(clip, plain),
      number(-4, -0.01),
      number(-4, -0.01),
      number(-2, 2),
      (loss, logprob, sampled, advantage) => {
        const h = 1e-6
        const at = tokenLoss(loss, logprob, sampled, advantage)
        const above = tokenLoss(loss, logprob + h, sampled, advantage)
        const below = tokenLoss(loss, logprob - h, sampled, advantage)
        // The clipped loss has kinks; a difference across one says nothing.
        fc.pre(above.clipped === at.clipped && below.clipped === at.clipped)
        expect((above.value - below.value) / (2 * h)).toBeCloseTo(at.slope, 4)
      },
    ),
  )
})
