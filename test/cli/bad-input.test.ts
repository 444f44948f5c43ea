import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shuffledRows, writeMtmeddialog } from '../fixtures/mtmeddialog.js'
import { bedside } from './terminal.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-bad-input-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs what must be refused and gives its message. */
async function refused(...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await bedside(argv)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).not.toContain('    at ')
  return stderr
}

describe('a wrong flag is refused with the flag, the value and what was expected', () => {
  test.each([
    [
      ['evaluate', '--agent', 'random', '--seed', 'abc'],
      ['--seed', 'abc', '0 to 4294967295'],
    ],
    [
      ['evaluate', '--agent', 'random', '--seed', '-1'],
      ['--seed', '-1', '0 to 4294967295'],
    ],
    ...[
      ['evaluate', '--agent', 'random'],
      ['consult', '--agent', 'random'],
      ['train'],
      ['cases', 'generate'],
      ['rewards', 'audit', '--reward', 'default'],
      ['rewards', 'score', 'episodes.jsonl', '--reward', 'default'],
      ['sidecar', 'tiny-model', '--out', 'model'],
    ].map((argv): [string[], string[]] => [
      [...argv, '--seed', '4294967296'],
      ['--seed', '4294967296', '0 to 4294967295'],
    ]),
    [
      ['consult', '--agent', 'random', '--case', 'easy-train-4294967296-0'],
      ["the case's id", 'easy-train-4294967296-0'],
    ],
    [
      ['evaluate', '--agent', 'random', '--tier', 'medium'],
      ['--tier', 'medium', 'easy, standard, hard'],
    ],
    [
      ['consult', '--lang', 'fr'],
      ['--lang', 'fr', 'zh, en'],
    ],
    [
      ['cases', 'check', '--split', 'test'],
      ['--split', 'test', 'train, heldout'],
    ],
    [
      ['evaluate', '--agent', 'random', '--cases', '0'],
      ['--cases', '0', 'from 1'],
    ],
    [
      ['evaluate', '--agent', 'random', '--cases', '1.5'],
      ['--cases', '1.5', 'from 1'],
    ],
    [
      ['evaluate', '--agent', 'random', '--cases', 'none.jsonl'],
      ['--cases', 'none.jsonl', 'no such file'],
    ],
    [
      ['evaluate', '--agent', 'nobody', '--cases', '1'],
      ['--agent', 'nobody', 'random, checklist', 'oracle', 'full-information', 'chat'],
    ],
    [['evaluate'], ['--agent', 'got none']],
    [
      ['evaluate', '--agent', 'chat'],
      ['--model', 'got none'],
    ],
    [
      ['evaluate', '--agent', 'random', '--grammar', 'tools'],
      ['--grammar', '--agent chat', 'random'],
    ],
    [
      ['consult', '--agent', 'chat', '--model', 'm', '--grammar', 'latin'],
      ['--grammar', 'latin', 'diagagent'],
    ],
    [
      ['evaluate', '--agent', 'random', '--clinic', 'bowl'],
      ['--clinic', 'bowl', 'upper-airway'],
    ],
    [
      ['evaluate', '--agent', 'random', '--reward', 'fame', '--cases', '1'],
      ['--reward', 'fame', 'diagnosis-accuracy'],
    ],
    [
      ['evaluate', '--agent', 'random', '--concurrency', '0'],
      ['--concurrency', '0', '1 to 1024'],
    ],
    [
      ['consult', '--agent', 'random', '--save', 'x.txt'],
      ['--save', 'x.txt', '.jsonl or .parquet'],
    ],
    [
      ['consult', '--agent', 'random', '--case', 'seven'],
      ['seven', 'easy-heldout-0-7'],
    ],
    [
      ['consult', '--agent', 'random', '--case', 'easy-train-0-1', '--tier', 'hard'],
      ['--tier', 'hard', 'easy'],
    ],
    [
      ['train', '--backend', 'slime'],
      ['training.normaliser', 'slime', 'token-mean'],
    ],
    [
      ['train', '--steps', 'many'],
      ['--steps', 'many', 'at least 1'],
    ],
    [
      ['cases', 'show', 'easy-heldout-0-0', '--view', 'god'],
      ['--view', 'god', 'grader'],
    ],
    [
      ['cases', 'generate', '--cases', 'package.json'],
      ['--cases', 'package.json', 'how many'],
    ],
    [['evaluate', '--agent', 'random', '--colour'], ['--colour']],
    [['operate'], ['operate']],
  ])('%j', async (argv, named) => {
    const message = await refused(...argv)
    for (const word of named) expect(message).toContain(word)
  })
})

