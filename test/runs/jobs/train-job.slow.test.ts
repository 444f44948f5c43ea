/** `bedside train` by a job, whole: server, job and run directory, with a trainer that learns nothing; and what is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { uniformInt } from '../../../src/seed.js'
import { hasRay, startRayHead } from '../../fixtures/ray-head.js'
import { builtPackage } from '../../server/built.js'

const trainer = fileURLToPath(new URL('../../fixtures/job-trainer.mjs', import.meta.url))
const chatml = fileURLToPath(new URL('../../fixtures/tokenizers/chatml', import.meta.url))
const built = builtPackage()
const folder = mkdtempSync(join(tmpdir(), 'bedside-job-'))
const steps = Number(process.env.BEDSIDE_STEPS ?? 6)

beforeAll(() => {
  cpSync(chatml, join(folder, 'model'), { recursive: true })
  writeFileSync(join(folder, 'model', 'config.json'), '{"max_position_embeddings": 8192}')
  writeFileSync(join(folder, 'model', 'model.safetensors'), '')
  writeFileSync(join(folder, 'python'), `#!/bin/sh\nexec "${process.execPath}" "${trainer}" "$@"\n`)
  chmodSync(join(folder, 'python'), 0o755)
  writeFileSync(
    join(folder, 'recipe.yaml'),
    `recipe: job
cases: { clinic: [upper-airway], heldOut: 8 }
env: { maxTurns: 3 }
backend: slime
policy: { model: model, maxTokens: 16 }
cluster: { gpus: 4, python: ${join(folder, 'python')} }
training: { steps: ${steps}, groupsPerStep: 2, groupSize: 4, normaliser: token-mean, evaluateCases: 4 }
`,
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const start = (flags: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const [node = '', main = ''] = built.command
  const child = spawn(node, [main, 'train', ...flags, '--stand-in', '--json'], {
    cwd: folder,
    env: { ...process.env, ...env },
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (text) => {
    said.out += text
  })
  child.stderr.on('data', (text) => {
    said.err += text
  })
  const ended = new Promise<number | null>((done) => child.once('exit', done))
  return { child, said, ended }
}

const jsonLines = (path: string): Record<string, unknown>[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []

/** What every finished run has, whatever happened on the way. */
function expectWhole(run: string): void {
  const metrics = jsonLines(join(run, 'metrics.jsonl'))
  const stepsMade = metrics.filter(({ type }) => type === 'step').map(({ step }) => step)
  expect(stepsMade).toEqual(Array.from({ length: steps }, (_, n) => n + 1))
  expect(metrics.filter(({ type }) => type === 'held-out').map(({ step }) => step)).toEqual([
    0,
    steps,
  ])
  const report = JSON.parse(readFileSync(join(run, 'report.json'), 'utf8'))
  expect(report).toMatchObject({ backend: 'slime stand-in', steps })
  expect(report.heldOut).toMatchObject({ episodes: 4 })
  expect(existsSync(join(run, 'curves.png'))).toBe(true)
  // Siblings of a group met one patient with one seed.
  for (const { split, index, seed } of jsonLines(join(run, 'consultations.jsonl')))
    if (split === 'train') expect(seed).toBe(index)
}

test('a run has its report, its curves and its checkpoint', async () => {
  const run = join(folder, 'whole')
  const { ended, said } = start(['recipe.yaml', '--out', run])
  expect(await ended, said.err).toBe(0)
  expectWhole(run)
  expect(JSON.parse(said.out)).toMatchObject({ recipe: 'job', samples: { used: 0 } })
  expect(said.err).toContain('stand-in')
  expect(readFileSync(join(run, 'trainer.log'), 'utf8')).toContain(`step ${steps}`)
  const job = join(run, 'checkpoints', `step-${String(steps).padStart(6, '0')}`, 'job.json')
  expect(JSON.parse(readFileSync(job, 'utf8')).model).toContain('model')
}, 120_000)

test('a trainer that fails at once is not tried again, and its last words are shown', async () => {
  const run = join(folder, 'fails')
  const { ended, said } = start(['recipe.yaml', '--out', run], { BEDSIDE_TEST_FAILS: '1' })
  expect(await ended).not.toBe(0)
  expect(said.err).toContain('last words of a trainer')
  expect(said.err).toContain('exit code 3')
}, 60_000)

