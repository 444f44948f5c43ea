import { expect, test } from 'vitest'
import { firstLines } from '../../src/platform/bounded-list.js'

const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}`)

test('ten lines are shown whole, and of more the first ten and the number of the rest', () => {
  expect(firstLines([])).toEqual([])
  expect(firstLines(lines(10))).toEqual(lines(10))
  expect(firstLines(lines(11))).toEqual([...lines(10), '… and 1 more'])
  expect(firstLines(lines(240), 'all of them with --json')).toEqual([
    ...lines(10),
    '… and 230 more (all of them with --json)',
  ])
})
