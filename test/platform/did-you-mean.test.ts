import { describe, expect, test } from 'vitest'
import { editDistance, suggestNames } from '../../src/platform/did-you-mean.js'
import { fc } from '../fixtures/property.js'

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '咳'), maxLength: 7 })

describe('editDistance', () => {
  test.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['default', 'defualt', 1],
    ['exam', 'exams', 1],
    ['咳嗽', '咳', 1],
  ])('%j and %j are %i apart', (one, other, edits) => {
    expect(editDistance(one, other)).toBe(edits)
  })

  test('is the same both ways, 0 of equal texts alone, and between the difference and the sum of lengths', () =>
    fc.assert(
      fc.property(word, word, (one, other) => {
        const edits = editDistance(one, other)
        expect(edits).toBe(editDistance(other, one))
        expect(edits === 0).toBe(one === other)
        expect(edits).toBeGreaterThanOrEqual(Math.abs(one.length - other.length))
        expect(edits).toBeLessThanOrEqual(Math.max(one.length, other.length))
      }),
    ))

  test('one letter more is one edit more at most', () =>
    fc.assert(
      fc.property(word, word, (one, other) => {
        expect(Math.abs(editDistance(`${one}b`, other) - editDistance(one, other))).toBeLessThan(2)
      }),
    ))
})

describe('nearNames', () => {
  const names = ['default', 'exam-f1', 'exam-recall', 'diagnosis-accuracy', 'cost']

  test('finds what was misspelled, cut short or written otherwise, nearest first', () => {
    expect(suggestNames('exam-fl', names)).toEqual(['exam-f1'])
    expect(suggestNames('accuracy', names)).toEqual(['diagnosis-accuracy'])
    expect(suggestNames('EXAM_F1', names)).toEqual(['exam-f1'])
    expect(suggestNames('exam', names)).toEqual(['exam-f1', 'exam-recall'])
    expect(suggestNames('exam', names, 1)).toEqual(['exam-f1'])
  })

  test('finds nothing near what is something else, empty, or a book', () => {
    for (const given of ['fame', '', '  ', 'ex', 'default'.repeat(1000)])
      expect(suggestNames(given, names)).toEqual([])
  })
})
