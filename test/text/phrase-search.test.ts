import { expect, test } from 'vitest'
import { normaliseText } from '../../src/text/phrase-search.js'
import { fc } from '../fixtures/property.js'

test('text of one clause is normalised as it is with an apostrophe before it, which counts for nothing', () => {
  const characters = fc.constantFrom(...'您痛疼头腹泻吗呢？?！!。，,. aZ9')
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 8 }), (text) => {
      const { text: whole, clauses } = normaliseText(`'${text}`)
      expect(normaliseText(text)).toEqual({ text: whole, clauses })
    }),
    { numRuns: 3000 },
  )
})

test.each([
  ['您头痛吗？', { text: '你头疼吗', mark: 'question' }],
  ['头痛。', { text: '头疼', mark: 'stop' }],
  ['Chest pain', { text: 'chest pain', mark: 'stop' }],
  ['', { text: '', mark: undefined }],
])('%j is %j', (raw, { text, mark }) => {
  const read = normaliseText(raw)
  expect(read.text).toBe(text)
  expect(read.clauses[0]?.mark).toBe(mark)
})
