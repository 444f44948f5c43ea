import { expect, test } from 'vitest'
import { copyPlain } from '../../src/platform/copy-plain.js'

test('copies nested objects and lists, in the order of their members', () => {
  const value = { b: [1, { c: null }], a: { d: 'text', e: undefined } }
  const copy = copyPlain(value)
  expect(copy).toStrictEqual(value)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
  copy.b.push(2)
  copy.a.d = 'other'
  expect(value).toStrictEqual({ b: [1, { c: null }], a: { d: 'text', e: undefined } })
})

test('clones what is not plain', () => {
  const value = { known: new Map([['a', { x: 1 }]]), at: new Date(5) }
  const copy = copyPlain(value)
  expect(copy).toStrictEqual(value)
  expect(copy.known.get('a')).not.toBe(value.known.get('a'))
})

test('a member called __proto__ stays a member', () => {
  const copy = copyPlain(JSON.parse('{"__proto__":{"x":1}}'))
  expect(Object.keys(copy)).toEqual(['__proto__'])
})