describe('a wrong recipe is refused before anything is begun', () => {
  test('with file, line, path, value and what was expected, for every mistake in it', async () => {
    const path = join(folder, 'recipe.yaml')
    await writeFile(path, 'recipe: x\nseed: abc\nsteps: 3\ntraining:\n  steps: 0\n')
    const out = join(folder, 'wrong-recipe')
    const message = await refused('train', path, '--out', out)
    expect(message).toContain(`${path}:2: seed: `)
    expect(message).toContain('expected number')
    expect(message).toContain('got `"abc"`')
    expect(message).toContain(`${path}:3: steps: unknown key steps`)
    expect(message).toContain(`${path}:5: training.steps: `)
    expect(existsSync(out)).toBe(false)
  })

  test.each([
    [['--set', 'training.stepz=3'], 'training.stepz'],
    [['--set', 'foo'], 'path=value'],
    [['--set', 'training=3', '--set', 'training.steps=4'], 'training'],
    [['--set', 'cases.clinic=[bowl]'], 'bowl'],
    [['--set', 'reward=fame'], 'fame'],
  ])('%j names it', async (argv, named) => {
    const out = join(folder, 'wrong-set')
    expect(await refused('train', ...argv, '--out', out)).toContain(named)
    expect(existsSync(out)).toBe(false)
  })

  test('a recipe in another encoding, with the offset of the byte', async () => {
    const path = join(folder, 'latin.yaml')
    await writeFile(path, Buffer.from('recipe: fièvre\n', 'latin1'))
    for (const argv of [
      ['train', path],
      ['sidecar', 'tiny-model', path],
    ])
      expect(await refused(...argv, '--out', join(folder, 'latin'))).toContain(
        `${path}: expected UTF-8, got byte 0xe8 at offset 10`,
      )
  })

  test('a recipe that is not there', async () => {
    const message = await refused('train', join(folder, 'none.yaml'))
    expect(message).toContain('none.yaml: expected a recipe')
  })
})

