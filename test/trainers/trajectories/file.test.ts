import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tableFromArrays, tableToIPC } from 'apache-arrow'
import { Table, WriterPropertiesBuilder, writeParquet } from 'parquet-wasm'
import { afterAll, describe, expect, test } from 'vitest'
import type { TokenSegment } from '../../../src/batch.js'
import { episodeWriter } from '../../../src/storage/episode-files.js'
import { readTrajectories, trajectoryInfo } from '../../../src/trainers/trajectories/reader.js'
import type { Trajectory } from '../../../src/trainers/trajectories/trajectory.js'
import { episodeTrajectories } from '../../../src/trainers/trajectories/trajectory.js'
import { trajectoryWriter } from '../../../src/trainers/trajectories/writer.js'
import { withSamples } from '../../fixtures/draws.js'
import { fc } from '../../fixtures/property.js'
import { diagnose, episodeOf } from '../../fixtures/reward-episodes.js'

const folder = mkdtempSync(join(tmpdir(), 'bedside-trajectories-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const fresh = () => join(folder, `file-${files++}.parquet`)

async function load(path: string): Promise<Trajectory[]> {
  const all: Trajectory[] = []
  for await (const one of readTrajectories(path)) all.push(one)
  return all
}

/** A segment of four tokens, two of them drawn. */
const segment = (more: Partial<TokenSegment> = {}): TokenSegment => ({
  rolloutId: '1/0/0',
  groupId: '1/0',
  tokens: Int32Array.of(5, 6, 7, 8),
  promptLength: 1,
  mask: Uint8Array.of(1, 0, 1),
  logprobs: Float32Array.of(-0.5, 0, -0.25),
  advantages: Float32Array.of(1, 0, 1),
  policyVersions: Int32Array.of(2, -1, 2),
  temperature: 1,
  logprobMode: 'scaled',
  stopReason: 'stop',
  ...more,
})
const row = (more: Partial<Trajectory> = {}): Trajectory => ({
  segment: segment(),
  index: 0,
  count: 1,
  caseId: 'easy-train-0-1',
  agent: 'embedded',
  seed: 7,
  ...more,
})

/** Floats of 32 bits by their bits, so that subnormals and both zeros come up. */
const float32 = fc
  .oneof(fc.integer(), fc.constantFrom(0, -(2 ** 31), 1, -(2 ** 31) + 1, 0x007fffff))
  .map((bits) => Float32Array.from(new Float32Array(Int32Array.of(bits).buffer))[0] ?? 0)
  .filter(Number.isFinite)
const int32 = fc.oneof(fc.integer(), fc.nat({ max: 160_000 }), fc.constantFrom(2 ** 31 - 1))
const name = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('发烧/0', '👩‍⚕️', '\u0000', 'a\u2028b', ''),
)
const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
const arrayOf = (item: fc.Arbitrary<number>, length: number) =>
  fc.array(item, { minLength: length, maxLength: length })

const anySegment: fc.Arbitrary<TokenSegment> = fc
  .tuple(fc.integer({ min: 1, max: 20 }), fc.oneof(fc.constant(0), fc.nat({ max: 40 })))
  .chain(([promptLength, response]) => {
    const floats = arrayOf(float32, response).map((list) => Float32Array.from(list))
    return fc.record(
      {
        rolloutId: name,
        groupId: name,
        tokens: arrayOf(int32, promptLength + response).map((list) => Int32Array.from(list)),
        promptLength: fc.constant(promptLength),
        mask: arrayOf(fc.nat({ max: 1 }), response).map((list) => Uint8Array.from(list)),
        logprobs: floats,
        oldLogprobs: floats,
        refLogprobs: floats,
        advantages: floats,
        policyVersions: arrayOf(fc.integer({ min: -1, max: 9 }), response).map((list) =>
          Int32Array.from(list),
        ),
        temperature: finite,
        logprobMode: fc.constantFrom('scaled' as const, 'raw' as const),
        stopReason: fc.constantFrom('stop' as const, 'length' as const),
      },
      {
        requiredKeys: [
          'rolloutId',
          'groupId',
          'tokens',
          'promptLength',
          'mask',
          'logprobs',
          'advantages',
          'policyVersions',
          'temperature',
          'logprobMode',
          'stopReason',
        ],
      },
    )
  })
const anyRow: fc.Arbitrary<Trajectory> = fc.record(
  {
    segment: anySegment,
    index: fc.nat({ max: 3 }),
    count: fc.integer({ min: 4, max: 9 }),
    caseId: name,
    agent: name,
    seed: fc.maxSafeInteger().map((n) => n + 0),
    step: fc.nat(),
    score: fc.record({
      total: fc.option(finite),
      parts: fc.dictionary(
        name.filter((key) => key !== '__proto__'),
        fc.oneof(
          // JSON has one zero.
          fc.record({ status: fc.constant('ok' as const), value: finite.map((n) => n + 0) }),
          fc.record({ status: fc.constant('unavailable' as const), reason: name }),
          fc.constant({ status: 'not-applicable' as const }),
        ),
        { noNullPrototype: true },
      ),
    }),
  },
  { requiredKeys: ['segment', 'index', 'count', 'caseId', 'agent', 'seed'] },
)

/** The bits of every typed array of a segment, which `toEqual` would compare by value. */
const bits = ({ segment }: Trajectory) =>
  Object.values(segment).map((value) =>
    ArrayBuffer.isView(value)
      ? [
          value.constructor.name,
          ...new Uint8Array(value.buffer, value.byteOffset, value.byteLength),
        ]
      : value,
  )

describe('a file of trajectories', () => {
  test('gives back every bit of every segment, in order, across row groups', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyRow, { maxLength: 6 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 5 }),
        async (batches, rowGroupRows) => {
          const path = fresh()
          const writer = trajectoryWriter(path, { rowGroupRows })
          for (const batch of batches) await writer.append(batch)
          await writer.close()
          const [read, written] = [await load(path), batches.flat()]
          expect(read).toEqual(written)
          expect(read.map(bits)).toEqual(written.map(bits))
          const info = await trajectoryInfo(path)
          expect(info.rows).toBe(written.length)
          expect(info.rowGroups).toBeGreaterThanOrEqual(Math.ceil(written.length / rowGroupRows))
          expect(info.byPolicyVersion.reduce((sum, { drawn }) => sum + drawn, 0)).toBe(
            written.flatMap(({ segment: { mask } }) => [...mask]).filter(Boolean).length,
          )
        },
      ),
      { numRuns: 60 },
    )
  }, 60_000)

  test('holds what an episode was drawn as', async () => {
    const sample = {
      prompt: [1, 2],
      tokens: [3],
      logprobs: [-0.5],
      policyVersion: 4,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: 'stop',
    } as const
    const [turn] = episodeOf([diagnose('flu')]).turns
    if (!turn) throw new Error('Expected a turn')
    const later = { ...sample, prompt: [9, 9, 9], tokens: [5, 6], logprobs: [-1, -2] }
    const episode = episodeOf(withSamples([turn, turn], [sample, later]))
    const score = { total: 0.5, parts: {} }
    const all = episodeTrajectories(episode, { groupId: 'g', advantage: 2, step: 3, score })
    expect(all.map(({ index, count }) => [index, count])).toEqual([
      [0, 2],
      [1, 2],
    ])
    const path = fresh()
    const writer = trajectoryWriter(path)
    await writer.append(all)
    await writer.append([row({ segment: segment({ policyVersions: Int32Array.of(2, -1, 5) }) })])
    await writer.close()
    expect((await load(path)).slice(0, 2)).toEqual(all)
    expect(await trajectoryInfo(path)).toEqual({
      schema: 'bedside-trajectories/2',
      rows: 3,
      rowGroups: 1,
      rollouts: 2,
      tokens: 12,
      drawn: 5,
      mixed: 1,
      meanReward: 0.5,
      byPolicyVersion: [
        { policyVersion: 4, segments: 2, tokens: 8, drawn: 3 },
        { policyVersion: 5, segments: 1, tokens: 4, drawn: 2 },
      ],
    })
  })

  test('has row groups of bounded size, whatever is appended at once', async () => {
    const path = fresh()
    const writer = trajectoryWriter(path, { rowGroupRows: 10, rowGroupTokens: 20 })
    await writer.append(Array.from({ length: 40 }, () => row()))
    await writer.close()
    expect((await trajectoryInfo(path)).rowGroups).toBeGreaterThanOrEqual(4)
    expect(await load(path)).toHaveLength(40)
  })
})

