import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExportFlags } from '../../../src/cli/commands/trajectories.js'
import { exportTrajectories, showTrajectoryInfo } from '../../../src/cli/commands/trajectories.js'
import { episodeWriter } from '../../../src/storage/episode-files.js'
import { episodeTrajectories } from '../../../src/trainers/trajectories/trajectory.js'
import { trajectoryWriter } from '../../../src/trainers/trajectories/writer.js'
import { withSamples } from '../../fixtures/draws.js'
import { ask, diagnose, episodeOf, truthOf } from '../../fixtures/reward-episodes.js'

let folder: string
let episodes: string
let trajectories: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-cli-trajectories-'))
  await mkdir(join(folder, 'run', 'episodes'), { recursive: true })
  episodes = join(folder, 'run', 'episodes', 'step-1.jsonl')
  trajectories = join(folder, 'trajectories.parquet')
  const saved = episodeWriter(episodes)
  const kept = trajectoryWriter(trajectories)
  for (const [n, total] of [0.25, 0.75].entries()) {
    const sample = {
      prompt: [1, 2, 3],
      tokens: [4, 5],
      logprobs: [-1, -2],
      policyVersion: n,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: 'stop',
    } as const
    const turns = withSamples([ask(), diagnose('Influenza')], [sample])
    const episode = episodeOf(turns, { id: `1/0/${n}` })
    const score = { total, parts: {} }
    await saved.write({ episode, truth: truthOf(), score, group: '1/0', step: 1 })
    await kept.append(episodeTrajectories(episode, { groupId: '1/0', score, step: 1 }))
  }
  await Promise.all([saved.close(), kept.close()])
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs a command's work with streams that remember what was written. */
async function ran(work: (terminal: Parameters<typeof exportTrajectories>[2]) => Promise<number>) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await work({
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: {},
    signal: new AbortController().signal,
  })
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}
const exported = (files: readonly string[], flags: ExportFlags) =>
  ran((terminal) => exportTrajectories(files, flags, terminal))

describe('trajectories export', () => {
  test("takes a run's folder, and says what it left out", async () => {
    const out = join(folder, 'sft.jsonl')
    const files = [join(folder, 'run')]
    const { code, stdout } = await exported(files, { format: 'sft', out, bestOfGroup: true })
    expect(code).toBe(0)
    expect(stdout).toMatch(/episodes read +2\n +beaten by a sibling +1\nrows written +1\n/)
    const [line = ''] = (await readFile(out, 'utf8')).split('\n')
    expect(JSON.parse(line)).toMatchObject({ rollout_id: '1/0/1', reward: 0.75 })
  })

  test("says which agent loop plays verl's rows", async () => {
    const files = [join(folder, 'run')]
    for (const agentName of [undefined, 'single_turn_agent']) {
      const out = join(folder, 'verl.jsonl')
      const flags = { format: 'verl', out, ...(agentName && { agentName }) } as const
      const { stdout } = await exported(files, flags)
      const name = agentName ?? 'bedside'
      expect(stdout).toMatch(new RegExp(`played by the agent loop +${name}\n`))
      expect(JSON.parse((await readFile(out, 'utf8')).split('\n')[0] ?? '').agent_name).toBe(name)
    }
  })

  test('--json prints the report and nothing else', async () => {
    const out = join(folder, 'samples.jsonl')
    const flags = { format: 'slime', out, minReward: 0.5, json: true } as const
    const { stdout, stderr } = await exported([trajectories], flags)
    expect(JSON.parse(stdout)).toEqual({
      format: 'slime',
      out,
      from: 'trajectories',
      read: 2,
      written: 1,
      leftOut: { unscored: 0, below: 1, beaten: 0, repeated: 0, empty: 0 },
    })
    expect(stderr).toMatch(/trajectories read +2/)
  })

  test('does not write over what it reads', async () => {
    const before = await readFile(episodes, 'utf8')
    await expect(exported([episodes], { format: 'sft', out: episodes })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('another file'),
    })
    expect(await readFile(episodes, 'utf8')).toBe(before)
  })

  test('names a file that is not there, and leaves none', async () => {
    const out = join(folder, 'none.parquet')
    const gone = join(folder, 'gone.jsonl')
    await expect(exported([gone], { format: 'verl', out })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining(gone),
    })
    expect(existsSync(out)).toBe(false)
  })
})

describe('trajectories info', () => {
  test('counts rows and tokens by the policy version that drew them', async () => {
    const { code, stdout } = await ran((terminal) => showTrajectoryInfo(trajectories, {}, terminal))
    expect(code).toBe(0)
    expect(stdout).toContain('bedside-trajectories/2')
    expect(stdout).toMatch(/10, 4 of them drawn/)
    expect(stdout).toMatch(/policy version +segments +tokens +drawn\n0 +1 +5 +2\n1 +1 +5 +2\n/)
  })

  test('--json prints the same as a document', async () => {
    const flags = { json: true }
    const { stdout } = await ran((terminal) => showTrajectoryInfo(trajectories, flags, terminal))
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'bedside-trajectories/2',
      rows: 2,
      rollouts: 2,
      tokens: 10,
      drawn: 4,
      meanReward: 0.5,
      byPolicyVersion: [{ policyVersion: 0 }, { policyVersion: 1 }],
    })
  })
})
