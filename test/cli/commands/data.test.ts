import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rewardNames } from '../../../src/rewards/named.js'
import { readCases } from '../../../src/storage/case-files.js'
import { caseSchema } from '../../../src/storage/case-schema.js'
import { readSavedEpisodes } from '../../../src/storage/episode-files.js'
import { shuffledRows, writeMtmeddialog } from '../../fixtures/mtmeddialog.js'
import { bedside, document } from '../terminal.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-data-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('cases generate', () => {
  test('writes one valid case a line, the same on stdout as in a file', async () => {
    const argv = ['cases', 'generate', '--cases', '3', '--tier', 'hard', '--seed', '2']
    const { stdout } = await bedside(argv)
    const cases = stdout
      .trimEnd()
      .split('\n')
      .map((line) => caseSchema.parse(JSON.parse(line)))
    expect(cases.map(({ id }) => id)).toEqual([
      'hard-train-2-0',
      'hard-train-2-1',
      'hard-train-2-2',
    ])
    const path = join(folder, 'generated.jsonl')
    expect(await bedside([...argv, '--out', path])).toMatchObject({ code: 0, stdout: '' })
    expect(await readFile(path, 'utf8')).toBe(stdout)
  })

  test('--lang leaves the texts of one language', async () => {
    const { stdout } = await bedside(['cases', 'generate', '--cases', '1', '--lang', 'zh'])
    const truth = caseSchema.parse(JSON.parse(stdout))
    expect(Object.keys(truth.chiefComplaint.text)).toEqual(['zh'])
    expect(Object.keys(truth.gold.dx[0]?.name ?? {})).toEqual(['zh'])
  })

  test('stopped, leaves no half of a file', async () => {
    const path = join(folder, 'half.jsonl')
    const stopped = await bedside(['cases', 'generate', '--cases', '50', '--out', path], {
      signal: AbortSignal.abort(),
    })
    expect(stopped.code).toBe(130)
    expect(existsSync(path)).toBe(false)
  })
})

describe('cases import', () => {
  test('writes questions as cases and reasoned answers as episodes to imitate', async () => {
    const from = join(folder, 'huatuo.json')
    const row = {
      'Open-ended Verifiable Question': 'What causes scurvy?',
      'Ground-True Answer': 'Vitamin C deficiency',
      Question: 'What causes scurvy?',
      Complex_CoT: 'Gums bleed.',
      Response: 'Vitamin C deficiency.',
    }
    await writeFile(from, JSON.stringify([row, { Question: 'What?' }]))
    const [cases, episodes] = [join(folder, 'questions.jsonl'), join(folder, 'shown.jsonl')]
    const report = await document([
      ...['cases', 'import', '--format', 'huatuo-rl', from, '--out', cases],
    ])
    expect(report).toMatchObject({ format: 'huatuo-rl', ok: 1, rows: 2 })
    expect((await readCases(cases)).map(({ chiefComplaint }) => chiefComplaint.text.en)).toEqual([
      'What causes scurvy?',
    ])
    const { stdout, stderr, code } = await bedside([
      ...['cases', 'import', '--format', 'huatuo-sft', from, '--out', episodes],
    ])
    expect([code, stderr.trim()]).toEqual([0, `1 episodes in ${episodes}`])
    expect(stdout).toMatch(/^episodes +1$/m)
    expect(stdout).toContain('row 1: Complex_CoT, Response: expected text, got nothing, nothing')
    for await (const { episode } of readSavedEpisodes(episodes))
      expect(episode.turns[0]?.text).toContain('## Thinking')
  })

  test('refuses a file that gives no demonstration, and a name no episodes are kept under', async () => {
    const from = join(folder, 'nothing.json')
    const argv = (out: string) => ['cases', 'import', '--format', 'huatuo-sft', from, '--out', out]
    await writeFile(from, '[{}]')
    const nothing = await bedside(argv(join(folder, 'none.jsonl')))
    expect([nothing.code, nothing.stderr]).toEqual([
      2,
      expect.stringContaining('at least one row that makes an episode, got none of 1'),
    ])
    await writeFile(from, '[{"Question":"q","Complex_CoT":"c","Response":"r"}]')
    const csv = await bedside(argv(join(folder, 'none.csv')))
    expect([csv.code, csv.stderr]).toEqual([2, expect.stringContaining('*.jsonl or *.parquet')])
  })

  test('writes the cases and reports rows, reasons, leaks and the licence', async () => {
    const parquet = join(folder, 'dialogues.parquet')
    const path = join(folder, 'imported.jsonl')
    const rows = shuffledRows()
    await writeMtmeddialog(parquet, [...rows, { prompt: null, reward_model: null }])
    const argv = ['cases', 'import', '--format', 'mtmeddialog', parquet, '--out', path]
    const report = await document(argv)
    expect(report).toMatchObject({
      ok: 15,
      rows: rows.length + 1,
      skipped: [
        { row: 7, path: expect.any(String), reason: expect.stringContaining('names a disease') },
        { row: rows.length, path: expect.any(String), reason: expect.any(String) },
      ],
      licence: expect.stringContaining('Apache-2.0'),
      redistributable: false,
    })
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toHaveLength(15)
    const { stdout } = await bedside(argv)
    expect(stdout).toMatch(/cases +15\nrows skipped +2\n/)
    expect(stdout).toContain('Licence: ')
  })
})

