import { describe, expect, test } from 'vitest'
import { graderView } from '../../../src/case.js'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { triage, triageFrequency } from '../../../src/rewards/outcome/triage.js'
import { truthOf } from '../../fixtures/reward-episodes.js'
import { givingUp, stating, total } from '../../fixtures/stating.js'

const at = (level: number) => truthOf({ gold: { triage: { scale: 'local5', level } } })
const levels = [1, 2, 3, 4, 5]
const even = [1, 1, 1, 1, 1]

describe('the formula', () => {
  test.each([
    [3, 3, 1],
    [2, 3, 0.75],
    [1, 5, 0],
    [4, 3, 0.5],
    [5, 1, -1],
  ])('level %i for %i earns %f', async (stated, actual, value) => {
    expect(await total(triage(), stating('flu', { triage: stated }), at(actual))).toBe(value)
  })

  test('too late costs more the heavier it weighs, too early the same', async () => {
    const heavy = triage({ underTriage: 3 })
    expect(heavy.bounds).toEqual([-3, 1])
    expect(await total(heavy, stating('flu', { triage: 4 }), at(3))).toBe(0)
    expect(await total(heavy, stating('flu', { triage: 2 }), at(3))).toBe(0.75)
  })

  test.each([undefined, 0, 6, 2.5, Number.NaN])('a level of %s earns nothing', async (none) => {
    const episode = stating('flu', none === undefined ? {} : { triage: none })
    expect(await total(triage(), episode, at(3))).toBe(0)
    expect(await total(triage({ frequency: even }), episode, at(3))).toBe(0)
  })

  test('giving up earns nothing, and where the case has no level it does not apply', async () => {
    expect(await total(triage(), givingUp, at(3))).toBe(0)
    expect(await total(triage(), stating('flu', { triage: 3 }), truthOf())).toBeNull()
  })

  test('a case of another scale is the case’s fault', async () => {
    const { total: none, parts } = await triage()(stating('flu', { triage: 3 }), at(9))
    expect(none).toBeNull()
    expect(parts.triage).toEqual({
      status: 'unavailable',
      reason: 'gold.triage.level: expected 1 to 5, got 9',
    })
  })

  test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses to weigh by %s',
    (underTriage) => {
      expect(() => triage({ underTriage })).toThrow(/finite and ≥ 1/)
    },
  )
})

describe('corrected for chance', () => {
  const mean = async (frequency: readonly number[], stated: number) => {
    const reward = triage({ frequency })
    let sum = 0
    for (const [i, actual] of levels.entries())
      sum += frequency[i]! * (await total(reward, stating('flu', { triage: stated }), at(actual)))!
    return sum
  }

  test.each([[even], [[1, 2, 3, 2, 1]], [[0, 0, 1, 4, 9]], [[0.9, 0.1, 0, 0, 0]]])(
    'the best constant earns 0 and the truth 1: %j',
    async (frequency) => {
      const means = await Promise.all(levels.map((level) => mean(frequency, level)))
      expect(Math.max(...means)).toBeCloseTo(0, 9)
      const reward = triage({ frequency })
      for (const level of levels)
        expect(await total(reward, stating('flu', { triage: level }), at(level))).toBeCloseTo(1, 12)
    },
  )

  test('is cut off at -1, and lower where a constant would outweigh that', () => {
    expect(triage({ frequency: even }).bounds).toEqual([-1, 1])
    expect(triage({ frequency: [1, 1, 6, 1, 1] }).bounds[0]).toBeCloseTo(-3, 12)
  })

  test('where all are of one level there is nothing to tell', async () => {
    const reward = triage({ frequency: [0, 0, 7, 0, 0] })
    expect(await total(reward, stating('flu', { triage: 3 }), at(3))).toBeNull()
  })

  test.each([[[1, 2]], [[0, 0, 0, 0, 0]], [[1, 1, 1, 1, -1]], [[1, 1, 1, 1, Number.NaN]]])(
    'refuses a frequency of %j',
    (frequency) => {
      expect(() => triage({ frequency })).toThrow(/5 numbers ≥ 0/)
    },
  )

  test('constants over generated cases: most of the raw score, little of the corrected', async () => {
    const knowledge = loadKnowledge()
    const frequency = triageFrequency(knowledge)
    expect(frequency.reduce((sum, n) => sum + n, 0)).toBeCloseTo(1, 12)
    const cases = Array.from({ length: 150 }, (_, n) => graderView(generateCase(knowledge, { n })))
    const average = async (reward: ReturnType<typeof triage>, level: number) => {
      let sum = 0
      for (const truth of cases)
        sum += (await total(reward, stating('x', { triage: level }), truth))!
      return sum / cases.length
    }
    const raw = await Promise.all(levels.map((level) => average(triage(), level)))
    expect(Math.max(...raw)).toBeGreaterThan(0.6)
    const corrected = await Promise.all(
      levels.map((level) => average(triage({ frequency }), level)),
    )
    // Age and sex move the levels away from the base rates, so not to 0.
    expect(Math.max(...corrected)).toBeLessThan(0.2)
  })
})
