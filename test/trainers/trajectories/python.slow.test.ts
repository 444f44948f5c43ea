/** What the libraries that exports are made for load from them; each needs its environment. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { labelled } from '../../../src/agents/grammars/labelled.js'
import { episodeWriter } from '../../../src/storage/episode-files.js'
import { exportTraining } from '../../../src/trainers/trajectories/export.js'
import { exportFormats } from '../../../src/trainers/trajectories/export-rows.js'
import type { Trajectory } from '../../../src/trainers/trajectories/trajectory.js'
import { episodeTrajectories } from '../../../src/trainers/trajectories/trajectory.js'
import { trajectoryWriter } from '../../../src/trainers/trajectories/writer.js'
import { drawnTurn } from '../../fixtures/draws.js'
import { pythonOf } from '../../fixtures/python.js'
import { ask, diagnose, episodeOf, truthOf } from '../../fixtures/reward-episodes.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const script = join(root, 'test/python/load_exports.py')
let folder: string
afterAll(() => rm(folder, { recursive: true }))

/** What Python loaded; skips the test where the environment is not there. */
async function loaded(name: string, { skip }: TestContext) {
  const python = pythonOf(name)
  const missing = `.venvs/${name} is not there: scripts/python-env.sh ${name}`
  if (python === undefined) {
    console.warn(`Skipped: ${missing}`)
    return skip(missing)
  }
  const env = {
    ...process.env,
    HF_HUB_OFFLINE: '1',
    HF_HOME: join(folder, 'home'),
    TORCH_COMPILE_DISABLE: '1',
  }
  const { stdout } = await promisify(execFile)(python, [script, name, folder], {
    env,
    maxBuffer: 1e8,
  })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}

