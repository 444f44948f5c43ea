import { expect, test } from 'vitest'
import { toAsciiDigits } from '../../src/text/digits.js'

test.each([
  ['0.4', '0.4'],
  ['３', '3'],
  ['٣٫٠', '3٫0'],
  ['०१२३४५६७८९', '0123456789'],
  // Five scripts of mathematical digits follow one another.
  ['𝟎𝟏𝟗𝟘𝟡𝟢𝟿', '0190909'],
  ['² ½ Ⅷ 三', '² ½ Ⅷ 三'],
  ['', ''],
])('%j becomes %j', (given, ascii) => expect(toAsciiDigits(given)).toBe(ascii))

test('every decimal digit of Unicode has a value from 0 to 9, in blocks of ten', () => {
  const digits: string[] = []
  for (let code = 0; code <= 0x1ffff; code++) {
    const character = String.fromCodePoint(code)
    if (/\p{Nd}/u.test(character)) digits.push(toAsciiDigits(character))
  }
  expect(digits.length).toBeGreaterThan(600)
  expect(digits.every((value, i) => value === String(i % 10))).toBe(true)
})
