import { describe, expect, test } from 'vitest'
import { buildSimilarityIndex, type Phrases } from '../../../../src/envs/patients/nlu/similarity.js'
import { finish } from '../../../../src/platform/slices.js'
import { fc } from '../../../fixtures/property.js'

const phrases = [
  ['do you have a fever', 'fever'],
  ['have you been running a temperature', 'fever'],
  ['do you cough', 'cough'],
  ['have you been coughing at night', 'cough'],
  ['does your throat hurt', 'throat'],
] as const

const indexOf = (known: Phrases, script: 'latin' | 'han') =>
  finish(buildSimilarityIndex(known, script))

describe('the likest', () => {
  const index = indexOf(phrases, 'latin')

  test('is the value of a phrase given word by word, with a likeness near 1', () => {
    for (const [text, value] of phrases) {
      expect(index.findNearest(text).value).toBe(value)
      expect(index.findNearest(text).score).toBeGreaterThan(0.8)
    }
  })

  test('tells how much of a text is ever said of some values', () => {
    const { shareOf } = index.findNearest('do you cough at the opera')
    expect(index.findNearest('have you been coughing at night').shareOf(['cough'])).toBe(1)
    expect(shareOf(['cough'])).toBeGreaterThan(0)
    expect(shareOf(['cough'])).toBeLessThan(0.7)
    expect(shareOf(['throat'])).toBe(0)
    expect(shareOf(['fever', 'cough'])).toBe(shareOf(['cough']))
    expect(shareOf(['nothing'])).toBe(0)
  })

  test('survives a slip of the pen', () => {
    expect(index.findNearest('does your throut hurt').value).toBe('throat')
  })

  test('leads over the next, and tells how like the others are', () => {
    const { score, next, scoreOf } = index.findNearest('do you cough')
    expect(scoreOf('cough')).toBe(score)
    expect(Math.max(scoreOf('fever'), scoreOf('throat'))).toBe(next)
    expect(score).toBeGreaterThan(next)
    expect(scoreOf('unheard of')).toBe(0)
  })

  test('is nothing where nothing is shared', () => {
    expect(index.findNearest('xylophone').score).toBe(0)
    expect(index.findNearest('xylophone').value).toBeUndefined()
  })

  test('is between 0 and 1, and the same whatever was asked before', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        const { value, score, next } = index.findNearest(text)
        expect(score).toBeGreaterThanOrEqual(next)
        expect(score).toBeLessThanOrEqual(1 + 1e-9)
        expect(indexOf(phrases, 'latin').findNearest(text)).toMatchObject({
          value,
          score,
          next,
        })
      }),
      { numRuns: 100 },
    )
  })
})

test('Han script is read by characters', () => {
  const index = indexOf(
    [
      ['你发烧吗', 'fever'],
      ['你有没有咳嗽', 'cough'],
    ],
    'han',
  )
  expect(index.findNearest('最近咳得厉害吗').value).toBe('cough')
  expect(index.findNearest('烧得高不高').value).toBe('fever')
})