describe('the writer', () => {
  const refused: readonly [string, Partial<Trajectory>, RegExp][] = [
    [
      'log-probs of another length than the mask',
      { segment: segment({ logprobs: Float32Array.of(1, 2) }) },
      /segments\[1\] of rollout 1\/0\/0: expected logprobs of length 3, got 2/,
    ],
    [
      'a mask of another length than the response',
      { segment: segment({ mask: Uint8Array.of(1) }) },
      /segments\[1\].*mask of length 3, got 1/,
    ],
    [
      'reference log-probs of another length',
      { segment: segment({ refLogprobs: new Float32Array(4) }) },
      /refLogprobs of length 3, got 4/,
    ],
    [
      'a log-prob that is not a number',
      { segment: segment({ logprobs: Float32Array.of(0, 0, Number.NaN) }) },
      /finite logprobs, got NaN at token 2/,
    ],
    [
      'a mask of twos',
      { segment: segment({ mask: Uint8Array.of(1, 2, 0) }) },
      /mask.*`2` at token 1/,
    ],
    ['half of a surrogate pair', { caseId: 'a\ud800' }, /well-formed `caseId`/],
    ['an index past its count', { index: 1 }, /`index` .* below its `count` 1, got `1`/],
    ['a seed that is no integer', { seed: 0.5 }, /`seed` to be a safe integer, got `0.5`/],
    ['a step that is none', { step: -1 }, /`step` to be a whole number, got `-1`/],
    [
      'a reward that is not a number',
      { score: { total: Number.NaN, parts: {} } },
      /finite `total`, got `NaN`/,
    ],
    [
      'a part that is not a number',
      { score: { total: 1, parts: { a: { status: 'ok', value: Number.POSITIVE_INFINITY } } } },
      /finite value of the part `a`, got `Infinity`/,
    ],
  ]
  for (const [what, wrong, message] of refused)
    test(`refuses ${what} before anything is written`, async () => {
      const path = fresh()
      const writer = trajectoryWriter(path)
      await expect(writer.append([row(), row(wrong)])).rejects.toThrow(message)
      await expect(writer.append([row(), row(wrong)])).rejects.toThrow(RangeError)
      await writer.append([row()])
      await writer.close()
      expect(await load(path)).toEqual([row()])
    })

  test('leaves nothing behind when it is aborted, however much was written', async () => {
    const before = readdirSync(folder)
    const path = fresh()
    const none = trajectoryWriter(path)
    await none.abort()
    const some = trajectoryWriter(path, { rowGroupRows: 2 })
    for (let n = 0; n < 9; n++) await some.append([row()])
    expect(readdirSync(folder)).not.toEqual(before)
    await some.abort()
    {
      await using left = trajectoryWriter(path, { rowGroupRows: 1 })
      await left.append([row()])
    }
    expect(readdirSync(folder)).toEqual(before)
    await expect(some.append([row()])).rejects.toThrow(/open writer/)
    // The library works on after an abort.
    const next = trajectoryWriter(path)
    await next.append([row()])
    await next.close()
    await next.abort()
    expect(await load(path)).toEqual([row()])
  })

  test('keeps the file that was there until it is closed', async () => {
    const path = fresh()
    await writeFile(path, 'before')
    const writer = trajectoryWriter(path, { rowGroupRows: 1 })
    await writer.append([row()])
    expect(await readFile(path, 'utf8')).toBe('before')
    await writer.close()
    expect(await load(path)).toEqual([row()])
  })

  test('says which place cannot be written, and which name is wrong', async () => {
    const nowhere = join(folder, 'none', 'file.parquet')
    const writer = trajectoryWriter(nowhere, { rowGroupRows: 1 })
    await expect(writer.append([row()])).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining(nowhere),
    })
    await expect(writer.close()).rejects.toMatchObject({ code: 'bad-input' })
    expect(() => trajectoryWriter('a.json')).toThrow(/\*\.parquet, got `a\.json`/)
  })
})