type Row = Readonly<Record<string, unknown>>
async function linesOf(name: string): Promise<Row[]> {
  const text = await readFile(join(folder, `${name}.jsonl`), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const sample = (drawn: readonly number[], policyVersion: number) => ({
  prompt: [1, 2, 3],
  tokens: drawn.map((_, n) => 10 + n),
  logprobs: drawn,
  policyVersion,
  temperature: 1,
  logprobMode: 'scaled' as const,
  stopReason: policyVersion > 1 ? ('length' as const) : ('stop' as const),
})

const kept: Trajectory[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-python-'))
  const path = join(folder, 'episodes.jsonl')
  const tokens = join(folder, 'trajectories.parquet')
  const writer = episodeWriter(path)
  for (const [n, total] of [0.25, null, 1].entries()) {
    const [asked, told] = [ask(), diagnose(n === 2 ? '流感 🤧' : 'Influenza')]
    // The smallest subnormal, a negative zero, and a number that no float holds.
    const turns = [asked, drawnTurn(told, sample([-1.401298464324817e-45, -0, -0.1], n))]
    const language = n === 2 ? 'zh' : 'en'
    const episode = episodeOf(turns, { id: `1/0/${n}`, seed: n + 2 ** 31, language })
    const score = { total, parts: { a: { status: 'ok' as const, value: n } } }
    await writer.write({ episode, truth: truthOf(), score })
    kept.push(...episodeTrajectories(episode, { groupId: '1/0', step: 1, advantage: n, score }))
  }
  await writer.close()
  const store = trajectoryWriter(tokens, { rowGroupRows: 2 })
  await store.append(kept)
  await store.close()
  const grammar = labelled()
  for (const format of exportFormats)
    for (const kind of ['jsonl', 'parquet']) {
      const out = join(folder, `${format}.${kind}`)
      await exportTraining({ format, files: [path], out, grammar, agentName: 'bedside' })
    }
  const out = join(folder, 'samples.jsonl')
  await exportTraining({ format: 'slime', files: [tokens], out, grammar })
})

describe('exports', () => {
  test('are loaded by datasets, DuckDB and pyarrow as they were written', async (context) => {
    const { trajectories, ...found } = await loaded('data', context)
    for (const format of exportFormats) {
      const rows = await linesOf(format)
      expect(rows).toHaveLength(3)
      const same = { datasets: rows, datasets_jsonl: rows, duckdb: rows, pyarrow: rows }
      expect(found[format]).toEqual(same)
    }
    expect(trajectories.file_metadata).toBe('bedside-trajectories/2')
    expect(trajectories.duckdb_metadata).toEqual([['bedside-trajectories/2']])
    expect(trajectories.types).toMatchObject({
      rollout_id: 'string',
      seed: 'int64',
      step: 'int32',
      reward: 'double',
      tokens: expect.stringMatching(/^list<\w+: int32/),
      mask: expect.stringMatching(/^list<\w+: uint8/),
      logprobs: expect.stringMatching(/^list<\w+: float/),
    })
    expect(trajectories.datasets).toEqual(trajectories.rows)
    expect(trajectories.rows).toEqual(
      kept.map(({ segment, seed, score }) =>
        expect.objectContaining({
          rollout_id: segment.rolloutId,
          seed,
          reward: score?.total,
          tokens: [...segment.tokens],
          mask: [...segment.mask],
          policy_versions: [...segment.policyVersions],
          old_logprobs: null,
        }),
      ),
    )
    expect(trajectories.logprob_bits).toEqual(
      kept.map(({ segment: { logprobs } }) => [...new Uint32Array(logprobs.buffer)]),
    )
    expect(trajectories.by_version).toEqual([
      [0, 1, 6, 3, 3],
      [1, 1, 6, 3, 3],
      [2, 1, 6, 3, 3],
    ])
  }, 120_000)

  test("are loaded by verl's RLHFDataset", async (context) => {
    const { parquet, jsonl } = await loaded('verl', context)
    const rows = await linesOf('verl')
    const expected = rows.map(({ prompt, ability: _, ...row }, index) => ({
      ...row,
      raw_prompt: prompt,
      index,
    }))
    expect(parquet).toEqual(expected)
    expect(jsonl).toEqual(expected)
  }, 240_000)

  test('are prepared and trained on by TRL', async (context) => {
    const { learnt, loss, asked } = await loaded('trl', context)
    const rows = await linesOf('sft')
    expect(learnt).toEqual(
      rows.map(({ messages }) =>
        Object.values(Object(messages))
          .map(Object)
          .filter(({ role }) => role === 'assistant')
          .map(({ content }) => `${content}<|end|>`)
          .join(''),
      ),
    )
    expect(loss).toBeGreaterThan(0)
    const prompts = await linesOf('prompts')
    expect(asked.length).toBeGreaterThan(0)
    for (const [prompt, case_id, seed, language] of asked)
      expect(prompts).toContainEqual({ prompt, case_id, seed, language })
  }, 240_000)

  test("give slime's Sample no field that it has not, and lists of the length it checks", async () => {
    const file = new URL('../../golden/slime-sample.json', import.meta.url)
    const contract = JSON.parse(await readFile(file, 'utf8'))
    const samples = await linesOf('samples')
    expect(samples).toHaveLength(2)
    for (const sample of samples) {
      expect(Object.keys(contract.fields)).toEqual(expect.arrayContaining(Object.keys(sample)))
      expect(contract.status).toContain(sample.status)
      expect(sample.loss_mask).toHaveLength(Number(sample.response_length))
      expect(sample.rollout_log_probs).toHaveLength(Number(sample.response_length))
    }
  })

  // Slime is no package: where no checkout is named there is nothing to load with, and no test.
  if (process.env.BEDSIDE_SLIME)
    test("are loaded by slime's data set and Sample", async (context) => {
      const { prompts, samples } = await loaded('slime', context)
      const rows = await linesOf('slime')
      const expected = rows.map(({ prompt, label, metadata }) => [
        `${Object.values(Object(prompt))
          .map(Object)
          .map(({ role, content }) => `<|${role}|>${content}<|end|>`)
          .join('')}<|assistant|>`,
        label,
        metadata,
      ])
      if (!prompts.parquet) console.warn('Left out: slime reads parquet where pyarrow is installed')
      expect(prompts).toEqual({
        jsonl: expected,
        ...(prompts.parquet ? { parquet: expected } : {}),
      })
      const written = await linesOf('samples')
      // The rollout without a reward is no sample.
      expect(samples).toEqual(
        [0, 2].map((n, i) => ({
          back: {
            tokens: [1, 2, 3, 10, 11, 12],
            loss_mask: [1, 1, 1],
            rollout_log_probs: written[i]?.rollout_log_probs,
            status: n === 2 ? 'truncated' : 'completed',
          },
          status: n === 2 ? 'TRUNCATED' : 'COMPLETED',
          drawn: 3,
          whole: true,
          rollout: [i, i, i, kept[n]?.score?.total],
        })),
      )
    }, 240_000)
})
