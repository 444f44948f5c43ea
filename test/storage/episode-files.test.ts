import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tableFromArrays, tableToIPC } from 'apache-arrow'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { Table, WriterPropertiesBuilder, writeParquet } from 'parquet-wasm'
import { afterAll, describe, expect, test } from 'vitest'
import { type GraderView, graderView } from '../../src/case.js'
import type { Draw, Episode } from '../../src/episode.js'
import type { Part } from '../../src/reward.js'
import {
  countSavedEpisodes,
  episodeWriter,
  readLocatedEpisodes,
  readSavedEpisodes,
  type SavedEpisode,
} from '../../src/storage/episode-files.js'
import { toEpisodeRow } from '../../src/storage/episode-row.js'
import type { Action, Outcome, Stop } from '../../src/turn.js'
import { fc } from '../fixtures/property.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const folder = mkdtempSync(join(tmpdir(), 'bedside-episodes-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const fresh = (format: string) => join(folder, `file-${files++}.${format}`)

async function save(path: string, all: Iterable<SavedEpisode>): Promise<void> {
  const writer = episodeWriter(path)
  for (const saved of all) await writer.write(saved)
  await writer.close()
}
async function load(path: string): Promise<SavedEpisode[]> {
  const all: SavedEpisode[] = []
  for await (const saved of readSavedEpisodes(path)) all.push(saved)
  return all
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('发烧\u2028了', '\ud800', '"\n\r', ''),
)
const word = fc.constantFrom('fever', 'cough', 'cbc', '咳嗽')
const words = fc.array(word, { maxLength: 3 })
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0) // JSON has one zero
const id = fc.nat({ max: 150_000 })
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('ask' as const), text }),
  fc.record({ kind: fc.constant('order' as const), exam: text }),
  fc.record(
    { kind: fc.constant('diagnose' as const), diagnosis: text, recommendation: text },
    { requiredKeys: ['kind', 'diagnosis'] },
  ),
  fc.constant({ kind: 'give-up' as const }),
  fc.record({ kind: fc.constant('invalid' as const), text, why: text }),
)
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('answered' as const, 'examined' as const, 'rejected' as const),
    text,
  }),
  fc.constant({ kind: 'closed' as const }),
)
const draw: fc.Arbitrary<Draw> = fc.record(
  {
    role: fc.constantFrom('doctor', 'patient', 'examiner', 'judge'),
    policy: text,
    stream: fc.nat({ max: 3 }),
    heard: fc.array(id),
    tokens: fc.array(id),
    logprobs: fc.array(fc.float({ min: -20, max: 0, noNaN: true }).map((n) => n + 0)),
    policyVersion: fc.oneof(fc.nat(), fc.array(fc.nat())),
    temperature: fc.constantFrom(0, 0.7, 1),
    logprobMode: fc.constantFrom('scaled', 'raw'),
    stopReason: fc.constantFrom('stop', 'length'),
    usage: fc.record(
      { promptTokens: fc.nat(), completionTokens: fc.nat(), cost: finite },
      { requiredKeys: ['promptTokens', 'completionTokens'] },
    ),
  },
  {
    requiredKeys: [
      ...(['role', 'policy', 'stream', 'heard', 'tokens', 'logprobs', 'policyVersion'] as const),
      ...(['temperature', 'logprobMode', 'stopReason'] as const),
    ],
  },
)
const draws = fc.array(draw, { maxLength: 2 })
const facts = fc.record(
  {
    understood: fc.constantFrom('answered' as const, 'refused' as const, 'courtesy' as const),
    questions: fc.nat({ max: 4 }),
    asked: words,
    told: fc.array(fc.record({ finding: word, state: word }), { maxLength: 2 }),
    exams: words,
    money: finite,
    minutes: finite,
  },
  { requiredKeys: ['asked', 'told', 'exams', 'money', 'minutes'] },
)
const limit = fc.oneof(finite, fc.constant(Number.POSITIVE_INFINITY))
const stops: readonly Stop[] = ['diagnosed', 'gave-up', 'invalid-action', 'max-turns', 'budget']
const episode: fc.Arbitrary<Episode> = fc.record({
  id: text,
  caseId: text,
  seed: fc.nat({ max: 2 ** 32 - 1 }),
  agent: word,
  language: fc.constantFrom('zh' as const, 'en' as const),
  intake: fc.record({
    view: fc.constant('doctor' as const),
    demographics: fc.constant({ speaker: 'self' as const, age: { v: 3, unit: 'month' as const } }),
    complaint: fc.constantFrom({ zh: '发烧' }, { en: 'fever', zh: '发烧' }),
  }),
  turns: fc.array(
    fc.record(
      { action, outcome, facts, text, draws },
      { requiredKeys: ['action', 'outcome', 'facts'] },
    ),
    {
      maxLength: 4,
    },
  ),
  end: fc.constantFrom('terminated' as const, 'truncated' as const),
  stop: fc.constantFrom(...stops),
  maxTurns: fc.nat(),
  spent: fc.record({ money: finite, minutes: finite }),
  budget: fc.record({ money: limit, minutes: limit }),
})
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record(
    { status: fc.constant('ok' as const), value: finite, evidence: text },
    { requiredKeys: ['status', 'value'] },
  ),
  fc.record({ status: fc.constant('unavailable' as const), reason: text }),
  fc.constant({ status: 'not-applicable' as const }),
)
const truth: fc.Arbitrary<GraderView> = fc
  .record({
    name: fc.constantFrom('a', 'b'),
    credit: fc.double({ min: 0, max: 1, noNaN: true }).map((n) => n + 0),
    advice: fc.constantFrom({ zh: '休息' }, { en: 'rest' }),
  })
  .map(({ name, credit, advice }) => {
    const view = graderView(tinyCase(name))
    const acceptable = [{ id: 'cold', name: { en: 'Cold' }, aliases: [], codes: [], credit }]
    return { ...view, gold: { ...view.gold, acceptable, recommendation: advice } }
  })
