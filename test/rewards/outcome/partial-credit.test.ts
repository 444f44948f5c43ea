import { describe, expect, test } from 'vitest'
import type { Formulary } from '../../../src/rewards/outcome/formulary.js'
import { formularyOf } from '../../../src/rewards/outcome/formulary.js'
import { partialCredit } from '../../../src/rewards/outcome/partial-credit.js'
import { influenza, saying, truthOf } from '../../fixtures/reward-episodes.js'
import { smallKnowledge } from '../../fixtures/small-knowledge.js'

const icd10 = (code: string) => [{ system: 'icd10' as const, code }]
const formulary: Formulary = [
  {
    id: 'influenza',
    names: ['Influenza', 'influenza-like virus'],
    codes: icd10('J11.1'),
    severity: 3,
  },
  { id: 'avian', names: ['Avian influenza', '禽流感'], codes: icd10('J09'), severity: 1 },
  { id: 'severe-flu', names: ['Influenza with pneumonia'], codes: icd10('J11.0'), severity: 2 },
  { id: 'cold', names: ['Common cold', '感冒'], codes: icd10('J00'), severity: 5 },
  { id: 'asthma', names: ['Asthma', '哮喘'], codes: icd10('J45.9'), severity: 3 },
  { id: 'gout', names: ['Gout'], codes: icd10('M10.9'), severity: 4 },
  { id: 'nameless', names: ['Local disease'], codes: [{ system: 'local', code: 'x' }] },
]
const reward = partialCredit({ formulary })
const judge = async (diagnosis: string, gold: object = {}, by = reward) =>
  (await by(saying(diagnosis), truthOf({ gold }))).total

describe('credit by nearness', () => {
  test.each([
    ['Influenza', 1],
    ['You probably have the flu.', 1],
    // A name only the formulary knows.
    ['influenza-like virus', 1],
    ['Influenza with pneumonia', 0.8],
    ['Avian influenza', 0.4],
    ['考虑禽流感', 0.4],
    ['Asthma', 0.15],
    ['Gout', 0],
    ['Local disease', 0],
    ['something unheard of', 0],
    ['', 0],
    // By code alone.
    ['J11.1', 1],
    ['J11', 0.8],
    ['J12.9', 0.4],
    ['J45.0', 0.15],
    ['M10', 0],
  ])('%s earns %s', async (diagnosis, credit) => {
    expect(await judge(diagnosis)).toBe(credit)
  })

  test.each(['Influenza or asthma', 'Asthma, gout', 'not asthma', '排除哮喘', '禽流感、哮喘'])(
    'a list or a denial earns nothing: %s',
    async (diagnosis) => {
      expect(await judge(diagnosis)).toBe(0)
    },
  )

  test('without a formulary only gold names and written codes are known', async () => {
    const bare = partialCredit()
    expect(await judge('Influenza', {}, bare)).toBe(1)
    expect(await judge('Avian influenza', {}, bare)).toBe(0)
    expect(await judge('J09', {}, bare)).toBe(0.4)
  })
})

test('another name of the same code is as good as the right one', async () => {
  const twin: Formulary = [{ id: 'other', names: ['Other flu'], codes: icd10('J11.1') }]
  expect(await judge('Other flu', {}, partialCredit({ formulary: twin }))).toBe(1)
})

test('what a tier is worth can be set, within [0, 1]', async () => {
  const strict = partialCredit({ formulary, tiers: { block: 0.1, chapter: 0 } })
  expect(await judge('Influenza with pneumonia', {}, strict)).toBe(0.8)
  expect(await judge('Avian influenza', {}, strict)).toBe(0.1)
  expect(await judge('Asthma', {}, strict)).toBe(0)
  for (const block of [-0.1, 1.1, Number.NaN])
    expect(() => partialCredit({ tiers: { block } })).toThrow(/tier `block` to be within \[0, 1\]/)
})

describe('the case’s own list', () => {
  const listed = (more: object = {}) => ({
    acceptable: [
      {
        id: 'gout',
        name: { en: 'Gout', zh: '痛风' },
        aliases: ['podagra'],
        codes: icd10('M10.9'),
        credit: 0.7,
        ...more,
      },
    ],
  })

  test.each(['Gout', '痛风', 'podagra', 'M10.9'])(
    'comes before the book: %s',
    async (diagnosis) => {
      expect(await judge(diagnosis, listed())).toBe(0.7)
    },
  )

  test('may give less than the book would', async () => {
    const less = { id: 'asthma', name: { en: 'Asthma' }, aliases: [], credit: 0 }
    expect(await judge('asthma', listed(less))).toBe(0)
  })

  test('never beats the diagnosis itself', async () => {
    const same = { name: { en: 'Influenza' }, aliases: [], credit: 0.2 }
    expect(await judge('Influenza', listed(same))).toBe(1)
  })
})

describe('a dangerous under-call', () => {
  const grave = { dx: [{ ...influenza, severity: 1 }] }

  test('earns nothing when two severity classes milder, however near in the book', async () => {
    const mild: Formulary = [
      { id: 'mild', names: ['Mild flu'], codes: icd10('J11.8'), severity: 3 },
      { id: 'fair', names: ['Fair flu'], codes: icd10('J11.8'), severity: 2 },
    ]
    const by = partialCredit({ formulary: mild })
    expect(await judge('Mild flu', grave, by)).toBe(0)
    expect(await judge('Fair flu', grave, by)).toBe(0.8)
  })

  test('cannot be had by writing the code instead of the name', async () => {
    expect(await judge('Common cold', grave)).toBe(0)
    expect(await judge('J00', grave)).toBe(0)
    expect(await judge('J00.9', grave)).toBe(0)
    expect(await judge('J00')).toBe(0)
  })

  test('is not excused by the case’s list', async () => {
    const acceptable = [
      { ...influenza, id: 'cold', name: { en: 'Common cold' }, aliases: [], credit: 0.5 },
    ]
    const cold = (severity: number) => acceptable.map((dx) => ({ ...dx, codes: [], severity }))
    expect(await judge('Common cold', { ...grave, acceptable: cold(5) })).toBe(0)
    expect(await judge('Common cold', { ...grave, acceptable: cold(2) })).toBe(0.5)
  })

  test('the other way round, an over-call keeps its tier', async () => {
    expect(await judge('Avian influenza')).toBe(0.4)
  })
})

test('the formulary of a knowledge base holds every name of every disease, once', async () => {
  const knowledge = smallKnowledge()
  const known = formularyOf(knowledge)
  expect(formularyOf(knowledge)).toBe(known)
  expect(known.find(({ id }) => id === 'pneumonia')).toEqual({
    id: 'pneumonia',
    names: ['肺炎', 'Pneumonia', '肺部感染', 'Lung infection'],
    codes: icd10('J18.9'),
    severity: 3,
  })
  const by = partialCredit({ formulary: known })
  expect(await judge('肺部感染', {}, by)).toBe(0.4)
  expect(await judge('Chest cold', {}, by)).toBe(0.15)
})
