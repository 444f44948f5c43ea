import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { primaryDiagnosis } from '../../src/case.js'
import { importers } from '../../src/cases/importers/import.js'
import { exactVerifier } from '../../src/rewards/outcome/verifier.js'
import { parseRecipe } from '../../src/runs/recipe.js'
import { readCases } from '../../src/storage/case-files.js'
import { readSavedEpisodes } from '../../src/storage/episode-files.js'
import { parseHuatuoReply } from '../../src/text/huatuo-reply.js'

const example = (name: string) =>
  fileURLToPath(new URL(`../../examples/doctor-agent/${name}`, import.meta.url))

let folder: string
const argv = process.argv
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-doctor-agent-'))
  process.argv = ['node', 'make-data.js', folder, '120', '80']
  vi.spyOn(console, 'log').mockImplementation(() => {})
  await import(example('make-data.js'))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})
afterAll(async () => {
  process.argv = argv
  await rm(folder, { recursive: true })
})

describe('the synthetic data', () => {
  test('is read whole by the importers, and no question names its answer', async () => {
    const { cases, report } = await importers['huatuo-rl']!(join(folder, 'rl.json'))
    expect(report).toMatchObject({ ok: 80, rows: 80, skipped: [], leaks: [] })
    const answers = new Set(cases.map(({ gold }) => primaryDiagnosis(gold).name.en))
    expect(answers.size).toBe(10)
  })

  test('has reasoned answers whose response the rule verifies', async () => {
    const { episodes = [], report } = await importers['huatuo-sft']!(join(folder, 'sft.json'))
    expect(report).toMatchObject({ ok: 120, rows: 120, skipped: [] })
    for (const { episode } of episodes) {
      const text = episode.turns[0]?.text ?? ''
      const reply = parseHuatuoReply(text)
      expect(reply.form).toBe('whole')
      const named = text.match(/Together this fits (.*)\./)?.[1] ?? ''
      const answer = 'answer' in reply ? reply.answer : ''
      expect(await exactVerifier()('', named, answer)).toBe(1)
    }
  })

  test('is made and read by one program, for a recipe to name', async () => {
    const own = await mkdtemp(join(tmpdir(), 'bedside-doctor-agent-'))
    onTestFinished(() => rm(own, { recursive: true }))
    vi.resetModules()
    vi.spyOn(console, 'log').mockImplementation(() => {})
    process.argv = ['node', 'make-questions.js', join(own, 'questions.jsonl'), '30', '20']
    await import(example('make-questions.js'))
    expect(await readCases(join(own, 'questions.jsonl'))).toHaveLength(20)
    const saved: unknown[] = []
    for await (const one of readSavedEpisodes(join(own, 'demonstrations.jsonl'))) saved.push(one)
    expect(saved).toHaveLength(30)
  })

  test('never shows a question that is to be verified', async () => {
    const { cases } = await importers['huatuo-rl']!(join(folder, 'rl.json'))
    const { episodes = [] } = await importers['huatuo-sft']!(join(folder, 'sft.json'))
    const asked = new Set(cases.map(({ id }) => id))
    expect(episodes.filter(({ episode }) => asked.has(episode.caseId))).toEqual([])
  })
})

test.each([
  'sft.yaml',
  'ppo.yaml',
  'grpo.yaml',
  'full/sft.yaml',
  'full/ppo.yaml',
  'full/grpo.yaml',
])('%s is a recipe of questions for a language model', async (name) => {
  const path = example(name)
  const recipe = parseRecipe(await readFile(path, 'utf8'), path)
  expect(recipe).toMatchObject({
    env: { name: 'question' },
    backend: 'sidecar',
    policy: { grammar: 'huatuo' },
    training: { algorithm: name.match(/(sft|ppo|grpo)\.yaml$/)?.[1] },
  })
})

test.each([
  ['judged-ppo.mjs', 'doctor-agent-ppo'],
  ['judged-grpo.mjs', 'doctor-agent-grpo'],
])('full/%s exports a reward', async (name, rewardName) => {
  // A model behind the package's default address needs a key.
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/v1')
  const { reward } = await import(example(`full/${name}`))
  expect([reward.rewardName, reward.bounds]).toEqual([rewardName, [0, 1]])
})