const saved: fc.Arbitrary<SavedEpisode> = fc.record(
  {
    episode,
    truth,
    score: fc
      .record({
        total: fc.oneof(finite, fc.constant(null)),
        parts: fc.dictionary(word, part, { maxKeys: 3, noNullPrototype: true }),
      })
      .chain((score) =>
        fc
          .option(fc.array(finite), { nil: undefined })
          .map((turns) => (turns ? { ...score, turns } : score)),
      ),
    // A column of text, which a lone surrogate is not; inside the JSON columns it is kept.
    group: fc.string({ unit: 'grapheme' }),
    step: fc.nat(),
  },
  { requiredKeys: ['episode', 'truth'] },
)
const [plain] = fc.sample(saved, { numRuns: 1, seed: 7 }) as [SavedEpisode]
const named = (name: string, rest: Partial<Episode> = {}): SavedEpisode => ({
  ...plain,
  episode: { ...plain.episode, id: name, ...rest },
})

describe.each(['jsonl', 'parquet'])('a %s file', (format) => {
  test('gives back exactly what was written, in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(saved, { maxLength: 5 }), async (all) => {
        const path = fresh(format)
        await save(path, all)
        expect(await load(path)).toEqual(all)
      }),
      { numRuns: 60 },
    )
  })

  test('holds many batches, whether or not the writer is waited for', async () => {
    const all = Array.from({ length: 2345 }, (_, n) => named(`e${n}`))
    const path = fresh(format)
    const writer = episodeWriter(path)
    for (const one of all) void writer.write(one)
    await writer.close()
    const ids = (await load(path)).map((one) => one.episode.id)
    expect(ids).toEqual(all.map((one) => one.episode.id))
  })

  test('of no episodes is a file of no episodes', async () => {
    const path = fresh(format)
    await save(path, [])
    expect(await load(path)).toEqual([])
  })

  test('has its name only when it is closed, and closing twice is closing once', async () => {
    const path = fresh(format)
    writeFileSync(path, 'what was there before')
    const writer = episodeWriter(path)
    await writer.write(plain)
    expect(readFileSync(path, 'utf8')).toBe('what was there before')
    await writer.close()
    await writer.close()
    expect(await load(path)).toEqual([plain])
    await expect(writer.write(plain)).rejects.toThrow(TypeError)
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
  })

  test('refuses a number that is none, and keeps what it had', async () => {
    const path = fresh(format)
    const writer = episodeWriter(path)
    await writer.write(plain)
    const spent = { money: Number.NaN, minutes: 0 }
    await expect(writer.write(named('bad', { spent }))).rejects.toThrow(
      /episode bad: expected `money` to be a finite number, got NaN/,
    )
    await writer.close()
    expect(await load(path)).toEqual([plain])
  })

  test('that is given up leaves nothing behind, at any time', async () => {
    const before = readdirSync(folder).sort()
    for (const count of [0, 1, 1500]) {
      const path = fresh(format)
      const writer = episodeWriter(path)
      for (let n = 0; n < count; n++) await writer.write(named(`e${n}`))
      await writer.discard()
      await writer.discard()
      expect(readdirSync(folder).sort()).toEqual(before)
      await expect(writer.write(plain)).rejects.toThrow(TypeError)
    }
    const path = fresh(format)
    const writer = episodeWriter(path)
    await writer.write(plain)
    await writer.close()
    await writer.discard()
    expect(await load(path)).toEqual([plain])
  })

  test('says how many episodes there are, and where each stands', async () => {
    const path = fresh(format)
    await save(path, [named('1'), named('2')])
    expect(await countSavedEpisodes(path)).toBe(2)
    const places: string[] = []
    for await (const { where, saved } of readLocatedEpisodes(path))
      places.push(`${saved.episode.id} ${where}`)
    const place = (n: number) => (format === 'jsonl' ? `${path}:${n}` : `${path}: row ${n}`)
    expect(places).toEqual([`1 ${place(1)}`, `2 ${place(2)}`])
  })

  test('in a folder that is not there is bad input', async () => {
    const path = join(folder, 'absent', `a.${format}`)
    const failed = { code: 'bad-input', message: expect.stringContaining(path) }
    await expect(save(path, [plain])).rejects.toMatchObject(failed)
    await expect(load(path)).rejects.toMatchObject(failed)
  })
})

