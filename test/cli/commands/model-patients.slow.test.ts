/** The patients that a model plays, as a user runs them: consultations, evaluations, training, a server that dies. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Evaluation } from '../../../src/evaluation/evaluate.js'
import type { TrainingReport } from '../../../src/runs/report.js'
import { readSavedEpisodes } from '../../../src/storage/episode-files.js'
import { bedside, document } from '../terminal.js'
import { weights } from './small-run.js'

const script = fileURLToPath(new URL('../../fixtures/patient-server.mjs', import.meta.url))
let folder: string
const servers: ChildProcess[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-model-patients-'))
})
afterAll(async () => {
  for (const server of servers) server.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

/** Starts the model server; gives its port. */
async function serve(port = 0): Promise<{ readonly port: number; readonly server: ChildProcess }> {
  const server = spawn(process.execPath, [script, `${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  servers.push(server)
  const [line] = await once(server.stdout!, 'data') // a pipe, as it was asked for
  return { port: Number(`${line}`), server }
}

const kill = async (server: ChildProcess): Promise<void> => {
  const gone = once(server, 'exit')
  server.kill('SIGKILL')
  await gone
}

const model = (port: number, ...more: readonly string[]): string[] =>
  ['model=p', `base-url=http://127.0.0.1:${port}/v1`, 'backoff-ms=5', ...more].flatMap((one) => [
    ...['--set', `models.patient.${one}`],
  ])

const cassette = (file: string, mode: string): string[] => [
  ...['--set', `models.cassette.file=${file}`, '--set', `models.cassette.mode=${mode}`],
]

const bytes = async (out: string): Promise<readonly string[]> =>
  (await readFile(join(out, 'episodes.jsonl'), 'utf8')).trimEnd().split('\n').sort()

test.each(['skin', 'free'] as const)(
  '%s: consulted, evaluated, and replayed without a server',
  async (name) => {
    const { port, server } = await serve()
    const file = join(folder, `${name}.jsonl`)
    const flags = ['--agent', 'checklist', '--patient', name, ...model(port)]
    const talk = await bedside(['consult', ...flags])
    expect(talk).toMatchObject({ code: 0 })
    const play = async (out: string, mode: string) =>
      (await document([
        ...['evaluate', ...flags, '--cases', '10', '--out', join(folder, out)],
        ...cassette(file, mode),
      ])) as Evaluation // with --json it is one
    const first = await play(`${name}-recorded`, 'record')
    expect(first).toMatchObject({ episodes: 10, unavailable: 0 })
    const { patient: spoken } = first
    expect(spoken?.replies).toBeGreaterThan(20)
    if (name === 'skin') {
      // The model's words get through, but for what it cannot say otherwise.
      expect(spoken!.passed / spoken!.replies).toBeGreaterThan(0.9)
      expect(first.accuracy.mean).not.toBeNull()
      // Floor, ceiling and bound are played with the rule patient: two calls a reply at most.
      expect(first.usage.patient!.calls).toBeLessThanOrEqual(2 * spoken!.replies)
    } else expect(spoken).toMatchObject({ passed: 0, template: 0 })
    await kill(server)
    const again = await play(`${name}-replayed`, 'strict')
    expect({ ...again, timing: 0 }).toEqual({ ...first, timing: 0 })
    expect(await bytes(join(folder, `${name}-replayed`))).toEqual(
      await bytes(join(folder, `${name}-recorded`)),
    )
    for await (const { episode } of readSavedEpisodes(
      join(folder, `${name}-replayed`, 'episodes.jsonl'),
    ))
      for (const { outcome, facts } of episode.turns)
        if (outcome.kind === 'answered')
          expect(name === 'skin' ? facts.wording : facts.flags).toBeDefined()
  },
)

const recipe = [
  ...['--clinic', 'upper-airway', '--cases', '4', '--steps', '30'],
  ...[
    'training.evaluateCases=4',
    'training.evaluateEvery=30',
    'training.groupsPerStep=2',
    'training.groupSize=3',
    'training.checkpointEvery=1',
    'training.episodesEvery=1',
    'env.patient=skin',
  ].flatMap((one) => ['--set', one]),
]

test('a doctor is trained against the skin; the server is killed, started again, and the run goes on', async () => {
  const { port, server } = await serve()
  const out = join(folder, 'trained')
  let killed: Promise<void> | undefined
  const watch = setInterval(() => {
    const metrics = join(out, 'metrics.jsonl')
    if (existsSync(metrics) && readFileSync(metrics, 'utf8').includes('"step":2,'))
      killed ??= kill(server)
  }, 5)
  const limits = ['max-retries=1', 'deadline-ms=2000']
  const stopped = await bedside(['train', ...recipe, '--out', out, ...model(port, ...limits)])
  clearInterval(watch)
  await killed
  expect(stopped.code).toBe(1)
  expect(stopped.stderr).toContain(`--resume ${out}`)
  await serve(port)
  const report = (await document(['train', '--resume', out])) as TrainingReport // with --json it is one
  expect(report).toMatchObject({ steps: 30, samples: { unavailable: expect.any(Number) } })
  expect(report.patient!.passed).toBeGreaterThan(20)
  expect(report.heldOut.patient!.replies).toBeGreaterThan(0)
  expect((await weights(out, 30)).length).toBeGreaterThan(0)
  // What was told is the rule patient's, whatever became of the words.
  for await (const { episode } of readSavedEpisodes(join(out, 'episodes', 'step-000030.parquet')))
    for (const { outcome, facts } of episode.turns)
      if (outcome.kind === 'answered') expect(facts.wording).toMatch(/passed|retried|template/)
})
