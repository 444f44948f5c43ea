import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Case } from '../../src/case.js'
import { Fault } from '../../src/error.js'
import { readCases, streamCases, writeCases } from '../../src/storage/case-files.js'
import { caseSchema } from '../../src/storage/case-schema.js'
import { fc } from '../fixtures/property.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-files-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const caseOf = (id: string, complaint = 'It hurts'): Case =>
  caseSchema.parse({
    schema: 'bedside-case/1',
    id,
    provenance: { source: 'test', license: 'CC0-1.0', synthetic: true, redistributable: true },
    demographics: { sex: 'F' },
    chiefComplaint: { text: { en: complaint }, findings: [] },
    findings: [{ id: 'pain', kind: 'symptom', state: 'present', knownBy: 'patient' }],
    exams: [],
    examDefault: 'normal',
    gold: { dx: [{ id: 'cold', name: { en: 'cold' }, role: 'primary' }] },
  })
const fileOf = async (name: string, text: string | Uint8Array): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}
const messageFrom = async (path: string): Promise<string> => {
  const error = await readCases(path).catch((thrown: unknown) => thrown)
  if (!Fault.is(error) || error.code !== 'bad-input')
    throw new Error(`expected a bad-input Fault, got ${error}`)
  return error.message
}
const line = (id: string): string => JSON.stringify(caseOf(id))

