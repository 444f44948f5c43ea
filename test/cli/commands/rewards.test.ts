import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readSavedEpisodes } from '../../../src/storage/episode-files.js'
import { bedside, document } from '../terminal.js'

let folder: string
let run: string
let episodes: string
let mixed: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-rewards-'))
  run = join(folder, 'run')
  await document(['evaluate', '--agent', 'checklist', '--cases', '8', '--out', run])
  episodes = join(run, 'episodes.jsonl')
  // Doctors who are often right and never right, and who take more turns and fewer.
  mixed = join(folder, 'mixed')
  await mkdir(mixed)
  for (const agent of ['oracle', 'random', 'checklist']) {
    const out = join(folder, agent)
    await document(['evaluate', '--agent', agent, '--cases', '8', '--out', out])
    await copyFile(join(out, 'episodes.jsonl'), join(mixed, `${agent}.jsonl`))
  }
})
afterAll(() => rm(folder, { recursive: true }))
afterEach(() => {
  vi.useRealTimers()
})

let modules = 0
/** A module of a user's own, by its path. */
async function module(code: string): Promise<string> {
  const path = join(folder, `mine-${modules++}.mjs`)
  await writeFile(path, code)
  return path
}
const score = (...argv: readonly string[]) => ['rewards', 'score', ...argv]

interface Report {
  readonly episodes: number
  readonly reward: { readonly mean: number | null; readonly ci95: readonly number[] | null }
  readonly parts: Readonly<Record<string, { readonly mean: number; readonly unavailable: number }>>
  readonly unavailable: number
  readonly rewards?: Readonly<
    Record<
      string,
      Omit<Report, 'episodes' | 'rewards'> & {
        readonly bounds: readonly number[]
        readonly correlation: {
          readonly accuracy: number | null
          readonly parts: Readonly<Record<string, number | null>>
          readonly rewards: Readonly<Record<string, number | null>>
        }
      }
    >
  >
}
const reportOf = async (...argv: readonly string[]) => (await document(score(...argv))) as Report // the shape under test

describe('rewards score', () => {
  test('with one reward prints the four keys and nothing more, the same bytes each time', async () => {
    const first = await bedside([...score(run, '--reward', 'default'), '--json'])
    const again = await bedside([...score(run, '--reward', 'default'), '--json', '--quiet'])
    expect(again.stdout).toBe(first.stdout)
    const report = JSON.parse(first.stdout)
    expect(Object.keys(report)).toEqual(['episodes', 'reward', 'parts', 'unavailable'])
    expect(report).toMatchObject({ episodes: 8, unavailable: 0 })
  })

  test('with several prints each as alone, and how they go together', async () => {
    const names = ['default', 'communication', 'diagnosis-accuracy']
    const all = await reportOf(mixed, ...names.flatMap((name) => ['--reward', name]))
    expect(Object.keys(all.rewards ?? {})).toEqual(names)
    for (const name of names) {
      const { episodes: _, ...alone } = await reportOf(mixed, '--reward', name)
      expect(all.rewards?.[name]).toMatchObject(alone)
    }
    const { correlation, bounds } = all.rewards?.default ?? {}
    expect(bounds).toEqual([0, 1])
    expect(Object.keys(correlation?.rewards ?? {})).toEqual(['communication', 'diagnosis-accuracy'])
    expect(correlation?.accuracy).toBeGreaterThan(0.5)
    expect(correlation?.rewards['diagnosis-accuracy']).toBeCloseTo(correlation?.accuracy ?? 9, 12)
    expect(all.rewards?.communication?.correlation.rewards.default).toBe(
      correlation?.rewards.communication,
    )
    const { reward, parts, unavailable } = all
    expect(all.rewards?.default).toMatchObject({ reward, parts, unavailable })
  })

  test('correlations are those of the totals', async () => {
    const turns = 'episode.turns.length'
    const [more, less] = [
      await module(`export const reward = (episode) => ${turns} / 100`),
      await module(`export const reward = (episode) => -3 * ${turns}`),
    ]
    const steady = await module('export const reward = () => 0.25')
    const flags = [more, less, steady].flatMap((path) => ['--reward', path])
    const { rewards } = await reportOf(mixed, ...flags)
    expect(rewards?.[more]?.correlation.rewards[less]).toBeCloseTo(-1, 9)
    expect(rewards?.[steady]?.correlation.rewards[more]).toBeNull()
  })

  test('the table has a line for each reward, part and correlation', async () => {
    const { stdout } = await bedside(
      score(run, '--reward', 'default', '--reward', 'communication', '--reward', 'default'),
    )
    const spread = '\\d\\.\\d{3} \\[\\d\\.\\d{3}, \\d\\.\\d{3}\\]'
    expect(stdout).toMatch(new RegExp(`^default +0 to 1 +${spread} `, 'm'))
    expect(stdout).toMatch(new RegExp(`^communication +0 to 1 +${spread} `, 'm'))
    expect(stdout).toMatch(/^correlation +default +communication$/m)
    expect(stdout).toMatch(/^ {2}diagnosis +\d\.\d{3} /m)
  })

  test('says how far it is, unless told to be quiet', async () => {
    const loud = await bedside(score(run, '--reward', 'default'))
    expect(loud.stderr).toMatch(/^scoring 8\/8 · took /m)
    expect((await bedside([...score(run, '--reward', 'default'), '--quiet'])).stderr).toBe('')
  })
})