const commandOf = (pid: number): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** The process ids of a run: its server's and its trainer's. */
function victims(run: string, driver: ChildProcess): Record<string, number | undefined> {
  const children = (pid: number | undefined): number[] => {
    try {
      const path = `/proc/${pid}/task/${pid}/children`
      return readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number)
    } catch {
      return []
    }
  }
  const { id } = jsonLines(join(run, 'job.json'))[0] ?? {}
  const started = jsonLines(join(run, 'jobs', String(id), 'process.json'))[0]
  return {
    driver: driver.pid,
    // It has other children at its start: the check of the interpreter.
    server: children(driver.pid).find((pid) => commandOf(pid).includes('serve')),
    trainer: children(Number(started?.pid))[0],
  }
}

// The children of a process are read from /proc.
test.skipIf(process.platform !== 'linux')(
  'killed at random moments, a run goes on and makes every step once',
  async () => {
    const kills = Number(process.env.BEDSIDE_KILLS ?? 2)
    const seed = Number(process.env.BEDSIDE_SEED ?? 1)
    const run = join(folder, 'killed')
    const counts: Record<string, number> = { driver: 0, server: 0, trainer: 0 }
    const names = Object.keys(counts)
    let told = 0
    let at = start(['recipe.yaml', '--out', run, '--set', `training.steps=${steps}`])
    for (let n = 0; n < kills * names.length && at.child.exitCode === null; ) {
      const name = names[n % names.length] as string
      // Not before the trainer has said something new: without any step in between it is not tried for ever.
      const said = () => jsonLines(join(run, 'trainer-metrics.jsonl')).length
      const before = n === 0 ? 0 : told
      const ready = () => said() > before
      while (!ready() && at.child.exitCode === null)
        await new Promise((done) => setTimeout(done, 20))
      await new Promise((done) => setTimeout(done, uniformInt(600, seed, 'wait', n)))
      const pid = victims(run, at.child)[name]
      // Not there yet, as just after a restart.
      if (pid === undefined || at.child.exitCode !== null) continue
      n++
      process.kill(pid, 'SIGKILL')
      told = said()
      counts[name] = (counts[name] ?? 0) + 1
      if (name !== 'driver') continue
      await at.ended
      at = start(['--resume', run])
    }
    expect(await at.ended, at.said.err).toBe(0)
    expectWhole(run)
    // A number that was asked for is met; else the run may be over before.
    const all = { driver: kills, server: kills, trainer: kills }
    if (process.env.BEDSIDE_KILLS) expect(counts).toEqual(all)
    expect(Object.values(counts).reduce((sum, count) => sum + count)).toBeGreaterThan(0)
  },
  600_000,
)

// Without it: `scripts/python-env.sh verl`.
test.skipIf(!hasRay)(
  'a Ray head that is killed ends the run with a word, and on a new one it goes on and makes every step once',
  async () => {
    const kills = Number(process.env.BEDSIDE_HEAD_KILLS ?? 1)
    const seed = Number(process.env.BEDSIDE_SEED ?? 1)
    // A short run is killed at once: it would be over.
    const most = process.env.BEDSIDE_HEAD_KILLS ? 600 : 1
    const run = join(folder, 'head')
    const said = () => jsonLines(join(run, 'trainer-metrics.jsonl')).length
    let head = await startRayHead()
    const port = Number(new URL(head.address).port)
    let at = start(['recipe.yaml', '--out', run, '--set', `cluster.ray=${head.address}`])
    let killed = 0
    try {
      while (killed < kills) {
        const before = killed === 0 ? 0 : said()
        while (said() <= before && at.child.exitCode === null)
          await new Promise((done) => setTimeout(done, 20))
        await new Promise((done) => setTimeout(done, uniformInt(most, seed, 'head', killed)))
        if (at.child.exitCode !== null) break
        await head[Symbol.asyncDispose]()
        killed++
        head = await startRayHead(port)
        expect(await at.ended).not.toBe(0)
        expect(at.said.err).toMatch(/there is no job|out of reach|fetch|connect/i)
        at = start(['--resume', run])
      }
      expect(await at.ended, at.said.err).toBe(0)
    } finally {
      await head[Symbol.asyncDispose]()
    }
    expectWhole(run)
    expect(killed).toBeGreaterThan(0)
    if (process.env.BEDSIDE_HEAD_KILLS) expect(killed).toBe(kills)
  },
  1_200_000,
)
