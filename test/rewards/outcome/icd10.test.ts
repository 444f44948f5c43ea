import { describe, expect, test } from 'vitest'
import {
  icd10Codes,
  icd10Nearness,
  matchesCode,
  normalizeIcd10,
} from '../../../src/rewards/outcome/icd10.js'

describe('nearest', () => {
  test.each([
    ['J18.9', 'J18.9', 'code'],
    ['J18', 'J18', 'code'],
    ['J18.9', 'J18.1', 'category'],
    ['J18', 'J18.9', 'category'],
    ['J18.9', 'J15.0', 'block'],
    ['J18.9', 'J45.9', 'chapter'],
    ['J18.9', 'K35.8', 'none'],
    // Chapters that share a letter, and one that spans two.
    ['A09', 'B00.9', 'chapter'],
    ['C34.9', 'D12.6', 'chapter'],
    ['D12.6', 'D50.9', 'none'],
    ['H10.9', 'H66.9', 'none'],
    ['S06.0', 'T14.9', 'chapter'],
    ['V01.1', 'Y35.0', 'chapter'],
    // Neighbours on either side of a block's edge.
    ['I25.9', 'I26.9', 'chapter'],
    ['I20.0', 'I25.9', 'block'],
    ['K63.9', 'K64.9', 'block'],
    ['K64.9', 'K65.0', 'chapter'],
    ['N39.0', 'N40', 'chapter'],
    // A letter in third place, as clinical modifications have it.
    ['C7A.0', 'C79.9', 'block'],
  ])('%s and %s: %s', (one, other, near) => {
    const [a, b] = [normalizeIcd10(one) ?? '', normalizeIcd10(other) ?? '']
    expect(icd10Nearness([a], [b])).toBe(near)
    expect(icd10Nearness([b], [a])).toBe(near)
  })

  test('the best of all pairs counts', () => {
    expect(icd10Nearness(['K358', 'J450'], ['R104', 'J189'])).toBe('chapter')
    expect(icd10Nearness(['K358', 'J150', 'J450'], ['J189'])).toBe('block')
  })

  test('nothing to compare is not near', () => {
    expect(icd10Nearness([], ['J189'])).toBe('none')
    expect(icd10Nearness(['J189'], [])).toBe('none')
  })
})

test('only well-formed ICD-10 codes are read', () => {
  expect(
    icd10Codes([
      { system: 'icd10', code: 'j18.9' },
      { system: 'icd11', code: 'CA40' },
      { system: 'icd10', code: 'pneumonia' },
    ]),
  ).toEqual(['J189'])
})

test('a written code names a code, and any of a whole category', () => {
  expect(matchesCode('J189', 'J189')).toBe(true)
  expect(matchesCode('J189', 'J18')).toBe(true)
  expect(matchesCode('J18', 'J189')).toBe(false)
  expect(matchesCode('J181', 'J189')).toBe(false)
})
