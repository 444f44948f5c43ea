import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, symlinkSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { lastCheckpoint } from '../../src/runs/directory.js'
import { uniform } from '../../src/seed.js'
import { readableFolder } from '../../src/storage/atomic-write.js'
import { readSavedEpisodes } from '../../src/storage/episode-files.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
let folder: string
let main: string

/** Builds this very source, for processes that can be killed. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bedside-kills-'))
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  for (const name of ['data', 'node_modules'])
    symlinkSync(join(root, name), join(folder, name), 'junction')
  const build = [join(root, 'scripts', 'build.js'), '--no-types', '--out', join(folder, 'dist')]
  await promisify(execFile)(process.execPath, build)
  main = join(folder, 'dist', 'cli', 'main.js')
}, 60_000)
afterAll(() => rm(folder, { recursive: true }))

/** Most kills a loop; more of them with `BEDSIDE_KILLS=34`, in runs that are longer. */
const kills = Number(process.env.BEDSIDE_KILLS ?? 8)
const steps = Math.max(60, 10 * kills)
const timeout = 180_000 + 20_000 * kills
const often = { steps, evaluateCases: 8, evaluateEvery: 3, checkpointEvery: 5, episodesEvery: 1 }
const groups = { groupsPerStep: 4, groupSize: 4 }
const loops: readonly (readonly [string, object, number])[] = [
  ['GRPO', { ...often, ...groups }, 16],
  ['GRPO that plays ahead', { ...often, ...groups, maxStaleness: 2 }, 16],
  ['PPO', { ...often, algorithm: 'ppo', ppo: { episodesPerStep: 16 } }, 16],
]

const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

/** The hashes of the saved episodes of each step up to the last checkpoint: they will not be played again. */
async function acknowledged(out: string): Promise<ReadonlyMap<string, string>> {
  const done = await lastCheckpoint(out)
  const names = await readdir(join(out, 'episodes')).catch(() => [])
  const kept = names.filter((name) => /^step-\d+\.parquet$/.test(name))
  const hashes = kept
    .filter((name) => Number(name.slice(5, 11)) <= done)
    .map(async (name) => [name, await sha256(join(out, 'episodes', name))] as const)
  expect(hashes).toHaveLength(done)
  return new Map(await Promise.all(hashes))
}

/** The policy version of the best checkpoint, whose weights are whole; undefined before there is one. */
async function bestVersion(out: string): Promise<number | undefined> {
  const best = await readableFolder(join(out, 'checkpoints', 'best'))
  if (!existsSync(best)) return undefined
  const { policyVersion, sha256: hash } = JSON.parse(
    await readFile(join(best, 'policy.json'), 'utf8'),
  )
  expect(await sha256(join(best, 'weights.bin'))).toBe(hash)
  return policyVersion
}

/** Starts or resumes a run and kills it `ms` milliseconds after its first line of metrics. @returns whether it had ended by itself */
async function runFor(recipe: string, out: string, ms: number): Promise<boolean> {
  const argv = existsSync(join(out, 'config.yaml')) ? ['--resume', out] : [recipe, '--out', out]
  const child = spawn(process.execPath, [main, 'train', ...argv], { cwd: folder })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const metrics = join(out, 'metrics.jsonl')
  const before = existsSync(metrics) ? await readFile(metrics, 'utf8') : ''
  const begun = async () => {
    while (existsSync(metrics) ? (await readFile(metrics, 'utf8')) === before : true) await wait(5)
  }
  await Promise.race([ended, begun(), wait(8000)])
  await Promise.race([ended, wait(ms)])
  child.kill('SIGKILL')
  const code = await ended
  expect([0, null], said).toContain(code)
  return code === 0
}

describe.each(loops)('%s, killed at random moments,', (name, training, count) => {
  test(
    'loses and repeats no acknowledged episode, and its best checkpoint is always whole',
    async () => {
      const [recipe, out] = [join(folder, `${name}.yaml`), join(folder, name)]
      const cases = { clinic: ['upper-airway'], heldOut: 8 }
      await writeFile(recipe, stringify({ cases, training }))
      let kept: ReadonlyMap<string, string> = new Map()
      let [over, killed] = [false, 0]
      for (; !over && killed < kills; killed++) {
        over = await runFor(recipe, out, 700 * uniform(0, 'kill', name, killed))
        const now = await acknowledged(out)
        for (const [file, hash] of kept) expect(now.get(file), file).toBe(hash)
        kept = now
        if (kept.size > 0) expect(await bestVersion(out)).toBeDefined()
      }
      console.info(`${name}: killed ${killed} times`)
      expect(killed).toBeGreaterThan(2)
      if (!over) expect(await runFor(recipe, out, 100_000)).toBe(true)

      const lines = (await readFile(join(out, 'metrics.jsonl'), 'utf8')).trimEnd().split('\n')
      const made = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'step')
      expect(made.map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, i) => i + 1))
      const ids: string[] = []
      // Those of the held-out cases are named by case.
      for await (const { episode } of readSavedEpisodes(join(out, 'episodes')))
        if (/^[^/]+\/\d+\/\d+\/\d+$/.test(episode.id)) ids.push(episode.id)
      expect([ids.length, new Set(ids).size]).toEqual([steps * count, steps * count])
      const { best } = JSON.parse(await readFile(join(out, 'report.json'), 'utf8'))
      const at = made.find(({ step }) => step === best.step)
      expect(await bestVersion(out)).toBe(at?.policyVersion ?? 0)
      expect((await readdir(out)).filter((file) => /lock|partial|tmp/.test(file))).toEqual([])
    },
    timeout,
  )
})
