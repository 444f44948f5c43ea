import { expect, test } from 'vitest'
import { memoizeText } from '../../src/platform/memoize.js'

test('makes a text once, also where that is nothing, until the memory is full', () => {
  const made: string[] = []
  const length = memoizeText(
    (text) => {
      made.push(text)
      return text === '' ? undefined : text.length
    },
    { most: 2, longest: 3 },
  )
  expect(['', '', 'ab', 'ab', ''].map(length)).toEqual([undefined, undefined, 2, 2, undefined])
  expect(made).toEqual(['', 'ab'])
  expect(['abcd', 'abcd'].map(length)).toEqual([4, 4])
  expect(made).toEqual(['', 'ab', 'abcd', 'abcd'])
  expect(['c', 'ab'].map(length)).toEqual([1, 2])
  expect(made.slice(4)).toEqual(['c', 'ab'])
})

test('unless told otherwise keeps no long text', () => {
  let made = 0
  const counted = memoizeText(() => ++made, { most: 10 })
  const long = 'a'.repeat(4001)
  expect([counted(long), counted(long)]).toEqual([1, 2])
  expect([counted(long.slice(1)), counted(long.slice(1))]).toEqual([3, 3])
})
