import { describe, expect, test } from 'vitest'
import type { Dial, PersonaSpread } from '../src/persona.js'
import { dialLevel, dials, drawPersona, parsePersona, personas } from '../src/persona.js'
import { personaSchema } from '../src/storage/case-schema.js'
import { fc } from './fixtures/property.js'

const names = Object.keys(dials) as Dial[] // the keys of the literal
const n = 6000
const draw = (spread: PersonaSpread) =>
  Array.from({ length: n }, (_, seed) => drawPersona(spread, seed * 7919))

describe('a drawn persona', () => {
  test('is one of the schema, fabricates never, and is never verbose and terse at once', () => {
    for (const spread of ['mild', 'varied'] as const)
      for (const persona of draw(spread)) {
        expect(personaSchema.parse(persona)).toEqual(persona)
        expect(persona.fabricating).toBeUndefined()
        expect(dialLevel(persona, 'verbose') * dialLevel(persona, 'terse')).toBe(0)
      }
  })

  test.each([
    ['plain', [0, 0, 0]],
    ['mild', [0.2, 0, 0]],
    ['varied', [0.35, 0.2, 0.08]],
  ] as const)('of a %s tier has each dial at 1, 2 and 3 as often as declared', (spread, shares) => {
    const drawn = draw(spread)
    for (const dial of names.filter((name) => !/fabricating|verbose|terse/.test(name)))
      for (const [i, p] of shares.entries()) {
        const seen = drawn.filter((persona) => dialLevel(persona, dial) > i).length / n
        expect(Math.abs(seen - p), `${dial} ${i + 1}`).toBeLessThan(
          4 * Math.sqrt((p * (1 - p)) / n) + 1e-9,
        )
      }
  })

  test('is a function of the seed, each dial drawn independently of the others', () => {
    const drawn = draw('varied')
    expect(draw('varied')).toEqual(drawn)
    const high = (dial: Dial) => drawn.map((persona) => (dialLevel(persona, dial) > 0 ? 1 : 0))
    const mean = (list: readonly number[]) => list.reduce((sum, x) => sum + x, 0) / list.length
    for (const [a, b] of [
      ['anxious', 'confused'],
      ['distrustful', 'ashamed'],
      ['forgetful', 'lowLiteracy'],
      ['pleasing', 'demanding'],
    ] as const) {
      const [one, other] = [high(a), high(b)]
      const both = mean(one.map((x, i) => x * other[i]!))
      expect(Math.abs(both - mean(one) * mean(other)), `${a} ${b}`).toBeLessThan(
        4 * Math.sqrt(0.25 / n) * 0.5,
      )
    }
  })
})

describe('a persona by name', () => {
  test('has dials from 1 to 3, and none is the same as another', () => {
    const texts = Object.entries(personas).map(([name, persona]) => {
      for (const [dial, level] of Object.entries(persona)) {
        expect(names, name).toContain(dial)
        expect([1, 2, 3], name).toContain(level)
      }
      return JSON.stringify(persona)
    })
    // Being distrusted for one's race is nothing a doctor can hear but distrust.
    expect(new Set(texts).size).toBeGreaterThanOrEqual(texts.length - 1)
  })

  test('is one of at least six personalities and the eleven published biases', () => {
    const biases = Object.keys(personas).filter((name) => name.endsWith('-bias'))
    expect(biases).toHaveLength(11)
    expect(Object.keys(personas).length - biases.length).toBeGreaterThanOrEqual(6)
  })

  test('is what it says, and dials are what they say', () => {
    for (const [name, persona] of Object.entries(personas)) expect(parsePersona(name)).toBe(persona)
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.nat(3), { minKeys: 1 }), (given) => {
        const text = Object.entries(given)
          .map(([dial, level]) => `${dial} = ${level}`)
          .join(' , ')
        expect(parsePersona(text)).toEqual(given)
      }),
    )
  })

  test.each([
    '',
    'nobody',
    'fever',
    'anxious=4',
    'anxious=-1',
    'anxious=1;terse=1',
    '__proto__=1',
    'toString',
  ])('`%s` is refused with what there is', (text) => {
    expect(() => parsePersona(text)).toThrow(RangeError)
    expect(() => parsePersona(text)).toThrow(/Expected one of plain, .*got `/)
  })
})
