import { expect, test } from 'vitest'
import { referenceText, splitReference } from '../../src/text/reference-interval.js'
import { fc } from '../fixtures/property.js'

test('an interval written behind a sentence is read back, and nothing else is taken for one', () => {
  const bound = fc.integer({ min: 0, max: 99_999 }).map((n) => n / 100)
  fc.assert(
    fc.property(
      bound,
      bound,
      fc.constantFrom('en' as const, 'zh' as const),
      (low, high, language) => {
        const sentence = 'Pulse 72/min (normal)'
        const read = splitReference(`${sentence}${referenceText([low, high], language)}`)
        expect(read).toEqual({ text: sentence, reference: [low, high] })
      },
    ),
  )
  for (const text of ['Pulse 72/min (normal)', 'reference 4 to 10', ''])
    expect(splitReference(text)).toEqual({ text, reference: undefined })
})