describe('the reader', () => {
  const withSchema = async (path: string, schema: string) => {
    const table = Table.fromIPCStream(
      tableToIPC(tableFromArrays({ tokens: Int32Array.of(1) }), 'stream'),
    )
    const properties = new WriterPropertiesBuilder()
      .setKeyValueMetadata(new Map([['bedside', schema]]))
      .build()
    await writeFile(path, writeParquet(table, properties))
  }

  test('reads the first version, which knew of no roles', async () => {
    const path = fileURLToPath(
      new URL('../../golden/format-1/trajectories.parquet', import.meta.url),
    )
    expect(await trajectoryInfo(path)).toMatchObject({ schema: 'bedside-trajectories/1', rows: 2 })
    const [first] = await load(path)
    expect(first?.segment).toMatchObject({ promptLength: 7, stopReason: 'stop' })
    expect([first?.segment.role, first?.segment.policy]).toEqual([undefined, undefined])
  })

  test('refuses another version, and says which it found and which it expected', async () => {
    const path = fresh()
    await withSchema(path, 'bedside-trajectories/3')
    for (const read of [load, trajectoryInfo])
      await expect(read(path)).rejects.toMatchObject({
        code: 'bad-input',
        message: `${path}: expected a file of trajectories with schema bedside-trajectories/1 or bedside-trajectories/2, got bedside-trajectories/3`,
      })
  })

  test('refuses saved episodes, files that are none, and files cut short', async () => {
    const episodes = fresh()
    const saved = episodeWriter(episodes)
    await saved.close()
    await expect(load(episodes)).rejects.toThrow(/got bedside-episodes\/2/)
    await expect(load(join(folder, 'none.parquet'))).rejects.toMatchObject({ code: 'bad-input' })
    const path = fresh()
    const writer = trajectoryWriter(path)
    await writer.append([row()])
    await writer.close()
    const whole = await readFile(path)
    await writeFile(path, whole.subarray(0, whole.length - 40))
    await expect(load(path)).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining(path),
    })
  })
})