describe('cases check', () => {
  test('finds nothing in generated cases', async () => {
    expect(await document(['cases', 'check', '--cases', '20', '--split', 'heldout'])).toEqual({
      cases: 20,
      leaks: [],
      invalid: [],
      coherence: {
        cases: 20,
        complaintFromDisease: expect.any(Number),
        contradictions: 0,
        strays: expect.any(Number),
        outOfRange: 0,
        withoutRequiredExam: expect.any(Number),
        examples: expect.any(Array),
        broken: [],
      },
    })
    const { code, stdout } = await bedside(['cases', 'check', '--cases', '20', '--tier', 'hard'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/complaint of the disease \d+\.\d %, 0 contradictions, /)
  })

  test('finds a planted leak and a broken line, and ends with 1', async () => {
    const { stdout } = await bedside(['cases', 'generate', '--cases', '2'])
    const [first = '', second = ''] = stdout.trimEnd().split('\n')
    const leaky = caseSchema.parse(JSON.parse(first))
    const name = leaky.gold.dx[0]?.name.en ?? ''
    leaky.chiefComplaint.text.en = `They told me it is ${name}.`
    const path = join(folder, 'leaky.jsonl')
    await writeFile(path, `${JSON.stringify(leaky)}\n${second}\n{"schema":"other"}\n`)
    const { code, stdout: json } = await bedside(['cases', 'check', '--cases', path, '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(json)).toEqual({
      cases: 2,
      leaks: expect.arrayContaining([
        { case: leaky.id, where: 'doctor.complaint.en', phrase: name.toLowerCase() },
      ]),
      invalid: [{ line: 3, message: expect.stringContaining('schema') }],
      coherence: expect.objectContaining({ cases: 2 }),
    })
  })
})

describe('floods of mistakes are cut after ten, and whole in the JSON', () => {
  const more = (count: number) => `… and ${count} more (all of them with --json)`

  test('broken lines of a case file', async () => {
    const path = join(folder, 'flood.jsonl')
    await writeFile(path, '{"schema":"other"}\n'.repeat(240))
    const { code, stdout } = await bedside(['cases', 'check', '--cases', path])
    expect(code).toBe(1)
    expect(stdout.trimEnd().split('\n')).toEqual([
      ...Array.from({ length: 10 }, (_, n) => expect.stringContaining(`${path}:${n + 1}: not a`)),
      more(230),
      '0 cases, 0 leaks, 240 broken lines',
    ])
    const json = await bedside(['cases', 'check', '--cases', path, '--json'])
    expect(JSON.parse(json.stdout).invalid).toHaveLength(240)
    expect(json.stderr.match(/not a case/g)).toHaveLength(10)
  })

  test('rows that an importer skipped', async () => {
    const [from, out] = [join(folder, 'flood.json'), join(folder, 'few.jsonl')]
    const rows = Array.from({ length: 51 }, (_, n) => ({ question: `Why ${n}?`, answer: '' }))
    await writeFile(from, JSON.stringify([{ question: 'Why?', answer: 'Because' }, ...rows]))
    const argv = ['cases', 'import', from, '--format', 'huatuo-rl', '--out', out]
    const { stdout } = await bedside(argv)
    expect(stdout.match(/row \d+: /g)).toHaveLength(10)
    expect(stdout).toContain(`\n  ${more(41)}\n`)
    expect(await document(argv)).toMatchObject({ skipped: { length: 51 } })
  })
})

describe('cases show', () => {
  test.each(['doctor', 'patient', 'examiner', 'grader'])('as the %s sees it', async (view) => {
    const shown = await document(['cases', 'show', 'easy-heldout-0-1', '--view', view])
    expect(shown).toMatchObject({ view })
    expect('gold' in (shown as object)).toBe(view === 'grader')
  })

  test('the diagnosis stands in the grader’s text alone', async () => {
    const text = async (view: string) =>
      (await bedside(['cases', 'show', 'easy-heldout-0-1', '--view', view, '--lang', 'zh'])).stdout
    const name = /diagnosis: (\p{Script=Han}+)/u.exec(await text('grader'))?.[1]
    expect(name).toBeDefined()
    for (const view of ['doctor', 'patient', 'examiner'])
      expect(await text(view)).not.toContain(name)
  })
})

describe('rewards', () => {
  test('list names every registered reward with bounds and source', async () => {
    const rewards = await document(['rewards', 'list'])
    expect(rewards).toHaveLength(rewardNames.length)
    expect(rewards).toContainEqual({
      name: 'diagnosis-accuracy',
      bounds: [0, 1],
      source: expect.any(String),
    })
  })

  test('score gives saved episodes the mean their evaluation gave, and another reward another', async () => {
    const out = join(folder, 'evaluated')
    const report = await document([
      'evaluate',
      '--agent',
      'checklist',
      '--cases',
      '6',
      '--out',
      out,
    ])
    const { reward, parts } = report as { reward: { mean: number }; parts: unknown }
    expect(await document(['rewards', 'score', out, '--reward', 'default'])).toEqual({
      episodes: 6,
      reward: {
        mean: expect.closeTo(reward.mean),
        ci95: [expect.any(Number), expect.any(Number)],
      },
      parts: expect.objectContaining({ diagnosis: (parts as { diagnosis: unknown }).diagnosis }),
      unavailable: 0,
    })
    const module = join(folder, 'brevity.mjs')
    await writeFile(module, 'export const reward = (episode) => 1 - episode.turns.length / 100\n')
    expect(await document(['rewards', 'score', out, '--reward', module])).toMatchObject({
      episodes: 6,
      reward: { mean: expect.closeTo(1 - (report as { turns: number }).turns / 100) },
    })
  })

  test('a reward that fails on an episode is named, and the work has failed', async () => {
    const path = join(folder, 'one.jsonl')
    await bedside(['consult', '--agent', 'random', '--save', path])
    const module = join(folder, 'broken.mjs')
    await writeFile(module, 'export const reward = () => { throw new Error("no judge") }\n')
    const { code, stderr } = await bedside(['rewards', 'score', path, '--reward', module])
    expect(code).toBe(1)
    expect(stderr).toContain('no judge')
  })
})

test('info says what runs here and why the rest does not', async () => {
  expect(await document(['info'])).toMatchObject({
    versions: { bedside: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.version },
    backends: expect.arrayContaining([
      { name: 'embedded', runs: true, why: expect.any(String) },
      { name: 'verl', runs: false, why: expect.any(String) },
    ]),
  })
})
