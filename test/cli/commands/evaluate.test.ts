import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { lockRun } from '../../../src/runs/lock.js'
import { parseRecipe } from '../../../src/runs/recipe.js'
import { train } from '../../../src/runs/train.js'
import { writeCases } from '../../../src/storage/case-files.js'
import { readSavedEpisodes } from '../../../src/storage/episode-files.js'
import { registeredAgents } from '../../../src/tasks/parts.js'
import { task } from '../../../src/tasks/task.js'
import { trainingEmitter } from '../../../src/trainers/events.js'
import { bedside, chatServer, document } from '../terminal.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-evaluate-'))
})
afterAll(() => rm(folder, { recursive: true }))

const timeless = (report: unknown): unknown => ({ ...(report as object), timing: undefined })

const knowledge = loadKnowledge()

/** Cases that do not say which split they are of, under ids of their own. */
const unmarked = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const truth = generateCase(knowledge, { n })
    return { ...truth, id: `case-${n}`, provenance: { ...truth.provenance, split: undefined } }
  })

/** Ids of the cases in a file of episodes. */
async function casesIn(file: string): Promise<string[]> {
  const found: string[] = []
  for await (const { episode } of readSavedEpisodes(file)) found.push(episode.caseId)
  return found
}

/** Ids of the cases that an evaluation met. */
const casesMet = (out: string): Promise<string[]> => casesIn(join(out, 'episodes.jsonl'))

