import { describe, expect, test } from 'vitest'
import { discountedRank, reciprocalRank, topK } from '../../../src/rewards/outcome/ranked.js'
import { truthOf } from '../../fixtures/reward-episodes.js'
import { among, formulary, givingUp, stating, total } from '../../fixtures/stating.js'

const truth = truthOf()
const top = (k: number) => topK({ k, formulary })

describe('the place of the truth', () => {
  const place = async (diagnosis: string, ...others: readonly string[]) => {
    const value = await total(
      reciprocalRank({ formulary, depth: 10 }),
      stating(diagnosis, { differential: among(...others) }),
      truth,
    )
    return value === 0 ? 'none' : 1 / (value ?? Number.NaN)
  }

  test.each<[string, number | 'none', string, string[]]>([
    ['is the diagnosis', 1, 'flu', ['asthma']],
    ['is the first of the differential', 2, 'asthma', ['流感', 'gout']],
    ['is the third', 3, 'asthma', ['gout', 'J11.1']],
    ['does not move by a repeat', 3, 'asthma', ['哮喘', 'Asthma', 'gout', 'J45.9', 'influenza']],
    ['is the better of two', 1, 'influenza', ['asthma', 'grippe']],
    ['is behind what nobody knows', 4, 'asthma', ['moon fever', 'sun fever', 'influenza']],
    ['is behind a list, which is one place and no disease', 3, 'flu or gout', ['gout, flu', 'flu']],
    ['is none where it is only denied', 'none', 'asthma', ['not influenza']],
    ['is none where it is not listed', 'none', 'asthma', []],
    ['is none beyond the end', 'none', '1', ['2', '3', '4', '5', '6', '7', '8', '9', '10', 'flu']],
  ])('%s: %s', async (_, at, diagnosis, others) => {
    expect(await place(diagnosis, ...others)).toBe(at)
  })
})

test.each([
  [1, 0],
  [2, 0],
  [3, 1],
  [10, 1],
])('of the first %i, the third place earns %i', async (k, value) => {
  const episode = stating('asthma', { differential: among('gout', 'flu', 'cold') })
  expect(await total(top(k), episode, truth)).toBe(value)
})

test('the discounts fall by rank', async () => {
  const third = stating('asthma', { differential: among('gout', 'flu') })
  expect(await total(reciprocalRank({ formulary }), third, truth)).toBeCloseTo(1 / 3, 12)
  expect(await total(discountedRank({ formulary }), third, truth)).toBeCloseTo(1 / 2, 12)
  expect(await total(reciprocalRank({ formulary, depth: 2 }), third, truth)).toBe(0)
})

test('no diagnosis is no rank', async () => {
  for (const reward of [top(3), reciprocalRank(), discountedRank()])
    expect(await total(reward, givingUp, truth)).toBe(0)
})

test('a differential without a right entry cannot be bought by its length', async () => {
  const many = among(...Array.from({ length: 5000 }, (_, n) => `disease ${n}`), 'influenza')
  expect(await total(top(10), stating('asthma', { differential: many }), truth)).toBe(0)
  const repeats = among(...Array.from({ length: 5000 }, () => 'asthma'), 'influenza')
  expect(await total(top(10), stating('asthma', { differential: repeats }), truth)).toBe(0)
})

test('names without a formulary are the case’s own, comorbid ones and ids among them', async () => {
  const more = truthOf({
    gold: { differential: [{ id: 'sun-fever', p: 0.2 }] },
  })
  const list = among('Sun fever', 'sun-fever', 'influenza')
  expect(await total(topK({ k: 3 }), stating('moon fever', { differential: list }), more)).toBe(1)
})

test.each([0, 11, 1.5, Number.NaN])('refuses to look at %s places', (places) => {
  const wrong = /integer from 1 to 10/
  expect(() => topK({ k: places })).toThrow(wrong)
  expect(() => reciprocalRank({ depth: places })).toThrow(wrong)
  expect(() => discountedRank({ depth: places })).toThrow(wrong)
})