describe('a case file', () => {
  test('reads back what was written, in order', async () => {
    const path = join(folder, 'round.jsonl')
    const texts = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== '')
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(texts, { minLength: 1, maxLength: 8 }), async (ids) => {
        const cases = ids.map((id) => caseOf(id, id))
        expect(await writeCases(path, cases)).toBe(cases.length)
        expect(await readCases(path)).toEqual(cases)
      }),
      { numRuns: 30 },
    )
  })

  test.each(['gz', 'br'])(
    'is packed where its name ends in .%s, and read all the same',
    async (end) => {
      const path = join(folder, `packed.jsonl.${end}`)
      const cases = Array.from({ length: 300 }, (_, n) => caseOf(`packed-${n}`))
      await writeCases(path, cases)
      expect((await readFile(path)).length).toBeLessThan(20_000)
      expect(await readCases(path)).toEqual(cases)
    },
  )

  test.each(['gz', 'br'])(
    'that is no .%s though its name says so is refused by name',
    async (end) => {
      const path = await fileOf(`plain.jsonl.${end}`, `${line('a')}\n`)
      expect(await messageFrom(path)).toContain(path)
    },
  )

  test('may have blank lines, a byte order mark and Windows line ends', async () => {
    const path = await fileOf('blank.jsonl', `\uFEFF${line('a')}\r\n\r\n   \n${line('b')}`)
    expect((await readCases(path)).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  test('streams one case at a time and can be left in the middle', async () => {
    const path = await fileOf('stream.jsonl', `${line('a')}\nnot read\n`)
    for await (const { id } of streamCases(path)) {
      expect(id).toBe('a')
      break
    }
    expect(await messageFrom(path)).toContain(':2: not JSON')
  })

  test('is written from a generator and read as a stream, 5,000 lines of it', async () => {
    const path = join(folder, 'many.jsonl')
    const make = function* () {
      for (let n = 0; n < 5_000; n++) yield caseOf(`case-${n}`, `complaint ${n}`)
    }
    expect(await writeCases(path, make())).toBe(5_000)
    let read = 0
    for await (const truth of streamCases(path))
      if (truth.chiefComplaint.text.en === `complaint ${read}`) read++
    expect(read).toBe(5_000)
  })
})

describe('a broken case file is refused with file, line, path, what was expected and what was found', () => {
  test('a line that is not JSON', async () => {
    const path = await fileOf('json.jsonl', `${line('a')}\n\n{"schema": \n`)
    expect(await messageFrom(path)).toContain(
      `${path}:3: not JSON, expected a case, got "{\\"schema\\":"`,
    )
  })

  test.each([
    ['a wrong type', { id: 7 }, 'not a case at id, expected string, got 7'],
    ['a missing field', { gold: {} }, 'not a case at gold.dx, expected array, got nothing'],
    [
      'an unknown word',
      { examDefault: 'no' },
      'not a case at examDefault, expected "normal" or "unavailable" or "simulate", got "no"',
    ],
    ['an empty text', { id: '' }, 'not a case at id, expected at least 1, got ""'],
    [
      'a number too large',
      { noise: { deny: 2 } },
      'not a case at noise.deny, expected at most 1, got 2',
    ],
    [
      'a text in no language',
      { chiefComplaint: { text: {}, findings: [] } },
      'not a case at chiefComplaint.text, expected a zh or an en text, got {}',
    ],
    [
      'another schema',
      { schema: 'case/2' },
      'not a case at schema, expected "bedside-case/1", got "case/2"',
    ],
  ])('%s', async (_what, change, message) => {
    const path = await fileOf(
      'wrong.jsonl',
      `${line('a')}\n${JSON.stringify({ ...caseOf('b'), ...change })}\n`,
    )
    expect(await messageFrom(path)).toBe(`${path}:2: ${message}`)
  })

  test('a line that holds something else altogether', async () => {
    const path = await fileOf('number.jsonl', '5\n')
    expect(await messageFrom(path)).toBe(
      `${path}:1: not a case at the whole line, expected object, got 5`,
    )
  })

  test.each([
    ['on one line', '[{"id":"a"},{"id":"b"}]'],
    ['over many lines', '\n [\n  {"id":"a"}\n]\n'],
    ['that breaks off', '[{"id":'],
    ['after a byte order mark', '\uFEFF[]'],
  ])('a JSON array %s, named as one, with what turns it into lines', async (_, text) => {
    const path = await fileOf('array.jsonl', text)
    const message = (file: string, command: string) =>
      `${file}: expected JSON lines (one case a line), got a JSON array; \`${command}\` turns it into lines`
    expect(await messageFrom(path)).toBe(message(path, `jq -c '.[]' ${path}`))
    const packed = await fileOf('array.jsonl.gz', gzipSync(text))
    expect(await messageFrom(packed)).toBe(message(packed, `gzip -dc ${packed} | jq -c '.[]'`))
    const collecting = async () => {
      for await (const _ of streamCases(path, { onBroken: () => {} })) expect.unreachable()
    }
    await expect(collecting()).rejects.toThrow('got a JSON array')
  })

  test.each<[string, (bytes: Buffer) => Uint8Array]>([
    ['jsonl', (bytes) => bytes],
    ['jsonl.gz', gzipSync],
    ['jsonl.br', brotliCompressSync],
  ])('a *.%s that is not UTF-8, with the offset of the byte', async (end, pack) => {
    const good = Buffer.from(`${line('fièvre')}\n`)
    const latin = Buffer.from(`${line('fièvre')}\n`, 'latin1')
    const path = await fileOf(`latin.${end}`, pack(Buffer.concat([good, latin])))
    const offset = good.length + latin.indexOf(0xe8)
    expect(await messageFrom(path)).toBe(
      `${path}: expected UTF-8, got byte 0xe8 at offset ${offset}`,
    )
    const wide = await fileOf(`wide.${end}`, pack(Buffer.from(`\uFEFF${line('a')}`, 'utf16le')))
    expect(await messageFrom(wide)).toContain(`${wide}: expected UTF-8, got UTF-16`)
  })

  test('one id twice, with both lines', async () => {
    const path = await fileOf('twice.jsonl', `${line('a')}\n${line('b')}\n\n${line('a')}\n`)
    expect(await messageFrom(path)).toBe(
      `${path}:4: a second case at id, expected an id of its own, got "a", which line 1 has`,
    )
  })

  test('an empty file, a missing file and a folder', async () => {
    expect(await messageFrom(await fileOf('empty.jsonl', '\n \n'))).toContain('got an empty file')
    expect(await messageFrom(join(folder, 'none.jsonl'))).toContain('none.jsonl: ENOENT')
    expect(await messageFrom(folder)).toContain('expected a file, got a folder')
  })

  test('all broken lines can be collected instead, and the whole ones read', async () => {
    const path = await fileOf('some.jsonl', `${line('a')}\n{}\n${line('b')}\n${line('a')}\n`)
    const broken: number[] = []
    const ids: string[] = []
    for await (const { id } of streamCases(path, { onBroken: ({ line }) => broken.push(line) }))
      ids.push(id)
    expect({ ids, broken }).toEqual({ ids: ['a', 'b'], broken: [2, 4] })
  })
})

describe('writing', () => {
  test('leaves the old file whole and nothing beside it when it fails half way', async () => {
    const inside = await mkdtemp(join(folder, 'half-'))
    const path = join(inside, 'cases.jsonl')
    await writeCases(path, [caseOf('old')])
    const failing = function* () {
      yield caseOf('new')
      throw new TypeError('no more')
    }
    await expect(writeCases(path, failing())).rejects.toThrow(new TypeError('no more'))
    expect(await readFile(path, 'utf8')).toBe(`${line('old')}\n`)
    expect(await readdir(inside)).toEqual(['cases.jsonl'])
  })

  test('to a folder that does not exist is a fault that names the path', async () => {
    const path = join(folder, 'no', 'such', 'cases.jsonl')
    const error = await writeCases(path, [caseOf('a')]).catch((thrown: unknown) => thrown)
    expect(Fault.is(error) && [error.code, error.message]).toEqual([
      'bad-input',
      expect.stringContaining(`${path}: cannot be written: ENOENT`),
    ])
  })
})
