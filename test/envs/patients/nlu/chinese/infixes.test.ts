import { expect, test } from 'vitest'
import { findInterrupted } from '../../../../../src/envs/patients/nlu/chinese/infixes.js'
import { phraseTree } from '../../../../../src/text/phrase-search.js'

const tree = phraseTree([
  ['胸疼', 'chest'],
  ['嗓子疼', 'throat'],
] as const)

const found = (text: string) =>
  findInterrupted(tree, text, { start: 0, end: text.length }).map(({ start, end, value }) => ({
    value,
    part: text.slice(start, end),
  }))

test.each([
  ['胸不疼', 'chest', '胸不疼'],
  ['你胸口里面胸还疼吗', 'chest', '胸还疼'],
  ['嗓子会不会疼', 'throat', '嗓子会不会疼'],
])('in %s a phrase is found across the words between', (text, value, part) => {
  expect(found(text)).toEqual([{ value, part }])
})

test('a text without such words, or with nothing else, has none', () => {
  expect(found('胸疼')).toEqual([])
  expect(found('不会')).toEqual([])
  expect(found('胸和腿疼')).toEqual([])
})
