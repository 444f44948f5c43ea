import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bedside, document } from '../terminal.js'
import { abortedAfterStep, few, reportOf, small, trainingFlags, weights } from './small-run.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-loops-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('train, by other loops', () => {
  const quick = [...small, '--steps', '6', '--set', 'training.evaluateEvery=3']
  const other = (algorithm: string) => [
    ...[...few, '--steps', '6'],
    ...trainingFlags('evaluateEvery=3', `algorithm=${algorithm}`),
  ]

  test('fine-tunes on an oracle, well above where it began', async () => {
    const out = join(folder, 'sft')
    const report = await reportOf([
      ...['train', ...other('sft'), '--steps', '12', '--cases', '60', '--out', out],
      ...trainingFlags('sft.cases=120'),
    ])
    expect(report.heldOut.accuracy.mean).toBeGreaterThan((report.before.accuracy.mean ?? 1) + 0.2)
    expect(report.groups.drawn).toBe(0)
    expect(report.samples.used).toBeGreaterThan(100)
  })

  test('never fine-tunes on held-out cases, whatever the file of demonstrations holds', async () => {
    const out = join(folder, 'taught')
    await document(['train', ...quick, '--steps', '2', '--out', out])
    const held = join(out, 'episodes', 'held-out.parquet')
    const sft = [...other('sft'), ...trainingFlags(`sft.demonstrations=${held}`)]
    const { code, stderr } = await bedside(['train', ...sft, '--out', join(folder, 'peeking')])
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/demonstration/)
  })

  test('goes on from where fine-tuning ended, held to it by a penalty', async () => {
    const sft = join(folder, 'first')
    await document(['train', ...other('sft'), '--out', sft])
    const out = join(folder, 'second')
    const report = await reportOf([
      ...['train', ...quick, '--out', out],
      ...['--set', `init=${join(sft, 'checkpoints', 'step-000006')}`],
      ...['--set', 'training.loss.kl={coefficient: 0.1}'],
    ])
    expect(report.before.accuracy.mean).toBe(
      JSON.parse(await readFile(join(sft, 'report.json'), 'utf8')).heldOut.accuracy.mean,
    )
    const metrics = await readFile(join(out, 'metrics.jsonl'), 'utf8')
    expect(metrics).toContain('"klReference":')

    const nowhere = join(folder, 'nowhere')
    const { code, stderr } = await bedside([
      ...['train', ...quick, '--out', nowhere, '--set', `init=${join(folder, 'no-checkpoint')}`],
    ])
    expect(code).not.toBe(0)
    expect(stderr).toContain('no-checkpoint')
    expect(existsSync(nowhere)).toBe(false)
  })

  test('makes PPO steps with a critic, the same when resumed', async () => {
    const ppo = [...other('ppo'), ...trainingFlags('ppo.episodesPerStep=16')]
    const whole = join(folder, 'ppo-whole')
    const report = await reportOf(['train', ...ppo, '--out', whole])
    expect(report.samples.used).toBe(6 * 16)
    const out = join(folder, 'ppo-stopped')
    const { code } = await bedside(['train', ...ppo, '--out', out], {
      signal: abortedAfterStep(join(out, 'metrics.jsonl'), 2),
    })
    expect(code).toBe(130)
    await document(['train', '--resume', out])
    expect(await weights(out, 6)).toEqual(await weights(whole, 6))
  })

  test('ends early where nothing is gained, and stays ended when resumed', async () => {
    const out = join(folder, 'early')
    // So small that no logit moves: in a policy that knows nothing, the least move would choose among equals.
    const still = 'training.adam.learningRate=1e-30'
    const report = await reportOf([
      ...['train', ...small, '--steps', '20', '--out', out, '--set', 'training.evaluateEvery=1'],
      ...['--set', still, '--set', 'training.earlyStop.patience=2'],
    ])
    expect(report.steps).toBe(2)
    expect(report.best.step).toBe(0)
    const again = await reportOf(['train', '--resume', out])
    expect({ ...again, timing: 0 }).toEqual({ ...report, timing: 0 })
  })

  test('refuses what would have no effect under another algorithm, and begins nothing', async () => {
    const out = join(folder, 'idle')
    const argv = ['train', ...small, '--set', 'training.algorithm=sft', '--out', out]
    const { code, stderr } = await bedside(argv)
    expect(code).toBe(2)
    expect(stderr).toContain(
      'training.groupSize: has no effect under algorithm `sft` (it belongs to grpo), got `4`',
    )
    expect(stderr).not.toContain('training.ppo')
    expect(existsSync(out)).toBe(false)
  })

  test('keeps trajectories that can be counted and exported', async () => {
    const out = join(folder, 'kept')
    await document(['train', ...quick, '--out', out, '--set', 'training.episodesEvery=3'])
    const file = join(out, 'trajectories', 'step-000003.parquet')
    const info = await document(['trajectories', 'info', file])
    expect(info).toMatchObject({ schema: 'bedside-trajectories/2', rows: 16, mixed: 0 })
    const sft = join(folder, 'sft.jsonl')
    const flags = ['--format', 'sft', '--best-of-group', '--out', sft]
    const made = Object(await document(['trajectories', 'export', out, ...flags]))
    const lines = (await readFile(sft, 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(made.written)
    // Two steps of four groups of four; the held-out episodes beside them are nobody's to learn from.
    expect(made.read).toBe(32)
    expect(Object.keys(JSON.parse(lines[0]!))).toContain('messages')
  })
})
