/** The expected values were printed by Python 3 (`repr`, `str.strip`, `int`). */
import { expect, test } from 'vitest'
import {
  pythonBlank,
  pythonList,
  pythonNumber,
  strip,
} from '../../../src/rewards/text/python-text.js'

test.each([
  ['\u001c\u001fa b\u0085 ', 'a b'],
  ['\ufeffa\ufeff', '\ufeffa\ufeff'],
  ['\u3000a\u200a', 'a'],
  ['\u200ba', '\u200ba'],
  [' \n\t', ''],
])('strip: %j', (given, stripped) => expect(strip(given)).toBe(stripped))

test('a blank of Python is one of JavaScript, but for six characters', () => {
  const python = new RegExp(`[${pythonBlank}]`)
  const differ: number[] = []
  for (let code = 0; code < 0x10000; code++) {
    const character = String.fromCharCode(code)
    if (python.test(character) !== /\s/.test(character)) differ.push(code)
  }
  expect(differ).toEqual([0x1c, 0x1d, 0x1e, 0x1f, 0x85, 0xfeff])
})

test.each([
  ['٣', 3],
  ['１２', 12],
  ['٠.٤', 0.4],
  ['-３', -3],
])('%j is the number %j', (text, number) => expect(pythonNumber(text)).toBe(number))

test.each([
  [[], '[]'],
  [['CBC', 'X-ray'], "['CBC', 'X-ray']"],
  [["St. Jude's"], '["St. Jude\'s"]'],
  [['a "b" c\'s'], "['a \"b\" c\\'s']"],
  [['血常规\n\\'], "['血常规\\n\\\\']"],
  [['\u00a0\u0001\u3000\u{e0001}'], "['\\xa0\\x01\\u3000\\U000e0001']"],
])('%j prints as %s', (items, printed) => expect(pythonList(items)).toBe(printed))