test('a folder is read whole, in the order of its names, without what is still being written', async () => {
  const run = mkdtempSync(join(folder, 'run-'))
  await save(join(run, 'b.jsonl'), [named('2'), named('3')])
  await save(join(run, 'a.parquet'), [named('1')])
  await save(join(run, 'c.parquet'), [named('4')])
  writeFileSync(join(run, 'd.parquet.partial'), 'half')
  writeFileSync(join(run, 'notes.txt'), 'no')
  expect((await load(run)).map((one) => one.episode.id)).toEqual(['1', '2', '3', '4'])
  expect(await countSavedEpisodes(run)).toBe(4)
})

describe('a file of the first version', () => {
  const first = fileURLToPath(new URL('../golden/format-1/episodes.parquet', import.meta.url))

  test('is read, its samples as draws', async () => {
    const all = await load(first)
    expect(all.map(({ episode }) => episode.id)).toEqual(['1/0/0', '1/0/1'])
    for (const { episode } of all) {
      const draws = episode.turns.flatMap((turn) => turn.draws ?? [])
      expect(draws.length).toBe(episode.turns.length)
      expect(draws.map(({ role, policy, stream }) => [role, policy, stream])).toEqual(
        draws.map(() => ['doctor', 'embedded', 0]),
      )
      expect(JSON.stringify(episode)).not.toContain('"sample"')
    }
  })

  test('is written again as the second', async () => {
    const path = fresh('jsonl')
    const all = await load(first)
    await save(path, all)
    expect(readFileSync(path, 'utf8')).toContain('"schema":"bedside-episodes/2"')
    expect(await load(path)).toEqual(all)
  })
})

