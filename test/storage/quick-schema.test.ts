import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { quickCheck, unsure } from '../../src/storage/quick-schema.js'
import { fc } from '../fixtures/property.js'

const Inner = z.strictObject({
  kind: z.literal('a'),
  level: z.number().int().min(1).max(5),
  share: z.number().gt(0).lt(1).exactOptional(),
})
const Thing = z.object({
  id: z.string().min(1),
  inner: z.discriminatedUnion('kind', [Inner, z.strictObject({ kind: z.enum(['b', 'c']) })]),
  flag: z.boolean().optional(),
  list: z.array(z.string()).default([]),
  filled: z.array(z.number()).min(1),
  by: z.record(z.string(), z.number()),
  maybe: z.number().nullable(),
  limit: z
    .number()
    .nullable()
    .transform((limit) => limit ?? Number.POSITIVE_INFINITY),
  text: z
    .object({ zh: z.string().optional(), en: z.string().optional() })
    .refine(({ zh, en }) => zh !== undefined || en !== undefined),
  mail: z.email().optional(),
})
const quick = quickCheck(Thing)
const plain = {
  id: 'x',
  inner: { kind: 'a', level: 3, share: 0.5 },
  flag: true,
  list: ['y'],
  filled: [1],
  by: { one: 1 },
  maybe: null,
  limit: null,
  text: { en: 'yes' },
  mail: 'a@b.org',
}

/** Parsed JSON of one's own. */
const fresh = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const some = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.constantFrom<unknown>(
    0,
    1,
    6,
    0.5,
    -1,
    'a',
    'b',
    '',
    null,
    [],
    [''],
    {},
    { zh: 1 },
    1e308 * 10,
  ),
)

/** A thing with some keys exchanged, added or gone, at the top or within. */
const spoiled = fc
  .array(
    fc.record({
      within: fc.boolean(),
      key: fc.constantFrom(...Object.keys(plain), 'kind', 'level', 'share', 'other', '__proto__'),
      gone: fc.boolean(),
      value: some,
    }),
    { maxLength: 3 },
  )
  .map((changes) => {
    const thing = Object(fresh(plain))
    for (const { within, key, gone, value } of changes) {
      const at = within && typeof thing.inner === 'object' && thing.inner ? thing.inner : thing
      if (gone) delete at[key]
      else
        Object.defineProperty(at, key, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        })
    }
    return JSON.stringify(thing)
  })

describe('a quick reading', () => {
  test('of what is in order is not unsure, and makes what zod makes', () => {
    expect(quick(fresh(plain))).toEqual(Thing.parse(plain))
    const { flag, list, mail, ...least } = plain
    expect([flag, mail]).toEqual([true, 'a@b.org'])
    expect(quick(fresh(least))).toEqual({ ...Thing.parse(least), list: [] })
    expect(list).toEqual(['y'])
  })

  test('accepts nothing that zod refuses, and makes the same of what it accepts', () => {
    let sure = 0
    fc.assert(
      fc.property(spoiled, (text) => {
        const read = quick(JSON.parse(text))
        if (read === unsure) return
        sure += 1
        expect(Thing.safeParse(JSON.parse(text))).toEqual({ success: true, data: read })
      }),
      { numRuns: 2000 },
    )
    expect(sure).toBeGreaterThan(100)
  })

  test.each<[string, unknown]>([
    ['a key nobody knows', { ...plain, other: 1 }],
    ['a key nobody knows, within', { ...plain, inner: { ...plain.inner, other: 1 } }],
    ['a key that is missing', { ...plain, id: undefined }],
    ['another type', { ...plain, id: 3 }],
    ['a list for an object', { ...plain, text: [] }],
    ['an object for a list', { ...plain, list: {} }],
    ['null', { ...plain, inner: null }],
    ['too low a number', { ...plain, inner: { kind: 'a', level: 0 } }],
    ['a fraction', { ...plain, inner: { kind: 'a', level: 1.5 } }],
    [
      'a number at a bound it may not reach',
      { ...plain, inner: { kind: 'a', level: 1, share: 1 } },
    ],
    ['too short a text', { ...plain, id: '' }],
    ['too short a list', { ...plain, filled: [] }],
    ['a tag nobody knows', { ...plain, inner: { kind: 'd' } }],
    ['what its author refuses', { ...plain, text: {} }],
    ['another format', { ...plain, mail: 'nobody' }],
  ])('leaves %s to zod', (_, value) => {
    expect(quick(fresh(value))).toBe(unsure)
  })

  test('leaves a number that is no JSON number any more to zod', () => {
    const text = JSON.stringify({ ...plain, maybe: 0 }).replace('"maybe":0', '"maybe":1e999')
    expect(quick(JSON.parse(text))).toBe(unsure)
  })

  test('fills in a default anew for each', () => {
    const { list, ...rest } = plain
    const [one, two] = [quick(fresh(rest)), quick(fresh(rest))]
    Object(one).list.push('mine')
    expect([Object(two).list, list]).toEqual([[], ['y']])
  })
})
