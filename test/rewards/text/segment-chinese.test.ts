import { add_word, cut } from 'jieba-wasm'
import { describe, expect, test } from 'vitest'
import {
  loadNativeJieba,
  loadWasmJieba,
  segmentChinese,
} from '../../../src/rewards/text/segment-chinese.js'
import { golden, lengths, pairs } from '../../fixtures/golden-texts.js'
import { fc } from '../../fixtures/property.js'

const texts = pairs.flatMap(({ candidate, gold }, n) => [
  { text: candidate, tokens: golden.tokens[n]?.[0] },
  { text: gold, tokens: golden.tokens[n]?.[1] },
])

describe("Python's jieba", () => {
  test('divides every golden text as segment does', () => {
    expect(texts.length).toBeGreaterThanOrEqual(2000)
    expect(texts.filter(({ text }) => /[\u4e00-\u9fff]/.test(text)).length).toBeGreaterThan(2000)
    const wrong = texts.filter(({ text, tokens }) => lengths(segmentChinese(text)) !== tokens)
    expect(wrong.map(({ text }) => text)).toEqual([])
  })

  test('divides a soup of letters, digits, joints and rare characters as segment does', () => {
    expect(golden.soups.length).toBeGreaterThanOrEqual(1000)
    const wrong = golden.soups.filter(([text, tokens]) => lengths(segmentChinese(text)) !== tokens)
    expect(wrong.map(([text]) => [text, segmentChinese(text)])).toEqual([])
  })

  test('is not what jieba-rs gives by itself', () => {
    const same = texts.filter(({ text, tokens }) => lengths(cut(text, true)) === tokens)
    expect(same.length).toBeLessThan(texts.length)
    expect(cut('7-9天', true)).toEqual(['7-9', '天'])
  })
})

test.each([
  ['', []],
  ['病程7-9天', ['病程', '7', '-', '9', '天']],
  ['2019-08-15', ['2019', '-', '08', '-', '15']],
  ['38.5℃', ['38.5', '℃']],
  ['5%9', ['5%', '9']],
  ['c#1', ['c#', '1']],
  ['a  b\r\n', ['a', ' ', ' ', 'b', '\r\n']],
  ['㐀.7', ['㐀', '.', '7']],
  ['幽门螺杆菌', ['幽门', '螺杆菌']],
])('%j', (text, tokens) => expect(segmentChinese(text)).toEqual(tokens))

test('the native build and the WebAssembly cut alike', () => {
  const [native, wasm] = [loadNativeJieba(), loadWasmJieba()]
  const all = [...texts.map(({ text }) => text), ...golden.soups.map(([text]) => text)]
  expect(all.filter((text) => native(text).join('\0') !== wasm(text).join('\0'))).toEqual([])
})

test("a word added to the package's dictionary is none of ours", () => {
  const text = '幽门螺杆菌阳性'
  const before = segmentChinese(text)
  const ours = loadWasmJieba()
  add_word(text)
  expect(cut(text, true)).toEqual([text])
  expect(ours(text)).toEqual(before)
  expect(loadWasmJieba()(text)).toEqual(before)
  expect(segmentChinese(text)).toEqual(before)
})

test('joined, the tokens of any text are the text, and none is empty', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('7-9', '头痛', '\ud83d', '\udc00', '㐀', '𠮷', '\r\n', 'c#1', '9%9'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('')
      const tokens = segmentChinese(text)
      expect(tokens.join('')).toBe(text)
      expect(tokens).not.toContain('')
    }),
    { numRuns: 500 },
  )
})

test('a run of more tokens than a call may have arguments is cut too', () => {
  expect(segmentChinese('发烧'.repeat(150_000))).toHaveLength(150_000)
})