describe('a file that is wrong says where', () => {
  const line = (change: (value: Record<string, unknown>) => void) => {
    const value = { schema: 'bedside-episodes/2', ...JSON.parse(JSON.stringify(plain)) }
    value.episode.budget = { money: null, minutes: 3 }
    change(value)
    return JSON.stringify(value)
  }
  const right = line(() => {})
  test.each<[string, string, RegExp]>([
    [
      'a field of another type',
      line((v) => Object.assign(v.episode as object, { maxTurns: 'ten' })),
      /:2: episode\.maxTurns: .*number/,
    ],
    ['an unknown field', line((v) => Object.assign(v, { extra: 1 })), /:2: .*extra/],
    ['a missing truth', line((v) => delete v.truth), /:2: truth: /],
    [
      'another version',
      line((v) => Object.assign(v, { schema: 'bedside-episodes/9' })),
      /:2: expected schema bedside-episodes\/2, got bedside-episodes\/9: a newer version .* install that/,
    ],
    [
      'an older version',
      line((v) => Object.assign(v, { schema: 'bedside-episodes/0' })),
      /:2: expected schema bedside-episodes\/2, got bedside-episodes\/0: an older version .*bedside evaluate/,
    ],
    [
      'lines of something else',
      line((v) => Object.assign(v, { schema: 'bedside-case/1' })),
      /:2: expected schema bedside-episodes\/2, got bedside-case\/1: it holds no saved episodes/,
    ],
    ['another JSON', '[1]', /:2: expected schema bedside-episodes\/2, got none/],
    ['a line that breaks off', right.slice(0, 40), /:2: .*JSON/],
  ])('%s', async (_, wrong, message) => {
    const path = fresh('jsonl')
    writeFileSync(path, `${right}\n${wrong}\n`)
    const failed = { code: 'bad-input', message: expect.stringMatching(message) }
    await expect(load(path)).rejects.toMatchObject(failed)
    await expect(load(path)).rejects.toThrow(path)
  })

  test('lines in another encoding, and a JSON array in the place of lines', async () => {
    const path = fresh('jsonl')
    writeFileSync(path, Buffer.concat([Buffer.from(`${right}\n`), Buffer.from([0x7b, 0xff])]))
    await expect(load(path)).rejects.toMatchObject({
      code: 'bad-input',
      message: `${path}: expected UTF-8, got byte 0xff at offset ${Buffer.byteLength(right) + 2}`,
    })
    writeFileSync(path, `[${right}]`)
    await expect(load(path)).rejects.toMatchObject({
      code: 'bad-input',
      message: `${path}: expected JSON lines (one episode a line), got a JSON array; \`jq -c '.[]' ${path}\` turns it into lines`,
    })
  })

  test('a parquet file of something else', async () => {
    const path = fresh('parquet')
    const table = Table.fromIPCStream(tableToIPC(tableFromArrays({ id: ['a'] }), 'stream'))
    writeFileSync(path, writeParquet(table))
    await expect(load(path)).rejects.toMatchObject({
      code: 'bad-input',
      message: `${path}: expected schema bedside-episodes/2, got none: it holds no saved episodes`,
    })
  })

  test('a parquet file of an older version', async () => {
    const path = fresh('parquet')
    const table = Table.fromIPCStream(tableToIPC(tableFromArrays({ id: ['a'] }), 'stream'))
    const metadata = new Map([['bedside', 'bedside-episodes/0']])
    const properties = new WriterPropertiesBuilder().setKeyValueMetadata(metadata).build()
    writeFileSync(path, writeParquet(table, properties))
    await expect(load(path)).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(
        /file-\d+\.parquet: .*got bedside-episodes\/0: an older version/,
      ),
    })
  })

  test('a parquet file that breaks off, or is text', async () => {
    const path = fresh('parquet')
    await save(path, [plain])
    const bytes = readFileSync(path)
    for (const broken of [
      bytes.subarray(0, bytes.length - 20),
      Buffer.from('hello'),
      Buffer.alloc(0),
    ]) {
      writeFileSync(path, broken)
      await expect(load(path)).rejects.toMatchObject({
        code: 'bad-input',
        message: expect.stringContaining(path),
      })
    }
  })

  test('a name of another format, an empty folder', async () => {
    expect(() => episodeWriter('episodes.csv')).toThrow(/named \*\.jsonl or \*\.parquet/)
    const empty = mkdtempSync(join(folder, 'empty-'))
    await expect(load(empty)).rejects.toThrow(/found none/)
  })
})

