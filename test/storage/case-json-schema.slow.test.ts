import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import type { Case } from '../../src/case.js'
import { doctorView, examinerView, graderView, patientView } from '../../src/case.js'
import { leaks } from '../../src/cases/leaks/leak.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { dials } from '../../src/persona.js'
import { streamCases } from '../../src/storage/case-files.js'
import { caseJsonSchema, caseSchema } from '../../src/storage/case-schema.js'
import { make } from '../../src/tasks/registry.js'
import { fc } from '../fixtures/property.js'
import { fieldsOf, type SchemaNode, sampleOf } from '../fixtures/schema-fields.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const schema: SchemaNode = Object(caseJsonSchema())
const accepts = new Ajv2020({ strict: true, strictRequired: false }).compile(Object(schema))
const page = readFileSync(path('docs/case-format.md'), 'utf8')

/** A case with everything in it that a case may have: a finding of the patient's and one of an examination. */
function wholeCase(): Case {
  const sample = Object(sampleOf(schema))
  const [finding] = sample.findings
  sample.persona = { anxious: 1 }
  sample.biography = { job: { zh: '上班。', en: 'I work.' } }
  sample.findings = [finding, { ...finding, id: 'other', knownBy: 'exam' }]
  return caseSchema.parse(sample)
}

describe('the JSON Schema of a case, in the eyes of ajv', () => {
  test.each(readdirSync(path('data/cases')).filter((name) => name.endsWith('.jsonl.br')))(
    'accepts %s',
    async (name) => {
      let count = 0
      for await (const truth of streamCases(path(`data/cases/${name}`))) {
        count++
        expect(accepts(truth), JSON.stringify(accepts.errors)).toBe(true)
      }
      expect(count).toBe(200)
    },
  )

  test('says what it is, and describes every field', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:bedside:case:1',
      title: 'Bedside case',
    })
    const silent = fieldsOf(schema).filter(({ description }) => description === '')
    expect(silent).toEqual([])
  })

  test('lets what has a default be left out, and nothing else that is needed', () => {
    const { noise: _, persona: __, ...rest } = tinyCase()
    expect([accepts(rest), caseSchema.safeParse(rest).success]).toEqual([true, true])
    const { examDefault: ___, ...broken } = rest
    expect([accepts(broken), caseSchema.safeParse(broken).success]).toEqual([false, false])
  })

  test('refuses and accepts what zod does, whatever is done to a case', async () => {
    const whole: unknown = JSON.parse(JSON.stringify(wholeCase()))
    expect(accepts(whole)).toBe(true)
    const anything = fc.oneof(
      fc.constantFrom<unknown>(undefined, null, true, '', 'x', -1, 0, 0.5, 4, 131, 2 ** 53),
      fc.constantFrom<unknown>([], [1], [''], {}, { zh: '' }, { en: 'a' }, { anxious: 4 }),
    )
    const places = [...placesIn(whole)]
    await fc.assert(
      fc.property(fc.constantFrom(...places), anything, (place, value) => {
        const changed = withValue(whole, place, value)
        expect(accepts(changed), place.join('.')).toBe(caseSchema.safeParse(changed).success)
      }),
      { numRuns: 2000 },
    )
  })
})

type Place = readonly (string | number)[]

/** Every place in a value that something else can be put into. */
function* placesIn(value: unknown, place: Place = []): Generator<Place> {
  if (place.length > 0) yield place
  if (typeof value !== 'object' || value === null) return
  const keys: readonly (string | number)[] = Array.isArray(value)
    ? [...value.keys()]
    : Object.keys(value)
  for (const key of keys) yield* placesIn(Reflect.get(value, key), [...place, key])
}

