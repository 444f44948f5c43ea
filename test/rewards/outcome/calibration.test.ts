import { describe, expect, test } from 'vitest'
import { calibration } from '../../../src/rewards/outcome/calibration.js'
import { episodeOf, truthOf } from '../../fixtures/reward-episodes.js'
import { formulary, givingUp, stating, total } from '../../fixtures/stating.js'

const truth = truthOf({
  gold: {
    differential: [
      { id: 'influenza', p: 0.6 },
      { id: 'cold', p: 0.8 },
    ],
  },
})
const reward = calibration({ formulary })
const bet = (diagnosis: string, confidence: number) =>
  total(reward, stating(diagnosis, { confidence }), truth)

test.each([
  ['flu', 1, 1],
  ['流感', 0.5, 0.75],
  ['flu', 0, 0],
  ['gout', 1, -1],
  ['gout', 0.5, -0.25],
  ['gout', 0, 0],
  ['flu, gout', 0.5, -0.25],
])('%s with confidence %f earns %f', async (diagnosis, confidence, value) => {
  expect(await bet(diagnosis, confidence)).toBeCloseTo(value, 12)
})

test.each([undefined, -0.1, 1.1, Number.NaN])('a confidence of %s earns nothing', async (none) => {
  for (const diagnosis of ['flu', 'gout']) {
    const episode = stating(diagnosis, none === undefined ? {} : { confidence: none })
    expect(await total(reward, episode, truth)).toBe(0)
  }
})

test('the honest confidence is the best one, and earns the square of being right', async () => {
  const steps = Array.from({ length: 101 }, (_, n) => n / 100)
  const right = await Promise.all(steps.map((c) => bet('flu', c)))
  const wrong = await Promise.all(steps.map((c) => bet('gout', c)))
  for (const p of [0, 0.2, 0.5, 0.9, 1]) {
    const expected = steps.map((_, i) => p * right[i]! + (1 - p) * wrong[i]!)
    expect(steps[expected.indexOf(Math.max(...expected))]).toBe(p)
    expect(Math.max(...expected)).toBeCloseTo(p ** 2, 12)
  }
})

describe('giving up', () => {
  test('is priced by the case, below what the best honest doctor expects of it', async () => {
    expect(await total(reward, givingUp, truth)).toBeCloseTo(0.25 * 0.8 ** 2, 12)
    for (const abstention of [0, 0.5, 0.999]) {
      const value = await total(calibration({ formulary, abstention }), givingUp, truth)
      expect(value).toBeCloseTo(abstention * 0.64, 12)
      expect(value).toBeLessThan(0.64)
    }
  })

  test('earns nothing where nobody knows how hard the case is', async () => {
    expect(await total(reward, givingUp, truthOf())).toBe(0)
  })

  test('is not the same as running out of turns', async () => {
    expect(await total(reward, episodeOf([]), truth)).toBe(0)
  })

  test.each([1, -0.1, Number.NaN])('has no price of %s', (abstention) => {
    expect(() => calibration({ abstention })).toThrow(/within \[0, 1\), got/)
  })
})
