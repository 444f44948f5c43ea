import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bedside, document } from '../terminal.js'
import { abortedAfterStep, small, weights } from './small-run.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-train-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('train', () => {
  test('fills a run directory, and its report is the document', async () => {
    const out = join(folder, 'run')
    const report = await document(['train', ...small, '--steps', '3', '--out', out])
    expect(report).toEqual({
      backend: 'embedded',
      recipe: 'custom',
      seed: 0,
      steps: 3,
      policyVersion: 3,
      heldOut: expect.objectContaining({ agent: 'embedded', split: 'heldout', cases: 8 }),
      before: expect.objectContaining({ agent: 'embedded', cases: 8 }),
      groups: {
        drawn: 12,
        formed: 12,
        zeroVariance: expect.any(Number),
        dropped: 0,
        reasons: { lost: 0, stale: 0, singleton: 0, tooFewScored: 0 },
      },
      samples: { used: expect.any(Number), stale: 0, unavailable: 0, forks: 0 },
      checkpoint: join(out, 'checkpoints', 'step-000003'),
      best: {
        step: expect.any(Number),
        accuracy: expect.any(Number),
        checkpoint: join(out, 'checkpoints', 'best'),
      },
      timing: { seconds: expect.any(Number) },
    })
    expect(JSON.parse(await readFile(join(out, 'report.json'), 'utf8'))).toEqual(report)
    expect((await readdir(out)).sort()).toEqual([
      'attempts.jsonl',
      'checkpoints',
      'config.yaml',
      'curves.png',
      'curves.svg',
      'episodes',
      'metrics.jsonl',
      'report.json',
      'trajectories',
    ])
  })

  test('prints the table and where everything is', async () => {
    const out = join(folder, 'shown')
    const argv = [
      'train',
      ...small,
      '--steps',
      '2',
      '--out',
      out,
      '--set',
      'showConsultations=true',
    ]
    const { code, stdout } = await bedside(argv)
    expect(code).toBe(0)
    expect(stdout).toMatch(/floor \(random\) +before +after +ceiling \(oracle\) +normalised/)
    for (const text of [join(out, 'curves.png'), join(out, 'checkpoints', 'step-000002')])
      expect(stdout).toContain(text)
    expect(stdout).toMatch(/── Before training|No held-out case was got right/)
  })

  test('stopped by Ctrl-C and resumed, makes the same weights and metrics as one that was not', async () => {
    const whole = join(folder, 'whole')
    await document(['train', ...small, '--steps', '6', '--out', whole])

    const out = join(folder, 'stopped')
    const { code, stderr } = await bedside(['train', ...small, '--steps', '6', '--out', out], {
      signal: abortedAfterStep(join(out, 'metrics.jsonl'), 3),
    })
    expect(code).toBe(130)
    expect(stderr).toContain(`npx bedside train --resume ${out}`)
    expect((await readdir(join(out, 'checkpoints'))).sort()).toEqual(['best', 'step-000003'])

    await document(['train', '--resume', out])
    expect(await weights(out, 6)).toEqual(await weights(whole, 6))
    const curve = async (run: string) =>
      (await readFile(join(run, 'metrics.jsonl'), 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => ({ ...JSON.parse(line), seconds: 0 }))
    expect(await curve(out)).toEqual(await curve(whole))
  })

  test('its checkpoint is evaluated in its own world, and refused in another', async () => {
    const out = join(folder, 'judged')
    const report = await document(['train', ...small, '--steps', '2', '--out', out])
    const again = await document(['evaluate', '--agent', out])
    const { heldOut } = report as { heldOut: object }
    expect(again).toMatchObject({ ...heldOut, agent: out })
    const folderOfStep = join(out, 'checkpoints', 'step-000002')
    expect(await document(['consult', '--agent', folderOfStep])).toMatchObject({
      agent: folderOfStep,
    })

    const other = await bedside(['evaluate', '--agent', out, '--lang', 'zh'])
    expect(other.code).toBe(2)
    expect(other.stderr).toContain(`${folderOfStep}: expected a policy over the`)
  })

  test('a run directory keeps its recipe: another is refused and nothing in it changes', async () => {
    const out = join(folder, 'taken')
    await bedside(['train', ...small, '--steps', '1', '--out', out])
    const before = await readFile(join(out, 'report.json'), 'utf8')
    const other = await bedside(['train', ...small, '--steps', '2', '--out', out])
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining(`--out ${out}`)])
    const beside = await bedside(['train', '--resume', out, '--steps', '2'])
    expect([beside.code, beside.stderr]).toEqual([2, expect.stringContaining('training.steps=2')])
    expect(await readFile(join(out, 'report.json'), 'utf8')).toBe(before)
  })

  test('--print-command shows the whole recipe with the flags laid over it and starts nothing', async () => {
    const recipe = join(folder, 'recipe.yaml')
    const out = join(folder, 'printed')
    await writeFile(recipe, 'recipe: mine\nseed: 4\ntraining:\n  steps: 9\n')
    const argv = ['train', recipe, '--steps', '7', '--lang', 'zh', '--out', out, '--print-command']
    const { code, stdout } = await bedside(argv)
    expect(code).toBe(0)
    expect(stdout).toContain(`npx bedside train ${recipe} `)
    expect(await document(argv)).toMatchObject({
      out,
      recipe: { recipe: 'mine', seed: 4, language: 'zh', training: { steps: 7, groupSize: 8 } },
    })
    expect(await readdir(folder)).not.toContain('printed')
  })
})

test('rewards signal says what a run learned from, by its own estimator or another', async () => {
  const out = join(folder, 'signal')
  await document(['train', ...small, '--steps', '2', '--out', out])
  const report = Object(await document(['rewards', 'signal', out]))
  expect(report.groups).toBe(4)
  const shares: number[] = Object.values(report.shares)
  expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9)
  // Merely centred, and then divided by the deviation.
  expect(report.amplification).toBeCloseTo(1, 9)
  const grpo = Object(await document(['rewards', 'signal', out, '--advantages', 'grpo']))
  expect(grpo.amplification).toBeGreaterThan(2)
  const { code, stderr } = await bedside([
    'rewards',
    'signal',
    join(out, 'episodes', 'held-out.parquet'),
  ])
  expect(code).toBe(2)
  expect(stderr).toContain('expected episodes saved with their groups and scores')
})

test('curves draws runs over each other, and refuses a folder that is no run', async () => {
  const out = join(folder, 'pictures')
  const runs = ['one', 'two'].map((name) => join(folder, `curves-${name}`))
  for (const [seed, run] of runs.entries())
    await document(['train', ...small, '--steps', '2', '--seed', String(seed), '--out', run])
  const drawn = Object(await document(['curves', ...runs, '--out', out]))
  expect(drawn.runs).toEqual(['curves-one', 'curves-two'])
  expect(await readFile(drawn.svg, 'utf8')).toContain('curves-two')
  const { code, stderr } = await bedside(['curves', folder, '--out', out])
  expect(code).toBe(2)
  expect(stderr).toContain('metrics.jsonl: expected the file of a finished training run')
})