describe('rewards score --out', () => {
  test.each(['parquet', 'jsonl'])(
    'writes the episodes with their new scores as %s',
    async (format) => {
      const out = join(folder, `scored.${format}`)
      const report = await reportOf(run, '--reward', 'communication', '--out', out)
      const before = []
      for await (const saved of readSavedEpisodes(episodes)) before.push(saved)
      const after = []
      for await (const saved of readSavedEpisodes(out)) after.push(saved)
      expect(after.map(({ score: _, ...rest }) => rest)).toEqual(
        before.map(({ score: _, ...rest }) => rest),
      )
      const totals = after.map((saved) => saved.score?.total ?? Number.NaN)
      expect(totals.reduce((sum, total) => sum + total, 0) / 8).toBeCloseTo(
        report.reward.mean ?? 9,
        12,
      )
      expect(await reportOf(out, '--reward', 'communication')).toEqual(report)
    },
  )

  test.each<[string, (path: string) => string[], string]>([
    [
      'two rewards',
      () => ['--reward', 'default', '--reward', 'communication', '--out', 'x.parquet'],
      'expected one --reward',
    ],
    ['another format', () => ['--reward', 'default', '--out', 'x.csv'], '*.jsonl or *.parquet'],
    [
      'the file that is read',
      (path) => ['--reward', 'default', '--out', path],
      'expected another place',
    ],
  ])('refuses %s', async (_, flags, message) => {
    const { code, stdout, stderr } = await bedside(score(episodes, ...flags(episodes)))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(existsSync(episodes)).toBe(true)
  })

  test('leaves nothing behind when it is stopped or fails', async () => {
    const out = join(folder, 'half.parquet')
    const signal = AbortSignal.abort()
    const stopped = await bedside(score(run, '--reward', 'default', '--out', out), { signal })
    expect(stopped.code).toBe(130)
    const path = await module(
      'let n = 0\nexport const bounds = [0, 1]\nexport const reward = () => n++',
    )
    const failed = await bedside(score(run, '--reward', path, '--out', out))
    expect(failed.code).toBe(1)
    expect([existsSync(out), existsSync(`${out}.partial`)]).toEqual([false, false])
  })
})