describe('a wrong file is refused with its place', () => {
  test('a case file with a broken line: file, line and path', async () => {
    const path = join(folder, 'broken.jsonl')
    const { stdout } = await bedside(['cases', 'generate', '--cases', '2'])
    await writeFile(path, `${stdout}{"schema":"bedside-case/1","id":3}\n`)
    for (const command of ['evaluate', 'consult'])
      expect(await refused(command, '--agent', 'random', '--cases', path)).toContain(
        `${path}:3: not a case at id, expected string, got 3`,
      )
    const out = join(folder, 'broken-run')
    expect(await refused('train', '--cases', path, '--out', out)).toContain(`${path}:3: `)
    expect(existsSync(out)).toBe(false)
  })

  test('files of others in another encoding: the file and the offset of the byte', async () => {
    const path = join(folder, 'latin.json')
    await writeFile(path, Buffer.from('[{"Question":"fièvre"}]', 'latin1'))
    const offset = '[{"Question":"fi'.length
    for (const format of ['huatuo-rl', 'huatuo-sft']) {
      const out = join(folder, 'latin-out.jsonl')
      expect(await refused('cases', 'import', path, '--format', format, '--out', out)).toContain(
        `${path}: expected UTF-8, got byte 0xe8 at offset ${offset}`,
      )
      expect(existsSync(out)).toBe(false)
    }
  })

  test('a parquet file with a missing column: the column, and no case file', async () => {
    const path = join(folder, 'column.parquet')
    const out = join(folder, 'cases.jsonl')
    await writeMtmeddialog(path, shuffledRows(), { drop: ['reward_model'] })
    const before = await readdir(folder)
    const message = await refused('cases', 'import', '--format', 'mtmeddialog', path, '--out', out)
    expect(message).toContain(`${path}: column \`reward_model\` is missing`)
    expect(message).toContain('found data_source, prompt, extra_info, response')
    expect(await readdir(folder)).toEqual(before)
  })

  test('an import format that does not exist, and an import to a place that does not', async () => {
    expect(await refused('cases', 'import', 'x', '--format', 'csv', '--out', 'y')).toContain(
      'mtmeddialog',
    )
    const path = join(folder, 'good.parquet')
    await writeMtmeddialog(path)
    const out = join(folder, 'no', 'such', 'cases.jsonl')
    const message = await refused('cases', 'import', path, '--format', 'mtmeddialog', '--out', out)
    expect(message).toContain('cannot be written')
  })

  test('a module that exports no reward, and a file that holds no episodes', async () => {
    const module = join(folder, 'nothing.mjs')
    await writeFile(module, 'export const price = 3\n')
    const episodes = join(folder, 'none.jsonl')
    await writeFile(episodes, '')
    expect(await refused('rewards', 'score', episodes, '--reward', module)).toContain(
      'export `reward`',
    )
    expect(await refused('rewards', 'score', episodes, '--reward', 'default')).toContain(
      'found none',
    )
  })

  test('a file of too few cases to hold some out', async () => {
    const path = join(folder, 'one.jsonl')
    await bedside(['cases', 'generate', '--cases', '1', '--out', path])
    expect(await refused('evaluate', '--agent', 'random', '--cases', path)).toContain(
      `${path}: expected enough cases`,
    )
  })

  test('a place that cannot be written, before anything is played', async () => {
    const nowhere = join(folder, 'no', 'such', 'episode.jsonl')
    expect(await refused('consult', '--agent', 'random', '--save', nowhere)).toContain(nowhere)
    const file = join(folder, 'a-file')
    await writeFile(file, '')
    const { code, stderr } = await bedside(['train', '--steps', '1', '--cases', '1', '--out', file])
    expect([code, stderr]).toEqual([2, expect.stringContaining(file)])
  })

  test('a folder that is no run', async () => {
    expect(await refused('train', '--resume', folder)).toContain(`--resume ${folder}`)
    expect(await refused('evaluate', '--resume', folder)).toContain(`--resume ${folder}`)
    expect(await refused('evaluate', '--agent', folder)).toContain(`--agent ${folder}`)
  })
})

test('an endpoint that is down ends the work with one message and leaves nothing behind', async () => {
  const out = join(folder, 'down')
  const { code, stdout, stderr } = await bedside([
    'evaluate',
    '--agent',
    'chat',
    '--model',
    'm',
    '--base-url',
    'http://127.0.0.1:1/v1',
    '--out',
    out,
    '--cases',
    '3',
  ])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('could not be played: http://127.0.0.1:1/v1 (model m): ')
  expect(stderr.match(/error:/g)).toHaveLength(1)
  expect(existsSync(out)).toBe(false)
})

test('the stack of an unexpected error is shown only when asked for', async () => {
  const argv = ['cases', 'check', '--cases', '1', '--json']
  const signal = {
    get aborted() {
      return false
    },
    throwIfAborted() {
      throw new Error('out of order')
    },
  }
  // Only what the program reads of a signal; it breaks on purpose.
  const broken = signal as unknown as AbortSignal
  const plain = await bedside(argv, { signal: broken })
  expect(plain.code).toBe(1)
  expect(plain.stderr).toContain('error: out of order')
  expect(plain.stderr).not.toContain('    at ')
  const debug = await bedside(argv, { signal: broken, env: { BEDSIDE_DEBUG: '1' } })
  expect(debug.stderr).toContain('    at ')
})
