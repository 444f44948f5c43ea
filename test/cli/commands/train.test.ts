import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TrainingReport } from '../../../src/runs/report.js'
import { bedside, document } from '../terminal.js'

const trainingFlags = (...settings: readonly string[]): string[] =>
  settings.flatMap((setting) => ['--set', `training.${setting}`])

/** Few cases, one disease group: of any algorithm. */
const few = [
  ...['--clinic', 'upper-airway', '--cases', '8'],
  ...trainingFlags('evaluateCases=4', 'checkpointEvery=100'),
]

/** A run of seconds: few groups too. */
const small = [...few, ...trainingFlags('groupsPerStep=4', 'groupSize=4', 'evaluateEvery=2')]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-train-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** A signal that aborts as soon as a step is in the metrics, wherever the program looks next. */
function abortedAfterStep(metrics: string, step: number): AbortSignal {
  const stop = new AbortController()
  const { signal } = stop
  const look = signal.throwIfAborted.bind(signal)
  signal.throwIfAborted = () => {
    if (
      existsSync(metrics) &&
      readFileSync(metrics, 'utf8').includes(`"type":"step","step":${step},`)
    )
      stop.abort()
    look()
  }
  return signal
}

const weights = (run: string, step: number): Promise<Buffer> =>
  readFile(join(run, 'checkpoints', `step-${String(step).padStart(6, '0')}`, 'weights.bin'))

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

/** What a run prints. */
const reportOf = async (argv: readonly string[]): Promise<TrainingReport> =>
  (await document(argv)) as TrainingReport // with --json it is one

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
    const report = await reportOf([
      ...['train', ...small, '--steps', '20', '--out', out, '--set', 'training.evaluateEvery=1'],
      ...['--set', 'training.adam.learningRate=1e-9', '--set', 'training.earlyStop.patience=2'],
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