describe('a reward of the user’s own', () => {
  const throwing = (what: string) =>
    `let n = 0\nexport const reward = () => { if (n++ % 4 === 1) ${what}; return 0.5 }`

  test.each([
    ['throws an error', 'throw new Error("no judge")', 'no judge'],
    ['throws what is no error', 'throw "no judge"', 'no judge'],
    ['reads what is not there', 'undefined.x', 'Cannot read properties of undefined'],
  ])('that sometimes %s: those episodes are left out, counted and told', async (_, code, why) => {
    const path = await module(throwing(code))
    const {
      code: exit,
      stdout,
      stderr,
    } = await bedside([...score(run, '--reward', path), '--json'])
    expect(exit).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ episodes: 8, unavailable: 2, reward: { mean: 0.5 } })
    expect(stderr).toContain(why)
    expect(stderr).toMatch(/! .*episodes\.jsonl:2: episode \S+: /)
  })

  test('that never resolves is given up after its time, and left out', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const path = await module(
      'let n = 0\nexport const reward = () => (n++ === 2 ? new Promise(() => {}) : 0.5)',
    )
    const running = document(score(run, '--reward', path))
    await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 20_000, interval: 5 })
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(await running).toMatchObject({ episodes: 8, unavailable: 1, reward: { mean: 0.5 } })
  })

  test('that waits for a judge is asked about several episodes at once, with the same report and file', async () => {
    const code = `
      let running = 0
      export const reward = async ({ turns }) => {
        globalThis.mostAtOnce = Math.max(globalThis.mostAtOnce, ++running)
        await new Promise((resolve) => setTimeout(resolve, turns.length % 3))
        running--
        return turns.length / 100
      }`
    const path = await module(code)
    const asked = async (concurrency: string) => {
      const out = join(folder, `judged-${concurrency}.jsonl`)
      Reflect.set(globalThis, 'mostAtOnce', 0)
      const argv = ['--reward', path, '--concurrency', concurrency, '--out', out]
      const report = await reportOf(run, ...argv)
      return {
        report,
        file: await readFile(out, 'utf8'),
        most: Reflect.get(globalThis, 'mostAtOnce'),
      }
    }
    const [one, several] = [await asked('1'), await asked('4')]
    expect([one.most, several.most]).toEqual([1, 4])
    expect(several.report).toEqual(one.report)
    expect(several.file).toEqual(one.file)
  })

  test('that can score nothing has failed, with the first reason', async () => {
    const path = await module('export const reward = () => { throw new Error("no judge") }')
    const { code, stderr } = await bedside(score(run, '--reward', path))
    expect(code).toBe(1)
    expect(stderr).toMatch(/error: --reward .* none of 8 episodes .* the first: .*:1: .*no judge/)
  })

  test.each([
    [
      'is out of its bounds',
      'export const bounds = [0, 1]\nexport const reward = () => 2',
      'within [0, 1], got 2',
    ],
    [
      'is NaN',
      'export const reward = () => 0 / 0',
      'finite and within [-Infinity, Infinity], got NaN',
    ],
    [
      'is no score',
      'export const reward = () => "good"',
      'to return a number, null, a part or a score, got good',
    ],
    [
      'has a part that is none',
      'export const reward = () => ({ total: 1, parts: { a: { status: "ok", value: NaN } } })',
      'part `a`',
    ],
  ])('whose result %s ends the work, with its file, name and episode', async (_, code, message) => {
    const path = await module(code)
    const { code: exit, stderr } = await bedside(score(run, '--reward', path))
    expect(exit).toBe(1)
    expect(stderr).toContain(`error: --reward ${path}: episode checklist/easy-heldout-0-`)
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/`mine-\d+`/)
    expect(stderr).not.toContain('internal error')
  })

  test('ends a training run too when it breaks its bounds, and is masked there when it throws', async () => {
    const small = [
      '--steps',
      '1',
      '--cases',
      '2',
      '--set',
      'training.groupsPerStep=2',
      '--set',
      'training.groupSize=2',
    ]
    const train = (path: string, name: string) =>
      bedside(['train', ...small, '--set', `reward=${path}`, '--out', join(folder, name), '--json'])
    const wrong = await train(await module('export const reward = () => NaN'), 'wrong')
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toMatch(
      /error: --reward \S+mine-\d+\.mjs: episode \S+: Expected reward `mine-\d+`/,
    )
    const away = await train(await module(throwing('throw new Error("no judge")')), 'away')
    expect(away.code).toBe(0)
    expect(JSON.parse(away.stdout).samples.unavailable).toBeGreaterThan(0)
  })

  test.each([
    ['nobody has', 'defualt', 'did you mean `default`?'],
    ['is a file that is not there', 'none.mjs', 'there is no such file'],
  ])('by a name that %s is bad input', async (_, name, message) => {
    const { code, stderr } = await bedside(score(run, '--reward', name))
    expect(code).toBe(2)
    expect(stderr).toContain('--reward')
    expect(stderr).toContain(message)
  })

  test.each([
    ['has no `reward`', 'export const price = 3', 'got undefined among the exports price'],
    [
      'has bounds that are none',
      'export const bounds = 3\nexport const reward = () => 1',
      '[low, high], got 3',
    ],
    [
      'has bounds the wrong way round',
      'export const bounds = [1, 0]\nexport const reward = () => 1',
      'got [1,0]',
    ],
    ['cannot be read', 'export const reward = (', '--reward'],
    ['throws when it is loaded', 'throw new Error("no key")', 'no key'],
  ])('from a module that %s is bad input', async (_, code, message) => {
    const path = await module(code)
    const { code: exit, stderr } = await bedside(score(run, '--reward', path))
    expect(exit).toBe(2)
    expect(stderr).toContain(`--reward ${path}`)
    expect(stderr).toContain(message)
  })
})

