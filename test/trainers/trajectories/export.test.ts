import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { afterAll, describe, expect, test } from 'vitest'
import { labelled } from '../../../src/agents/grammars/labelled.js'
import type { Episode } from '../../../src/episode.js'
import { Fault } from '../../../src/error.js'
import { readBody, sessionOptions } from '../../../src/server/options.js'
import type { SavedEpisode } from '../../../src/storage/episode-files.js'
import { episodeWriter } from '../../../src/storage/episode-files.js'
import type { ExportOptions } from '../../../src/trainers/trajectories/export.js'
import { exportTraining } from '../../../src/trainers/trajectories/export.js'
import { exportFormats } from '../../../src/trainers/trajectories/export-rows.js'
import { episodeTrajectories } from '../../../src/trainers/trajectories/trajectory.js'
import { trajectoryWriter } from '../../../src/trainers/trajectories/writer.js'
import { withSamples } from '../../fixtures/draws.js'
import { ask, diagnose, episodeOf, truthOf } from '../../fixtures/reward-episodes.js'

const folder = mkdtempSync(join(tmpdir(), 'bedside-exports-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const fresh = (format: string) => join(folder, `file-${files++}.${format}`)

const saved = (
  id: string,
  total: number | null | undefined,
  more: Partial<Episode> = {},
  group?: string,
): SavedEpisode => ({
  episode: episodeOf([ask(), diagnose('Common cold')], { id, ...more }),
  truth: truthOf(),
  ...(total === undefined ? {} : { score: { total, parts: {} } }),
  ...(group === undefined ? {} : { group }),
})

async function episodesFile(all: readonly SavedEpisode[], format = 'jsonl'): Promise<string> {
  const path = fresh(format)
  const writer = episodeWriter(path)
  for (const one of all) await writer.write(one)
  await writer.close()
  return path
}

type Row = Readonly<Record<string, unknown>>
const lines = (path: string): Row[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

const exported = async (
  options: Partial<ExportOptions> & Pick<ExportOptions, 'format' | 'files'>,
) => {
  const out = options.out ?? fresh('jsonl')
  const report = await exportTraining({ grammar: labelled(), out, ...options })
  return { report, rows: out.endsWith('.jsonl') ? lines(out) : [] }
}

describe('sft', () => {
  test('is the dialogue as the doctor read and wrote it, up to its last words', async () => {
    const unfinished = saved('b', 0, { turns: [ask()], stop: 'max-turns', end: 'truncated' })
    const none = saved('c', 0, { turns: [] })
    const path = await episodesFile([saved('a', 1), unfinished, none])
    const { report, rows } = await exported({ format: 'sft', files: [path] })
    expect(report).toMatchObject({ read: 3, written: 2, leftOut: { empty: 1 } })
    expect(rows.map(({ rollout_id, case_id, reward }) => [rollout_id, case_id, reward])).toEqual([
      ['a', 'case', 1],
      ['b', 'case', 0],
    ])
    expect(rows[0]?.messages).toEqual([
      { role: 'system', content: expect.stringContaining('10') },
      { role: 'user', content: expect.stringContaining('I cough.') },
      { role: 'assistant', content: 'Question: Do you?' },
      { role: 'user', content: expect.stringContaining('I do.') },
      { role: 'assistant', content: 'Diagnosis: Common cold' },
    ])
    expect(rows[1]?.messages).toHaveLength(3)
  })

  test('keeps rollouts of at least a reward, and the best of each group', async () => {
    const path = await episodesFile([
      saved('a', 0.2, {}, 'one'),
      saved('b', 0.9, {}, 'one'),
      saved('c', 0.9, {}, 'one'),
      saved('d', null, {}, 'two'),
      saved('e', -0.5, {}, 'two'),
      saved('f', undefined, {}, 'two'),
      // A group without a name is known by its case and seed.
      saved('g', 0.1, { seed: 5 }),
      saved('h', 0.3, { seed: 5 }),
    ])
    const ids = async (options: Partial<ExportOptions>) => {
      const { report, rows } = await exported({ format: 'sft', files: [path], ...options })
      const { leftOut, written } = report
      const left = Object.values(leftOut).reduce((sum, n) => sum + n, 0)
      expect(left + written).toBe(8)
      return [rows.map(({ rollout_id }) => rollout_id).join(''), leftOut]
    }
    const nothing = { unscored: 0, below: 0, beaten: 0, repeated: 0, empty: 0 }
    expect(await ids({})).toEqual(['abcdefgh', nothing])
    expect(await ids({ minReward: 0.3 })).toEqual(['bch', { ...nothing, unscored: 2, below: 3 }])
    expect(await ids({ bestOfGroup: true })).toEqual([
      'beh',
      { ...nothing, unscored: 2, beaten: 3 },
    ])
    expect(await ids({ bestOfGroup: true, minReward: 0.3 })).toEqual([
      'bh',
      { ...nothing, unscored: 2, below: 3, beaten: 1 },
    ])
  })

  test('tells rollouts of the same name in two files apart', async () => {
    const [low, high] = [saved('a', 0, {}, 'g'), saved('a', 1, {}, 'g')]
    const both = [await episodesFile([low]), await episodesFile([high], 'parquet')]
    const { rows } = await exported({ format: 'sft', files: both, bestOfGroup: true })
    expect(rows.map(({ reward }) => reward)).toEqual([1])
  })
})

describe('prompts', () => {
  test('are written once for all siblings of a group', async () => {
    const path = await episodesFile([
      saved('a', 1),
      saved('b', 0),
      saved('c', 0, { seed: 1 }),
      saved('d', 0, { language: 'zh' }),
    ])
    for (const format of ['prompts', 'verl', 'slime'] as const) {
      const { report, rows } = await exported({ format, files: [path] })
      expect(report).toMatchObject({ written: 3, leftOut: { repeated: 1 } })
      expect(rows[0]?.prompt).toEqual([
        { role: 'system', content: expect.any(String) },
        { role: 'user', content: expect.stringContaining('I cough.') },
      ])
    }
  })

  test('of verl have its columns, with the same struct in all rows', async () => {
    const path = await episodesFile([saved('a', 1), saved('b', 0, { seed: 9 })])
    const { rows } = await exported({ format: 'verl', files: [path] })
    expect(Object.keys(rows[1] ?? {})).toEqual([
      'prompt',
      'data_source',
      'ability',
      'reward_model',
      'extra_info',
      'agent_name',
    ])
    expect(rows[1]).toMatchObject({
      reward_model: { style: 'rule' },
      extra_info: { index: 1, split: 'train', case_id: 'case', seed: 9, language: 'en' },
    })
  })

  test("of verl name this package's agent loop and what it opens, or another loop", async () => {
    const path = await episodesFile([saved('a', 1, { seed: 9, language: 'zh' })])
    const { rows } = await exported({ format: 'verl', files: [path] })
    const [row] = rows as [{ agent_name: string; extra_info: { consultation: string } }]
    expect(row.agent_name).toBe('bedside')
    const opened = JSON.parse(row.extra_info.consultation)
    expect(opened).toEqual({ case_id: 'case', seed: 9, language: 'zh' })
    expect(readBody(sessionOptions, opened, 'options')).toEqual(opened)
    const other = await exported({ format: 'verl', files: [path], agentName: 'single_turn_agent' })
    expect(other.rows[0]).toMatchObject({ agent_name: 'single_turn_agent' })
  })

  test('hold the same in parquet as in JSON lines', async () => {
    const path = await episodesFile([saved('a', 1), saved('b', null, { seed: 9, language: 'zh' })])
    for (const format of exportFormats) {
      const { rows } = await exported({ format, files: [path] })
      const out = fresh('parquet')
      await exported({ format, files: [path], out })
      const read = await parquetReadObjects({ file: await asyncBufferFromFile(out), compressors })
      const plain = JSON.stringify(read, (_, value) =>
        typeof value === 'bigint' ? Number(value) : value,
      )
      expect(JSON.parse(plain)).toEqual(rows)
    }
  })
})

test('the diagnosis is in no text a policy reads, only where rewards look', async () => {
  const truth = truthOf()
  const secret = { id: 'zzsecret', name: { en: 'Zzsecretitis' }, aliases: ['zzalias'], codes: [] }
  const [dx] = truth.gold.dx
  if (!dx) throw new Error('Expected a diagnosis')
  const gold = {
    ...truth.gold,
    dx: [{ ...dx, ...secret }],
    recommendation: { en: 'Zzsecret rest.' },
  }
  const one = { ...saved('a', 1), truth: { ...truth, gold } }
  const [question] = one.episode.turns
  if (!question) throw new Error('Expected a turn')
  const facts = { ...question.facts, asked: ['zzsecret'], told: [] }
  const turns = [{ ...question, facts }, ...one.episode.turns.slice(1)]
  const path = await episodesFile([{ ...one, episode: { ...one.episode, turns } }])
  for (const format of exportFormats) {
    const { rows } = await exported({ format, files: [path] })
    const [row] = rows
    const { reward_model, label, ...rest } = row ?? {}
    expect(JSON.stringify(rest)).not.toMatch(/zz/i)
    if (format === 'verl') expect(JSON.stringify(reward_model)).toMatch(/Zzsecretitis.*zzalias/)
    if (format === 'slime') expect(label).toMatch(/Zzsecretitis.*zzalias/)
  }
})

describe('slime samples', () => {
  const sample = (prompt: readonly number[], tokens: readonly number[], policyVersion = 4) => ({
    prompt,
    tokens,
    logprobs: tokens.map((token) => -token / 8),
    policyVersion,
    temperature: 0.5,
    logprobMode: 'scaled' as const,
    stopReason: 'length' as const,
  })
  const [turn] = episodeOf([diagnose('flu')]).turns
  if (!turn) throw new Error('Expected a turn')
  const drawn = (id: string, ...samples: ReturnType<typeof sample>[]) =>
    episodeOf(
      withSamples(
        samples.map(() => turn),
        samples,
      ),
      { id },
    )
  const trajectoriesFile = async () => {
    const path = fresh('parquet')
    const writer = trajectoryWriter(path)
    const score = { total: 0.5, parts: {} }
    const forked = drawn('x', sample([1, 2], [3]), sample([9], [5, 6], 5))
    const grown = drawn('y', sample([1, 2], [3]), sample([1, 2, 3, 4], [5], 5))
    const unscored = drawn('z', sample([1], [2]))
    await writer.append(episodeTrajectories(forked, { groupId: 'g', score, advantage: 2, step: 1 }))
    await writer.append(episodeTrajectories(grown, { groupId: 'g', score, advantage: -2, step: 1 }))
    await writer.append(episodeTrajectories(unscored, { groupId: 'h' }))
    await writer.close()
    return path
  }

  test('keep tokens, mask, log-probs and what belongs together', async () => {
    const path = await trajectoriesFile()
    const { report, rows } = await exported({ format: 'slime', files: [path] })
    expect(report).toMatchObject({ from: 'trajectories', read: 4, written: 3 })
    expect(report.leftOut.unscored).toBe(1)
    expect(
      rows.map(({ index, rollout_id, group_index }) => [index, rollout_id, group_index]),
    ).toEqual([
      [0, 0, 0],
      [1, 0, 0],
      [2, 1, 0],
    ])
    expect(rows[2]).toEqual({
      group_index: 0,
      index: 2,
      rollout_id: 1,
      prompt: '',
      tokens: [1, 2, 3, 4, 5],
      response: '',
      response_length: 3,
      label: null,
      reward: 0.5,
      loss_mask: [1, 0, 1],
      weight_versions: ['4', '5'],
      rollout_log_probs: [-0.375, 0, -0.625],
      status: 'truncated',
      metadata: {
        rollout: 'y',
        group: 'g',
        segment_index: 0,
        segment_count: 1,
        case_id: 'case',
        agent: 'test',
        seed: 0,
        step: 1,
        advantage: -2,
        temperature: 0.5,
        logprob_mode: 'scaled',
      },
    })
  })

  test('of the best rollout are all of its segments', async () => {
    const { rows } = await exported({
      format: 'slime',
      files: [await trajectoriesFile()],
      bestOfGroup: true,
    })
    expect(rows.map(({ metadata }) => Object(metadata).rollout)).toEqual(['x', 'x'])
  })

  test('are refused where a format needs text, as parquet, and beside episodes', async () => {
    const path = await trajectoriesFile()
    for (const format of ['sft', 'prompts', 'verl'] as const)
      await expect(exported({ format, files: [path] })).rejects.toThrow(
        `${path}: expected saved episodes for the format ${format}`,
      )
    await expect(
      exported({ format: 'slime', files: [path], out: fresh('parquet') }),
    ).rejects.toThrow(/\*\.jsonl file for samples/)
    const episodes = await episodesFile([saved('a', 1)])
    await expect(exported({ format: 'slime', files: [episodes, path] })).rejects.toThrow(
      /files of one kind/,
    )
  })
})

test('what fails or is stopped leaves no file', async () => {
  const path = await episodesFile([saved('a', 1), saved('b', 1, { seed: 0.5 })])
  for (const format of ['jsonl', 'parquet']) {
    const before = readdirSync(folder)
    const out = fresh(format)
    await expect(exported({ format: 'verl', files: [path], out })).rejects.toThrow(
      /episode b: expected `seed` to be an integer, got `0.5`/,
    )
    const signal = AbortSignal.abort()
    await expect(exported({ format: 'sft', files: [path], out, signal })).rejects.toThrow()
    expect(existsSync(out)).toBe(false)
    expect(readdirSync(folder)).toEqual(before)
  }
  const nowhere = exported({ format: 'sft', files: [path], out: join(folder, 'no', 'a.jsonl') })
  await expect(nowhere).rejects.toSatisfy(Fault.is)
  await expect(exported({ format: 'sft', files: [path], out: 'a.csv' })).rejects.toThrow(/a\.csv/)
})

test('an export without rows is a file with its columns', async () => {
  const path = await episodesFile([saved('a', 0)])
  const out = fresh('parquet')
  const { report } = await exported({ format: 'verl', files: [path], out, minReward: 1 })
  expect(report.written).toBe(0)
  expect(await parquetReadObjects({ file: await asyncBufferFromFile(out), compressors })).toEqual(
    [],
  )
})
