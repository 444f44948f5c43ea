import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Case, GraderView } from '../../src/case.js'
import { generateCase } from '../../src/cases/generator/generate.js'
import type { Episode } from '../../src/episode.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { parseRecipe } from '../../src/runs/recipe.js'
import { trainingReport } from '../../src/runs/report.js'
import { train } from '../../src/runs/train.js'
import { writeCases } from '../../src/storage/case-files.js'
import { episodeWriter } from '../../src/storage/episode-files.js'
import { task } from '../../src/tasks/task.js'
import { trainingEmitter } from '../../src/trainers/events.js'
import { playDemonstrations } from '../../src/trainers/rollouts/demonstrations.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-runs-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** A run of seconds. */
const recipeOf = (training: object) =>
  parseRecipe(
    stringify({
      cases: { clinic: ['upper-airway'], heldOut: 4 },
      training: { evaluateCases: 4, evaluateEvery: 2, ...training },
    }),
    'small.yaml',
  )
const small = { groupsPerStep: 3, groupSize: 4 }

/** The lines of a run's metrics, without the time they took. */
const metricsIn = async (run: string) =>
  (await readFile(join(run, 'metrics.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => ({ ...JSON.parse(line), seconds: 0 }))

test('keeps the same metrics, episodes and trajectories when nobody can hear its events', async () => {
  const recipe = recipeOf({ ...small, steps: 3, episodesEvery: 2 })
  const heard: number[] = []
  const events = trainingEmitter()
  events.on('step-end', ({ step }) => heard.push(step))
  const [loud, silent] = [join(folder, 'loud'), join(folder, 'silent')]
  await train(recipe, { out: loud, events })
  const deaf = trainingEmitter()
  deaf.emit = () => false
  await train(recipe, { out: silent, events: deaf })
  expect(heard).toEqual([1, 2, 3])
  const metrics = await metricsIn(silent)
  expect(metrics).toEqual(await metricsIn(loud))
  expect(metrics.filter(({ type }) => type === 'step').map(({ step }) => step)).toEqual([1, 2, 3])
  for (const [part, files] of [
    ['episodes', ['held-out.parquet', 'step-000002.parquet', 'step-000003.parquet']],
    ['trajectories', ['step-000002.parquet', 'step-000003.parquet']],
  ] as const)
    for (const run of [loud, silent]) expect((await readdir(join(run, part))).sort()).toEqual(files)
})

test('names its episodes and groups as no other run and no other attempt does', async () => {
  const recipe = recipeOf({ ...small, steps: 4, checkpointEvery: 2, evaluateEvery: 4 })
  const names: string[] = []
  const attempt = (out: string, last?: number) =>
    train(recipe, {
      out: join(folder, out),
      onStep: ({ step, groups = [] }) => {
        names.push(...groups.flatMap(({ id, episodes }) => [id, ...episodes.map((one) => one.id)]))
        if (step === last) throw new Error('killed')
        return undefined
      },
    })
  await expect(attempt('named', 3)).rejects.toThrow('killed')
  await attempt('named')
  await attempt('named-too', 4).catch(() => undefined)
  // Three steps, two more of which the first was lost, four of the other run.
  expect(names.length).toBe((3 + 2 + 4) * 3 * (1 + 4))
  expect(new Set(names).size).toBe(names.length)
  const runs = new Set(names.map((name) => name.split('.')[0]))
  expect(runs.size).toBe(2)
  const text = await readFile(join(folder, 'named', 'attempts.jsonl'), 'utf8')
  const attempts = text.trimEnd().split('\n')
  expect(attempts.map((line) => JSON.parse(line))).toMatchObject([
    { attempt: 1, done: 0 },
    { attempt: 2, done: 2 },
  ])
})

test('goes on with a run that an earlier version began, whose recipe holds keys without effect', async () => {
  const [old, fresh] = [join(folder, 'old'), join(folder, 'fresh')]
  const recipe = recipeOf({ algorithm: 'sft', steps: 4, checkpointEvery: 2, sft: { cases: 20 } })
  await train(recipe, { out: fresh })
  const stop = new AbortController()
  const events = trainingEmitter()
  events.on('checkpoint-saved', () => stop.abort())
  await expect(train(recipe, { out: old, events, signal: stop.signal })).rejects.toThrow()
  const config = join(old, 'config.yaml')
  const { training, ...rest } = parse(await readFile(config, 'utf8'))
  const everything = {
    ...{ ...rest, policy: { engine: 'peft', rank: 16 } },
    training: { ...training, groupSize: 16, loss: { kind: 'ppo-clip', tauPositive: 1 }, ppo: {} },
  }
  await writeFile(config, stringify(everything))
  await train(recipe, { out: old })
  expect(await metricsIn(old)).toEqual(await metricsIn(fresh))
  const other = recipeOf({ algorithm: 'sft', steps: 5, sft: { cases: 20 } })
  await expect(train(other, { out: old })).rejects.toThrow('a run of another recipe')
})

test('learns from no demonstration of a held-out patient, of whatever tier', async () => {
  const knowledge = loadKnowledge()
  const standard = await task({ tier: 'standard', heldOut: 6 })
  const play = async (name: string, cases: readonly Case[]): Promise<string> => {
    const { agents, makeEnv, reward } = standard
    const agent = agents.checklist!({})
    const { kept } = await playDemonstrations({
      ...{ agent, agentName: 'checklist', cases, makeEnv, reward },
    })
    const file = join(folder, `${name}.jsonl`)
    const writer = episodeWriter(file)
    for (const one of kept) await writer.write(one)
    await writer.close()
    return file
  }
  const learn = (file: string) => {
    const training = { algorithm: 'sft', steps: 1, evaluateCases: 4, sft: { demonstrations: file } }
    const recipe = parseRecipe(stringify({ cases: { heldOut: 6 }, training }), 'sft.yaml')
    return train(recipe, { out: `${file}-run` })
  }
  await expect(learn(await play('held-out', standard.heldOut))).rejects.toThrow('got none')
  const other = [...standard.heldOut, generateCase(knowledge, { tier: 'standard', n: 3 })]
  const { report } = await learn(await play('mixed', other))
  const played = standard.maxTurns
  expect(report.samples.used + report.samples.unavailable).toBeGreaterThan(0)
  expect(report.samples.used + report.samples.unavailable).toBeLessThanOrEqual(played)
})

test('chooses its best checkpoint by cases that its final score does not have', async () => {
  const played = new Map<string, number>()
  const reward = (_: Episode, { caseId }: GraderView): number => {
    played.set(caseId, (played.get(caseId) ?? 0) + 1)
    return 0
  }
  const recipe = recipeOf({ ...small, steps: 4, evaluateCases: 3 })
  const { task: made } = await train(recipe, { out: join(folder, 'chosen'), reward })
  const times = (cases: readonly Case[]) => cases.map(({ id }) => played.get(id))
  // Evaluations before the first step and after steps 2 and 4.
  expect(times(made.selection)).toEqual([3, 3, 3])
  // Floor, ceiling, bound, the policy before and after training.
  expect(times(made.heldOut)).toEqual([5, 5, 5, 5])
})

test('does not stop early without cases to stop by', async () => {
  const file = join(folder, 'few.jsonl')
  const knowledge = loadKnowledge()
  await writeCases(
    file,
    [0, 1, 2, 3, 4].map((n) => generateCase(knowledge, { n })),
  )
  const recipe = parseRecipe(
    stringify({ cases: { file }, training: { steps: 1, earlyStop: { patience: 2 } } }),
    'few.yaml',
  )
  await expect(train(recipe, { out: join(folder, 'few') })).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining('training.earlyStop: expected held-out cases to stop by'),
  })
})

test('the best checkpoint is the last one where no evaluation could be scored', () => {
  const line = { type: 'held-out', step: 2, reward: null, accuracy: null, seconds: 1 } as const
  const directory = { metrics: [line], best: 'best', checkpoint: (step: number) => `step-${step}` }
  // All that the report reads of them.
  type Given = Parameters<typeof trainingReport>
  const of = (metrics: readonly object[]) =>
    trainingReport(
      recipeOf(small),
      { name: 'embedded', policyVersion: 2 } as Given[1],
      { ...directory, metrics } as unknown as Given[2],
      { heldOut: {}, before: {}, seconds: 1 } as Given[3],
    ).best
  expect(of([line])).toEqual({ step: 2, accuracy: null, checkpoint: 'step-2' })
  const scored = { ...line, step: 1, accuracy: 0.5 }
  expect(of([scored, line])).toEqual({ step: 1, accuracy: 0.5, checkpoint: 'best' })
})

test('a report says what did not hold on the machine', () => {
  const directory = { metrics: [], best: 'best', checkpoint: (step: number) => `step-${step}` }
  type Given = Parameters<typeof trainingReport>
  const of = (notes: readonly string[]) =>
    trainingReport(
      recipeOf(small),
      { name: 'embedded', policyVersion: 2 } as Given[1],
      directory as unknown as Given[2],
      { heldOut: {}, before: {}, seconds: 1, notes } as Given[3],
    )
  expect(of(['two runs may differ']).notes).toEqual(['two runs may differ'])
  expect(of([])).not.toHaveProperty('notes')
})