test('episodes of an older schema are refused with file, line, both schemas and what to do', async () => {
  const path = join(folder, 'old.jsonl')
  const [line = ''] = (await readFile(episodes, 'utf8')).split('\n')
  await writeFile(path, `${line}\n${line.replace('bedside-episodes/2', 'bedside-episodes/0')}\n`)
  const { code, stdout, stderr } = await bedside(score(path, '--reward', 'default'))
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(
    `${path}:2: expected schema bedside-episodes/2, got bedside-episodes/0: an older version`,
  )
  expect(stderr).toContain('bedside evaluate')
})

describe('rewards score of chats', () => {
  const chat = (...contents: readonly string[]) =>
    contents.map((content, n) => ({ role: n % 2 === 0 ? 'assistant' : 'user', content }))
  const rows = [
    { messages: chat('Any fever?', 'Yes.', 'Diagnosis: Influenza'), diagnosis: 'Influenza' },
    { messages: chat('Any fever?', 'Yes.', 'Final diagnosis: gout'), diagnosis: 'Influenza' },
    {
      messages: chat('发烧吗？', '是的。', '诊断：痛风'),
      diagnosis: '痛风',
      recommendation: '休息。',
    },
  ]
  const chats = async (name: string, given: readonly unknown[] = rows) => {
    const path = join(folder, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(
      path,
      given.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'),
    )
    return path
  }
  const by = ['--reward', 'diagnosis-accuracy'] as const

  test('scores a file of chats by what was concluded', async () => {
    const path = await chats('chats.jsonl')
    expect(await reportOf(path, ...by)).toMatchObject({
      episodes: 3,
      reward: { mean: 2 / 3 },
      unavailable: 0,
    })
  })

  test('reads functions that the doctor called, as servers log them', async () => {
    const call = (name: string, given: object) => ({
      ...{ role: 'assistant', content: null },
      tool_calls: [
        { id: 'a', type: 'function', function: { name, arguments: JSON.stringify(given) } },
      ],
    })
    const messages = [
      call('ask_patient', { question: 'Any fever?' }),
      { role: 'tool', tool_call_id: 'a', content: 'Yes.' },
      call('diagnose', { diagnosis: 'Influenza' }),
    ]
    const path = await chats('calls.jsonl', [{ messages, diagnosis: 'Influenza' }])
    expect(await reportOf(path, ...by, '--grammar', 'tools')).toMatchObject({
      reward: { mean: 1 },
    })
  })

  test('and says of a reward of unknown facts that it is unavailable', async () => {
    const path = await chats('chats.jsonl')
    const both = ['--reward', 'diagnosis-accuracy', '--reward', 'cost']
    const { code, stdout, stderr } = await bedside([...score(path, ...both), '--json'])
    expect(code).toBe(1)
    expect(stderr).toContain('logged without')
    expect(JSON.parse(stdout).rewards).toMatchObject({
      'diagnosis-accuracy': { unavailable: 0 },
      cost: { reward: { mean: null }, unavailable: 3 },
    })
  })

  test('reads several paths and the folders in folders, chats beside saved episodes', async () => {
    const deep = await chats('tree/a/b/chats.jsonl')
    await copyFile(episodes, join(folder, 'tree', 'a', 'saved.jsonl'))
    await chats('tree/.hidden/chats.jsonl', ['not read'])
    expect(await reportOf(join(folder, 'tree'), ...by)).toMatchObject({ episodes: 3 + 8 })
    expect(await reportOf(deep, run, ...by)).toMatchObject({ episodes: 3 + 8 })
    // A run directory in a folder: its episodes, and not its other files.
    const parent = join(folder, 'runs-of-mine')
    await mkdir(join(parent, 'one'), { recursive: true })
    for (const name of ['episodes.jsonl', 'evaluation.yaml'])
      await copyFile(join(run, name), join(parent, 'one', name))
    await writeFile(join(parent, 'one', 'metrics.jsonl'), '{"step":1}\n')
    expect(await reportOf(parent, ...by)).toMatchObject({ episodes: 8 })
  })

  test('takes the case by its id: generated, or from --cases', async () => {
    const messages = chat('Diagnosis: gout')
    const generated = await chats('by-id.jsonl', [{ messages, caseId: 'easy-heldout-0-7' }])
    expect(await reportOf(generated, ...by)).toMatchObject({ episodes: 1, unavailable: 0 })
    const cases = join(folder, 'cases-of-chats.jsonl')
    await bedside(['cases', 'generate', '--cases', '2', '--out', cases])
    const [first = ''] = (await readFile(cases, 'utf8')).split('\n')
    const known = JSON.parse(first)
    const named = await chats('by-file.jsonl', [
      { messages: chat(`Diagnosis: ${known.gold.dx[0].name.en}`), caseId: known.id },
      { messages: chat(`Diagnosis: ${known.gold.dx[0].name.en}`), case: known },
    ])
    expect(await reportOf(named, '--cases', cases, ...by)).toMatchObject({
      episodes: 2,
      reward: { mean: 1 },
    })
  })

  test('one that never began is without a score, and the others keep theirs', async () => {
    const silent = await chats('silent.jsonl', [
      { messages: [{ role: 'user', content: 'I cough.' }], diagnosis: 'Influenza' },
      { messages: chat('Diagnosis: Influenza'), diagnosis: 'Influenza' },
    ])
    expect(await reportOf(silent, ...by)).toMatchObject({
      ...{ episodes: 2, unavailable: 1, reward: { mean: 1 } },
    })
  })

  test('writes them as saved episodes, which score the same', async () => {
    const path = await chats('chats.jsonl')
    const out = join(folder, 'chats-scored.jsonl')
    const first = await reportOf(path, ...by, '--out', out)
    expect(await reportOf(out, ...by)).toEqual(first)
    // What was not known then is not known now.
    expect((await bedside(score(out, '--reward', 'cost'))).code).toBe(1)
  })

  test.each<[string, unknown, RegExp]>([
    ['no truth', { messages: chat('a?') }, /:2: expected one of truth, case, caseId and diagnosis/],
    ['two', { ...rows[0], caseId: 'x' }, /got caseId, diagnosis/],
    [
      'an unknown role',
      { messages: [{ role: 'nurse', content: 'x' }], diagnosis: 'x' },
      /:2: messages\.0\.role: /,
    ],
    ['no content', { messages: [{ role: 'user' }], diagnosis: 'x' }, /:2: messages\.0\.content: /],
    [
      'a picture',
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }], diagnosis: 'x' },
      /:2: messages\.0\.content/,
    ],
    ['nobody', { messages: [], diagnosis: 'x' }, /:2: messages: /],
    ['an unknown case', { messages: chat('a?'), caseId: 'none' }, /:2: caseId: .*got `none`/],
    ['a broken case', { messages: chat('a?'), case: { id: 'x' } }, /:2: case\./],
    ['a broken truth', { messages: chat('a?'), truth: { view: 'doctor' } }, /:2: truth: /],
    ['no JSON', '{"messages": [', /:2: /],
    ['another row', { step: 1 }, /:2: expected schema/],
  ])('%s is bad input', async (_, row, message) => {
    const path = await chats('broken.jsonl', [rows[0], row])
    const { code, stderr } = await bedside(score(path, ...by))
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
    expect(stderr).toContain(`${path}:2`)
  })
})