describe('evaluate', () => {
  test('--json is one document with every key of the report', async () => {
    const report = await document([
      'evaluate',
      '--agent',
      'checklist',
      '--cases',
      '12',
      '--seed',
      '3',
    ])
    const interval = { mean: expect.any(Number), ci95: [expect.any(Number), expect.any(Number)] }
    const anchor = { accuracy: expect.any(Number), reward: expect.any(Number) }
    const intervals = { accuracy: interval.ci95, reward: interval.ci95 }
    expect(report).toEqual({
      agent: 'checklist',
      tier: 'easy',
      lang: 'en',
      split: 'heldout',
      seed: 3,
      cases: 12,
      episodes: 12,
      unavailable: 0,
      reward: interval,
      accuracy: interval,
      partialCredit: interval,
      examF1: { ...interval, notApplicable: expect.any(Number) },
      parts: expect.objectContaining({
        diagnosis: { mean: expect.any(Number), unavailable: 0, notApplicable: 0 },
      }),
      turns: expect.any(Number),
      questions: expect.any(Number),
      exams: 0,
      money: 0,
      minutes: expect.any(Number),
      floor: { ...anchor, ci95: intervals },
      ceiling: { ...anchor, ci95: intervals },
      bound: { accuracy: expect.any(Number) },
      regret: anchor,
      normalised: anchor,
      questionEfficiency: interval,
      stops: { diagnosed: 12 },
      usage: {},
      timing: { seconds: expect.any(Number) },
    })
  })

  test('the random doctor is its own floor and the oracle its own ceiling', async () => {
    const cases = ['--cases', '10', '--tier', 'standard']
    const floor = await document(['evaluate', '--agent', 'random', ...cases])
    expect(floor).toMatchObject({ normalised: { accuracy: 0, reward: 0 } })
    const ceiling = await document(['evaluate', '--agent', 'oracle', ...cases])
    expect(ceiling).toMatchObject({ normalised: { accuracy: 1, reward: 1 } })
  })

  test('ten right answers of ten are not certainty, in the report and in the table', async () => {
    const argv = ['evaluate', '--agent', 'oracle', '--clinic', 'headache', '--cases', '10']
    const wilson = [expect.closeTo(0.7225, 4), 1]
    expect(await document(argv)).toMatchObject({
      accuracy: { mean: 1, ci95: wilson },
      ceiling: { accuracy: 1, ci95: { accuracy: wilson } },
    })
    const { stdout } = await bedside(argv)
    const floor = '\\d\\.\\d{3} \\[\\d\\.\\d{3}, \\d\\.\\d{3}\\]'
    const right = '1\\.000 \\[0\\.722, 1\\.000\\]'
    expect(stdout).toMatch(new RegExp(`accuracy +${right} +${floor} +${right} +0\\.000 +1\\.000`))
  })

  test('gives the same bytes for the same seed but for the timing, whatever the concurrency', async () => {
    const argv = [
      'evaluate',
      '--agent',
      'random',
      '--cases',
      '10',
      '--lang',
      'zh',
      '--split',
      'train',
    ]
    const once = await document(argv)
    const again = await document([...argv, '--concurrency', '1'])
    expect(JSON.stringify(timeless(again))).toBe(JSON.stringify(timeless(once)))
    expect(once).toMatchObject({ lang: 'zh', split: 'train' })
  })

  test('the table names the floor, the ceiling, the bound and the intervals', async () => {
    const { code, stdout } = await bedside(['evaluate', '--agent', 'random-ask', '--cases', '5'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/random-ask +floor \(random\) +ceiling \(oracle\) +regret +normalised/)
    const number = '-?\\d\\.\\d{3}'
    const spread = `${number} \\[${number}, ${number}\\]`
    expect(stdout).toMatch(
      new RegExp(`accuracy +${spread} +${spread} +${spread} +${number} +(${number}|–)`),
    )
    expect(stdout).toMatch(new RegExp(`bound: accuracy ${number} `))
    expect(stdout).toMatch(new RegExp(`question efficiency: ${spread} of what the oracle`))
  })

  test('--max-turns and --questions-only hold the agent to questions and the world to turns', async () => {
    const argv = ['evaluate', '--agent', 'oracle', '--tier', 'hard', '--cases', '8']
    const free = await document(argv)
    expect((free as { exams: number }).exams).toBeGreaterThan(0)
    const held = await document([...argv, '--questions-only', '--max-turns', '4'])
    expect(held).toMatchObject({ exams: 0, questions: 3, turns: 4, money: 0 })
    const floor = await document([...argv, '--max-turns', '4'])
    expect(held).toMatchObject({ floor: (floor as { floor: object }).floor })
  })

  test('what cannot be had is bad input that says what to do', async () => {
    const dp = await bedside(['evaluate', '--agent', 'dp', '--cases', '2'])
    expect([dp.code, dp.stderr]).toEqual([
      2,
      expect.stringMatching(/--agent dp: Expected at most 100000 situations .* give fewer turns/),
    ])
    const short = await document(['evaluate', '--agent', 'dp', '--cases', '2', '--max-turns', '2'])
    expect(short).toMatchObject({ agent: 'dp', turns: 2 })
    const chat = ['--agent', 'chat', '--model', 'm', '--base-url', 'http://localhost:1/v1']
    const free = await bedside(['evaluate', ...chat, '--questions-only'])
    expect([free.code, free.stderr]).toEqual([2, expect.stringContaining('--questions-only')])
  })

  test('--agent names in its help every doctor there is', async () => {
    const { agents, language, actionSpace } = await task({ heldOut: 1 })
    // Another test file of this process may have registered one.
    const registered = registeredAgents({ knowledge: loadKnowledge(), language, actionSpace })
    const shipped = Object.keys(agents).filter((name) => !Object.hasOwn(registered, name))
    for (const command of ['evaluate', 'consult']) {
      const { stdout } = await bedside([command, '--help'])
      const help = stdout.replaceAll(/\s+/g, ' ')
      for (const name of shipped) expect(help).toMatch(new RegExp(`[ ,]${name}[, ]`))
    }
  })

  test('the doctor that knows everything is its own bound, in either half of the cases', async () => {
    for (const split of ['heldout', 'train']) {
      const report = await document([
        ...['evaluate', '--agent', 'full-information', '--cases', '10', '--split', split],
      ])
      const { accuracy, bound } = report as { accuracy: { mean: number }; bound: object }
      expect(bound).toEqual({ accuracy: accuracy.mean })
    }
  })

  test('a file that says of all its cases that they are held out is evaluated whole', async () => {
    const path = join(folder, 'heldout.jsonl')
    await bedside(['cases', 'generate', '--cases', '4', '--split', 'heldout', '--out', path])
    const report = await document(['evaluate', '--agent', 'random', '--cases', path])
    expect(report).toMatchObject({ tier: 'imported', cases: 4, episodes: 4 })
  })

  test('--split all plays held-out and training cases: generated ones in turn, and every case of a file', async () => {
    const out = join(folder, 'all')
    const report = await document([
      ...['evaluate', '--agent', 'random', '--cases', '5', '--split', 'all', '--out', out],
    ])
    expect(report).toMatchObject({ split: 'all', cases: 5, episodes: 5 })
    expect((await casesMet(out)).sort()).toEqual([
      ...['easy-heldout-0-0', 'easy-heldout-0-1', 'easy-heldout-0-2'],
      ...['easy-train-0-0', 'easy-train-0-1'],
    ])
    const path = join(folder, 'mixed.jsonl')
    await writeCases(path, unmarked(6))
    const whole = await document([
      ...['evaluate', '--agent', 'random', '--cases', path, '--split', 'all'],
    ])
    expect(whole).toMatchObject({ split: 'all', cases: 6 })
  })

  test('a model counts its calls and tokens', async () => {
    await using server = await chatServer(() => 'Diagnosis: Influenza\nRecommendation: Rest.')
    const chat = [
      '--agent',
      'chat',
      '--model',
      'm',
      '--base-url',
      server.url,
      '--out',
      join(folder, 'counted'),
    ]
    const report = await document(['evaluate', ...chat, '--cases', '3'])
    expect(report).toMatchObject({
      usage: { doctor: { calls: 3, promptTokens: 30, completionTokens: 15, cost: null } },
    })
  })
})

describe('a run that was trained on a file', () => {
  /** Trains on every training case of the file; returns their ids. */
  async function trainOn(file: string, out: string, seed: number): Promise<ReadonlySet<string>> {
    const trained = new Set<string>()
    const events = trainingEmitter()
    events.on('group-formed', ({ caseId }) => trained.add(caseId))
    const training = '{ steps: 5, groupsPerStep: 8, groupSize: 2, evaluateCases: 4 }'
    const recipe = parseRecipe(
      `{ seed: ${seed}, cases: { file: ${JSON.stringify(file)} }, training: ${training} }`,
      'a recipe',
    )
    await train(recipe, { out, events })
    return trained
  }

  test('meets only its held-out cases, whatever the seed of the evaluation', async () => {
    const [file, run] = [join(folder, 'cases.jsonl'), join(folder, 'run')]
    await writeCases(file, unmarked(50))
    const trained = await trainOn(file, run, 7)
    expect(trained.size).toBe(40)
    // Of ten held-out cases the best checkpoint is chosen by four; the report is about the others.
    const reported = await casesIn(join(run, 'episodes', 'held-out.parquet'))
    expect(reported).toHaveLength(6)
    for (const seed of ['1', '2']) {
      const out = join(folder, `seed-${seed}`)
      await document(['evaluate', '--agent', run, '--seed', seed, '--out', out])
      const met = await casesMet(out)
      expect(met.filter((id) => trained.has(id))).toEqual([])
      expect(met.sort()).toEqual(reported.sort())
    }
  })

  test('meets only its held-out cases of a file that says of all its cases that they are held out', async () => {
    const [file, run] = [join(folder, 'marked.jsonl'), join(folder, 'marked-run')]
    await writeCases(
      file,
      Array.from({ length: 50 }, (_, n) => generateCase(knowledge, { n, split: 'heldout' })),
    )
    const trained = await trainOn(file, run, 0)
    const out = join(folder, 'marked-evaluation')
    await document(['evaluate', '--agent', run, '--cases', file, '--out', out])
    expect((await casesMet(out)).filter((id) => trained.has(id))).toEqual([])
  })
})

describe('an evaluation that stopped', () => {
  test('goes on to the report it would have given, playing no case twice', async () => {
    const stop = new AbortController()
    let calls = 0
    await using server = await chatServer((messages) => {
      // Three calls a case: the fifth case of the second evaluation is under way.
      if (++calls === 12 * 3 + 4 * 3 + 2) stop.abort()
      return messages > 4
        ? 'Diagnosis: Influenza\nRecommendation: Rest.'
        : 'Question: Do you cough?'
    })
    const chat = ['--agent', 'chat', '--model', 'm', '--base-url', server.url, '--cases', '12']
    const whole = await document(['evaluate', ...chat, '--out', join(folder, 'whole')])

    const out = join(folder, 'stopped')
    const { code, stderr } = await bedside(
      ['evaluate', ...chat, '--out', out, '--concurrency', '1'],
      { signal: stop.signal },
    )
    expect(code).toBe(130)
    expect(stderr).toContain(`npx bedside evaluate --resume ${out}`)
    const kept = (await readFile(join(out, 'episodes.jsonl'), 'utf8')).trimEnd().split('\n')
    expect(kept).toHaveLength(4)

    await appendFile(join(out, 'episodes.jsonl'), '{"schema":"bedside-epi')
    const resumed = await document(['evaluate', '--resume', out])
    expect({ ...(timeless(resumed) as object), usage: {} }).toEqual({
      ...(timeless(whole) as object),
      usage: {},
    })
    const lines = (await readFile(join(out, 'episodes.jsonl'), 'utf8')).trimEnd().split('\n')
    expect(lines.slice(0, kept.length)).toEqual(kept)
    const cases = lines.map((line) => JSON.parse(line).episode.caseId)
    expect(new Set(cases).size).toBe(12)
    expect(cases).toHaveLength(12)
    expect(JSON.parse(await readFile(join(out, 'report.json'), 'utf8'))).toEqual(resumed)
  })

  test('--repeats reports pass@k, and goes on where it stopped', async () => {
    const out = join(folder, 'repeated')
    const argv = ['evaluate', '--agent', 'random', '--cases', '5', '--repeats', '4', '--out', out]
    const whole = await document(argv)
    expect(whole).toMatchObject({
      ...{ cases: 5, episodes: 20, repeats: 4, unavailable: 0 },
      passAt: { 1: { cases: 5 }, 4: { cases: 5 } },
    })
    const file = join(out, 'episodes.jsonl')
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(20)
    await writeFile(file, `${lines.filter((_, n) => n % 3 > 0).join('\n')}\n`)
    const resumed = await document(['evaluate', '--resume', out])
    expect(timeless(resumed)).toEqual(timeless(whole))
    const again = (await readFile(file, 'utf8')).trimEnd().split('\n')
    expect(again.sort()).toEqual(lines.sort())
    const warm = await bedside(['evaluate', '--agent', 'random', '--temperature', '1'])
    expect([warm.code, warm.stderr]).toEqual([2, expect.stringContaining('--temperature')])
  })

  test('keeps its own cases: other flags beside --resume and another plan in --out are refused', async () => {
    const out = join(folder, 'kept')
    expect(
      (await bedside(['evaluate', '--agent', 'random', '--cases', '3', '--out', out])).code,
    ).toBe(0)
    expect((await readdir(out)).sort()).toEqual([
      'episodes.jsonl',
      'evaluation.yaml',
      'report.json',
    ])
    const beside = await bedside(['evaluate', '--resume', out, '--tier', 'hard'])
    expect([beside.code, beside.stderr]).toEqual([2, expect.stringContaining('--tier')])
    const other = await bedside(['evaluate', '--agent', 'random', '--cases', '4', '--out', out])
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining(`--out ${out}`)])
    const same = await bedside(['evaluate', '--agent', 'random', '--cases', '3', '--out', out])
    expect(same.code).toBe(0)
  })

  test('keeps its paths relative to its folder, which has one writer', async () => {
    const shell = process.cwd()
    const [here, there] = [join(folder, 'here'), join(folder, 'there')]
    for (const place of [here, there]) await mkdir(place)
    await writeFile(
      join(here, 'quits.mjs'),
      "export const agent = () => ({ action: { kind: 'give-up' } })\n",
    )
    try {
      process.chdir(here)
      const begun = ['evaluate', '--agent', './quits.mjs', '--cases', '3', '--out', 'run']
      expect((await bedside(begun)).code).toBe(0)
      expect(await readFile(join('run', 'evaluation.yaml'), 'utf8')).toContain(
        'agent: ../quits.mjs\n',
      )
      expect((await bedside(begun.with(2, 'quits.mjs'))).code).toBe(0)
      process.chdir(there)
      const again = ['evaluate', '--resume', join('..', 'here', 'run'), '--trust']
      expect((await bedside(again)).code).toBe(0)
      await using lock = await lockRun(join(here, 'run'))
      expect(lock.takenOver).toBeUndefined()
      expect(await bedside(again)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`in use (process ${process.pid} on`),
      })
    } finally {
      process.chdir(shell)
    }
  })
})

test('exits 1 with the reason when no consultation can be scored', async () => {
  const reward = join(folder, 'down.mjs')
  await writeFile(reward, "export const reward = () => { throw new Error('503 from the judge') }\n")
  const argv = ['--agent', 'random', '--cases', '3', '--reward', reward]
  const { code, stdout, stderr } = await bedside(['evaluate', ...argv, '--json'])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('none of the 3 consultations')
  expect(stderr).toContain('503 from the judge')
})
