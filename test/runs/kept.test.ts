import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lastCheckpoint } from '../../src/runs/directory.js'
import { lockName, lockRun } from '../../src/runs/lock.js'
import type { RecipeInput } from '../../src/runs/recipe.js'
import { train } from '../../src/runs/train.js'
import { trainedAt } from '../../src/runs/trained.js'
import { readSavedEpisodes } from '../../src/storage/episode-files.js'
import { trainingEmitter } from '../../src/trainers/events.js'
import { readTrajectories } from '../../src/trainers/trajectories/reader.js'

let root: string
let out: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bedside-kept-'))
})
beforeEach(async () => {
  out = join(await mkdtemp(join(root, 'one-')), 'run')
})
afterAll(() => rm(root, { recursive: true }))

/** A run of seconds. */
const small = (training: NonNullable<RecipeInput['training']>): RecipeInput => ({
  cases: { clinic: ['upper-airway'], heldOut: 8 },
  training: { evaluateCases: 8, evaluateEvery: 100, checkpointEvery: 100, ...training },
})
const groups = { groupsPerStep: 4, groupSize: 4 }

const versionOf = async (checkpoint: string): Promise<number> =>
  JSON.parse(await readFile(join(checkpoint, 'policy.json'), 'utf8')).policyVersion
const best = () => join(out, 'checkpoints', 'best')

/** Trains until an error is thrown where a process could be killed, at an event of a step. */
async function cutOff(
  recipe: RecipeInput,
  event: 'held-out-scored' | 'checkpoint-saved',
  at: number,
) {
  const events = trainingEmitter()
  const cut = (step: number) => {
    if (step >= at) throw new Error('cut off')
  }
  if (event === 'held-out-scored') events.on(event, ({ step }) => cut(step))
  else events.on(event, (_, step) => cut(step))
  await expect(train(recipe, { out, events })).rejects.toThrow('cut off')
}

describe('the best checkpoint', () => {
  // Fine-tuning rises fast: step by step for some steps.
  const recipe = small({
    ...{ algorithm: 'sft', steps: 12, evaluateEvery: 1 },
    sft: { cases: 40, episodesPerStep: 8 },
  })

  test.each([
    ['an evaluation', 'held-out-scored'],
    ['its own checkpoint', 'checkpoint-saved'],
  ] as const)('is that of the report after a run was cut off at %s', async (_, event) => {
    await cutOff(recipe, event, 8)
    // A run that goes on from its last checkpoint has had this evaluation.
    expect(await versionOf(best())).toBeLessThanOrEqual(await lastCheckpoint(out))
    expect(await lastCheckpoint(out)).toBeGreaterThan(0)
    const { report } = await train(recipe, { out })
    expect(report.best.step).toBeGreaterThan(0)
    expect(await versionOf(best())).toBe(report.best.step)
    expect((await readdir(join(out, 'checkpoints'))).sort()).toEqual(['best', 'step-000012'])
  })

  test('of a run whose policy goes ahead of its checkpoints is of the timeline that was kept', async () => {
    const ahead = small({
      ...{ ...groups, steps: 30, maxStaleness: 2, evaluateEvery: 2, checkpointEvery: 10 },
    })
    await cutOff(ahead, 'held-out-scored', 18)
    const { report } = await train(ahead, { out })
    const metrics = (await readFile(join(out, 'metrics.jsonl'), 'utf8')).trimEnd().split('\n')
    const line = metrics
      .map((text) => JSON.parse(text))
      .find(({ type, step }) => type === 'step' && step === report.best.step)
    expect(await versionOf(best())).toBe(line?.policyVersion ?? 0)
  })

  test('is read and put back where the process was killed between two renames', async () => {
    await train(recipe, { out, onStep: ({ step }) => (step === 2 ? 'stop' : undefined) })
    const version = await versionOf(best())
    await rename(best(), `${best()}.1234.old`)
    await mkdir(`${best()}.5678.tmp`)
    const found = await trainedAt(best())
    expect(found?.run).toBe(out)
    expect(await versionOf(found?.checkpoint ?? '')).toBe(version)
    await train(recipe, { out, onStep: ({ step }) => (step === 3 ? 'stop' : undefined) })
    expect((await readdir(join(out, 'checkpoints'))).sort()).toEqual(['best', 'step-000003'])
    const { report } = await train(recipe, { out })
    expect(await versionOf(best())).toBe(report.best.step)
    await train(recipe, { out, onStep: () => 'stop' })
    expect(
      (await readdir(join(out, 'checkpoints'))).filter((name) => /old|tmp/.test(name)),
    ).toEqual([])
    expect(await versionOf(best())).toBeGreaterThan(-1)
  })
})

/** The saved episodes of each step. */
async function savedBySteps() {
  const names = (await readdir(join(out, 'episodes'))).filter((name) => name.startsWith('step-'))
  const steps = names.sort().map(async (name) => {
    const ids: string[] = []
    for await (const { episode, score, step } of readSavedEpisodes(join(out, 'episodes', name))) {
      expect([score?.total, step]).toEqual([expect.any(Number), Number(name.slice(5, 11))])
      ids.push(episode.id)
    }
    return [Number(name.slice(5, 11)), ids] as const
  })
  return new Map(await Promise.all(steps))
}