/** A copy with another value in one place; undefined removes what was there. */
function withValue(whole: unknown, place: Place, value: unknown): unknown {
  const copy: unknown = structuredClone(whole)
  const parent = place.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(Object(at), key), copy)
  const key = place.at(-1) as string | number // no place is empty
  if (value === undefined && !Array.isArray(parent)) Reflect.deleteProperty(Object(parent), key)
  else Reflect.set(Object(parent), key, value ?? null)
  return copy
}

const views = {
  doctor: doctorView,
  patient: patientView,
  examiner: examinerView,
  grader: graderView,
}

const plain = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (inner instanceof Map ? [...inner] : inner))

/** Another value of the same type. */
const other = (value: unknown): unknown => {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  return value === 'patient' ? 'exam' : `${value}?`
}

/** Whose view of a case changes with a field. */
function readersOf(field: string): string[] {
  const whole = wholeCase()
  const own = [...placesIn(whole)].filter((place) => {
    const name = place.map((key) => (typeof key === 'number' ? '[]' : `.${key}`)).join('')
    return `${name}.`.startsWith(`.${field}.`) || name.startsWith(`.${field}[`)
  })
  const changed = own.reduce<unknown>((all, place) => {
    const value = place.reduce<unknown>((at, key) => Reflect.get(Object(at), key), whole)
    return typeof value === 'object' ? all : withValue(all, place, other(value))
  }, whole)
  return Object.entries(views).flatMap(([name, view]) =>
    plain(view(changed as Case)) === plain(view(whole)) ? [] : [name],
  )
}

describe('docs/case-format.md', () => {
  test('has a row for every field, with its type, its default, its meaning and who sees it', () => {
    const rows = fieldsOf(schema).map(({ path: field, type, default: left, description }) => {
      const seen = readersOf(field).join(', ') || 'no one'
      return `| \`${field}\` | ${type} | ${left} | ${description} | ${seen} |`
    })
    const missing = rows.filter((row) => !page.includes(`\n${row}\n`))
    expect(missing, missing.join('\n')).toEqual([])
    const written = page.split('\n').filter((line) => line.startsWith('| `'))
    expect(written.filter((line) => !rows.includes(line) && !isDial(line))).toEqual([])
  })

  const isDial = (line: string) =>
    Object.entries(dials).some(([dial, what]) => line === `| \`${dial}\` | ${what} |`)

  test('has a row for every dial of a persona', () => {
    for (const [dial, what] of Object.entries(dials))
      expect(page).toContain(`\n| \`${dial}\` | ${what} |\n`)
  })

  const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]): unknown =>
    JSON.parse(`${text}`),
  )

  test('has a case with something to find out, and nothing that gives it away', async () => {
    const truth = caseSchema.parse(blocks[1])
    expect(leaks(truth, loadKnowledge())).toEqual([])
    const env = make('consultation', { cases: [truth] })
    await env.reset()
    const { observation } = await env.step({ kind: 'ask', text: 'Do you have to pee often?' })
    expect(observation.turns[0]?.outcome).toMatchObject({ kind: 'answered' })
    const { info } = await env.step({ kind: 'order', exam: 'urine dipstick' })
    expect(info.facts).toMatchObject({ told: [{ finding: 'urine-white-cells', state: 'present' }] })
    const last = await env.step({ kind: 'diagnose', diagnosis: 'bladder infection' })
    expect(last.info.score?.parts.diagnosis).toMatchObject({ status: 'ok', value: 1 })
  })

  test('has examples that are cases, the smallest of which can lose nothing', () => {
    expect(blocks).toHaveLength(2)
    const [smallest, fuller] = blocks
    for (const example of [smallest, fuller]) {
      expect(accepts(example), JSON.stringify(accepts.errors)).toBe(true)
      expect(caseSchema.safeParse(example).success).toBe(true)
    }
    for (const place of placesIn(smallest)) {
      if (place.some((key) => typeof key === 'number') && place.at(-1) === 0) continue
      const less = withValue(smallest, place, undefined)
      expect(accepts(less), place.join('.')).toBe(false)
    }
  })
})