test('siblings share a case that is kept once, and read back alike', async () => {
  const [one, many] = [fresh('parquet'), fresh('parquet')]
  await save(one, [named('0')])
  await save(
    many,
    Array.from({ length: 500 }, (_, n) => named(`${n}`)),
  )
  const truthBytes = async (path: string) => {
    const file = await asyncBufferFromFile(path)
    const [group] = (await parquetMetadataAsync(file)).row_groups
    const column = group?.columns.find(({ meta_data: meta }) => meta?.path_in_schema[0] === 'truth')
    return Number(column?.meta_data?.total_uncompressed_size)
  }
  expect(await truthBytes(many)).toBeLessThan(2 * (await truthBytes(one)))
  const read = await load(many)
  expect(read.map(({ episode }) => episode.id)).toEqual(
    Array.from({ length: 500 }, (_, n) => `${n}`),
  )
  expect(read.at(-1)?.truth).toEqual(plain.truth)
})

test('a parquet file from before there were scores by turn is read', async () => {
  const path = fresh('parquet')
  const row = toEpisodeRow({ ...plain, score: { total: 1, parts: {} } })
  const columns = { total: [1], parts: ['{}'], episode: [row.episode], truth: [row.truth] }
  const table = Table.fromIPCStream(tableToIPC(tableFromArrays(columns), 'stream'))
  const metadata = new Map([['bedside', 'bedside-episodes/2']])
  const properties = new WriterPropertiesBuilder().setKeyValueMetadata(metadata).build()
  writeFileSync(path, writeParquet(table, properties))
  const { episode, truth } = plain
  expect(await load(path)).toEqual([{ episode, truth, score: { total: 1, parts: {} } }])
})

test('other tools see flat columns, zstd row groups and the schema name', async () => {
  const path = fresh('parquet')
  const turns: Episode['turns'] = [
    {
      action: { kind: 'ask', text: 'Any fever?' },
      outcome: { kind: 'answered', text: 'Yes.' },
      facts: { asked: [], told: [], exams: [], money: 0, minutes: 0 },
    },
    {
      action: { kind: 'diagnose', diagnosis: 'Flu', recommendation: 'Rest.' },
      outcome: { kind: 'closed' },
      facts: { asked: [], told: [], exams: [], money: 0, minutes: 0 },
    },
  ]
  const one = named('e', { turns, caseId: 'c', seed: 4_000_000_000, stop: 'diagnosed' })
  const score = { total: 0.5, parts: { accuracy: { status: 'ok', value: 1 } } } as const
  const unscored = { score: { total: null, parts: {} } }
  await save(path, [
    ...Array.from({ length: 1000 }, () => ({ ...one, score, group: 'g', step: 3 })),
    { ...one, ...unscored },
  ])
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  expect(metadata.row_groups.map((group) => Number(group.num_rows))).toEqual([1000, 1])
  expect(metadata.row_groups[0]?.columns[0]?.meta_data?.codec).toBe('ZSTD')
  expect(metadata.key_value_metadata).toContainEqual({
    key: 'bedside',
    value: 'bedside-episodes/2',
  })
  const rows = await parquetReadObjects({ file, metadata, compressors })
  expect(rows[0]).toMatchObject({
    id: 'e',
    case_id: 'c',
    seed: 4_000_000_000,
    stop: 'diagnosed',
    total: 0.5,
    group: 'g',
    step: 3,
    turns: [
      { action: 'ask', text: 'Any fever?', outcome: 'answered', reply: 'Yes.' },
      { action: 'diagnose', text: 'Flu\nRest.', outcome: 'closed', reply: '' },
    ],
  })
  expect(rows[1000]).toMatchObject({ total: null, parts: '{}' })
})