/** The number of trajectories of a step, and of those with an advantage other than 0. */
async function trajectoriesOf(step: number) {
  let [count, teaching] = [0, 0]
  const file = join(out, 'trajectories', `step-00000${step}.parquet`)
  for await (const { segment } of readTrajectories(file)) {
    count++
    if (segment.advantages.some((one) => one !== 0)) teaching++
  }
  return { count, teaching }
}

describe('every episode of a step is saved, with its trajectory,', () => {
  test.each([
    ['under GRPO', { ...groups }, 16],
    ['played ahead', { ...groups, maxStaleness: 2 }, 16],
    ['under PPO', { algorithm: 'ppo', ppo: { episodesPerStep: 8 } }, 8],
  ] as const)('%s', async (_, training, count) => {
    await train(small({ ...training, steps: 4, episodesEvery: 1 }), { out })
    const saved = await savedBySteps()
    expect([...saved].map(([step, ids]) => [step, ids.length])).toEqual(
      [1, 2, 3, 4].map((step) => [step, count]),
    )
    const ids = [...saved.values()].flat()
    expect(new Set(ids).size).toBe(ids.length)
    expect((await trajectoriesOf(2)).count).toBe(count)
    expect((await trajectoriesOf(2)).teaching).toBeGreaterThan(0)
  })

  test('and none twice after a run that plays ahead was cut off', async () => {
    const training = { ...groups, steps: 8, episodesEvery: 1, maxStaleness: 2, checkpointEvery: 2 }
    await cutOff(small(training), 'checkpoint-saved', 4)
    await train(small(training), { out })
    const saved = await savedBySteps()
    expect([...saved.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    const ids = [...saved.values()].flat()
    expect([ids.length, new Set(ids).size]).toEqual([8 * 16, 8 * 16])
  })
})

test('what was written after the last checkpoint is dropped when the run goes on', async () => {
  const recipe = small({ ...groups, steps: 4, checkpointEvery: 2, episodesEvery: 1 })
  await train(recipe, { out, onStep: ({ step }) => (step === 2 ? 'stop' : undefined) })
  for (const name of ['episodes/step-000009.parquet', 'trajectories/step-000009.parquet'])
    await writeFile(join(out, name), 'lost')
  await writeFile(join(out, 'episodes', 'step-000003.parquet.1234.partial'), 'half')
  const kept = await readFile(join(out, 'episodes', 'step-000001.parquet'))
  await train(recipe, { out })
  expect((await readdir(join(out, 'episodes'))).sort()).toEqual([
    'held-out.parquet',
    ...[1, 2, 3, 4].map((step) => `step-00000${step}.parquet`),
  ])
  expect((await readdir(join(out, 'trajectories'))).length).toBe(4)
  expect(await readFile(join(out, 'episodes', 'step-000001.parquet'))).toEqual(kept)
})

describe('one writer', () => {
  const recipe = small({ ...groups, steps: 2 })

  test('trains into a directory at a time, and it is free again after each', async () => {
    let second: Promise<unknown> | undefined
    await train(recipe, {
      out,
      onStep: () => {
        second ??= train(recipe, { out }).then(
          () => 'trained',
          (error) => error.message,
        )
        return undefined
      },
    })
    expect(await second).toMatch(`in use (process ${process.pid} on`)
    await cutOff(small({ ...groups, steps: 4, checkpointEvery: 1 }), 'checkpoint-saved', 3).catch(
      () => undefined,
    )
    const stop = new AbortController()
    await expect(
      train(recipe, {
        out: `${out}-stopped`,
        signal: stop.signal,
        onStep: () => stop.abort() as never,
      }),
    ).rejects.toThrow()
    for (const folder of [out, `${out}-stopped`])
      expect(await readdir(folder)).not.toContain(lockName)
  })

  test('that is gone is named when its lock is taken over', async () => {
    await (await lockRun(out))[Symbol.asyncDispose]()
    await mkdir(out, { recursive: true })
    const owner = { ...{ pid: process.pid, process: 'another boot/1' }, since: '2026-01-01' }
    const { hostname } = await import('node:os')
    await writeFile(join(out, lockName), JSON.stringify({ ...owner, host: hostname() }))
    const told: string[] = []
    const events = trainingEmitter()
    events.on('backend-status', (line) => told.push(line))
    await train(recipe, { out, events })
    expect(told).toEqual([expect.stringContaining('ended without releasing it')])
  })

  test('leaves no directory behind for a recipe that cannot be run', async () => {
    const wrong = { ...recipe, reward: join(root, 'none.mjs') }
    await expect(train(wrong, { out })).rejects.toThrow('no such file')
    await expect(readdir(out)).rejects.toThrow('ENOENT')
  })
})
