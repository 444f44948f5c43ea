import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { trajectoryWriter } from '../../src/trainers/trajectories/writer.js'
import { python, stampedFolder } from '../fixtures/environments.js'
import { bedside } from './terminal.js'

const chatml = fileURLToPath(new URL('../fixtures/tokenizers/chatml', import.meta.url))

let folder: string
const at = (name: string): string => join(folder, name)
const small = [
  ...['--clinic', 'upper-airway', '--cases', '4', '--steps', '1'],
  ...['groupsPerStep=2', 'groupSize=2', 'evaluateCases=2'].flatMap((one) => [
    '--set',
    `training.${one}`,
  ]),
]
const env = { PATH: String(process.env.PATH) }

/** A command line that has one document, and one that is refused. */
interface Example {
  readonly good?: () => readonly string[]
  readonly bad: () => readonly string[]
  /** A stream: as many documents as lines. */
  readonly lines?: number
}

/** Every command; those after `train` may use its run. */
const examples: Readonly<Record<string, Example>> = {
  train: {
    good: () => ['train', ...small, '--out', at('run')],
    bad: () => ['train', at('none.yaml')],
  },
  evaluate: {
    good: () => [
      ...['evaluate', '--agent', 'random', '--cases', '2', '--repeats', '2'],
      ...['--out', at('evaluated')],
    ],
    bad: () => ['evaluate', '--agent', 'nobody', '--cases', '2'],
  },
  consult: {
    good: () => ['consult', '--agent', 'random', '--save', at('saved.jsonl')],
    bad: () => ['consult', '--agent', 'random', '--case', 'seven'],
  },
  'cases generate': {
    good: () => ['cases', 'generate', '--cases', '3', '--out', at('cases.jsonl')],
    bad: () => ['cases', 'generate', '--cases', '3', '--out', at('')],
  },
  'cases import': {
    good: () => [
      ...['cases', 'import', at('huatuo.json'), '--format', 'huatuo-rl'],
      ...['--out', at('imported.jsonl')],
    ],
    bad: () => ['cases', 'import', at('none'), '--format', 'huatuo-rl', '--out', at('x.jsonl')],
  },
  'cases check': {
    good: () => ['cases', 'check', '--cases', '1'],
    bad: () => ['cases', 'check', '--cases', at('none.jsonl')],
  },
  'cases schema': {
    good: () => ['cases', 'schema'],
    bad: () => ['cases', 'schema', 'of-what'],
  },
  'cases show': {
    good: () => ['cases', 'show', 'easy-train-0-0', '--view', 'grader'],
    bad: () => ['cases', 'show', 'seven'],
  },
  'knowledge check': {
    good: () => ['knowledge', 'check'],
    bad: () => ['knowledge', 'check', at('none')],
  },
  'patient understand': {
    good: () => ['patient', 'understand', 'Any fever?', 'Any cough?'],
    bad: () => ['patient', 'understand', '--knowledge', at('none'), 'Any fever?'],
    lines: 2,
  },
  'rewards judge-check': {
    good: () => ['rewards', 'judge-check', at('judged.jsonl')],
    bad: () => ['rewards', 'judge-check', at('none.jsonl')],
  },
  'rewards list': { good: () => ['rewards', 'list'], bad: () => ['rewards', 'list', 'all'] },
  'rewards score': {
    good: () => [
      ...['rewards', 'score', at('saved.jsonl'), '--reward', 'default'],
      ...['--out', at('scored.jsonl')],
    ],
    bad: () => ['rewards', 'score', at('saved.jsonl'), '--reward', at('fails.mjs')],
  },
  'rewards signal': {
    good: () => ['rewards', 'signal', at('run')],
    bad: () => ['rewards', 'signal', at('none.jsonl')],
  },
  'rewards audit': {
    good: () => ['rewards', 'audit', '--reward', 'default', '--cases', '4'],
    bad: () => ['rewards', 'audit', '--reward', 'fame'],
  },
  curves: {
    good: () => ['curves', at('run'), '--out', at('pictures')],
    bad: () => ['curves', at('none'), '--out', at('pictures')],
  },
  'trajectories export': {
    good: () => ['trajectories', 'export', at('run'), '--format', 'sft', '--out', at('sft.jsonl')],
    bad: () => ['trajectories', 'export', at('none'), '--format', 'sft', '--out', at('sft.jsonl')],
  },
  'trajectories info': {
    good: () => ['trajectories', 'info', at('trajectories.parquet')],
    bad: () => ['trajectories', 'info', at('none')],
  },
  'template check': {
    good: () => ['template', 'check', chatml],
    bad: () => ['template', 'check', at('none')],
  },
  info: { good: () => ['info'], bad: () => ['info', 'everything'] },
  'sidecar setup': {
    ...(python ? { good: () => ['sidecar', 'setup', '--env', at('sidecar')] } : {}),
    bad: () => ['sidecar', 'setup', '--python', at('none')],
  },
  // Runs until Ctrl-C; `serve.test.ts` reads its document.
  serve: { bad: () => ['serve', '--dialect', 'opnenv'] },
  // Runs until Ctrl-C; `sidecar.test.ts` reads its document.
  'sidecar serve': { bad: () => ['sidecar', 'serve', '--model', at('none')] },
  'sidecar export': { bad: () => ['sidecar', 'export', at('none'), '--out', at('tiny')] },
  'sidecar tiny-model': {
    bad: () => ['sidecar', 'tiny-model', at('none.yaml'), '--out', at('tiny')],
  },
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-json-'))
  const row = { question: 'What causes scurvy?', answer: 'Vitamin C deficiency' }
  await writeFile(at('huatuo.json'), JSON.stringify([row]))
  const judged = {
    task: 'same-diagnosis',
    reference: 'Influenza',
    answer: 'the flu',
    label: 'Correct',
  }
  await writeFile(at('judged.jsonl'), JSON.stringify(judged))
  await writeFile(at('fails.mjs'), 'export const reward = () => { throw new Error("no judge") }')
  await trajectoryWriter(at('trajectories.parquet')).close()
  if (python) stampedFolder(at('sidecar'), 'peft')
})
afterAll(() => rm(folder, { recursive: true }))

/** The documents on stdout, one a line and nothing between them. */
function documentsIn(stdout: string): unknown[] {
  expect(stdout.endsWith('\n')).toBe(true)
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

describe('with --json', () => {
  test.each(Object.entries(examples).filter(([, { good }]) => good))(
    '%s prints one document and nothing else',
    async (_, { good = () => [], lines = 1 }) => {
      const { code, stdout, stderr } = await bedside([...good(), '--json'], { env })
      expect([code, stderr.includes('error:')]).toEqual([0, false])
      expect(documentsIn(stdout)).toHaveLength(lines)
    },
    120_000,
  )

  test.each(Object.entries(examples))(
    '%s refused, or failed, leaves stdout empty',
    async (_, { bad }) => {
      const { code, stdout, stderr } = await bedside([...bad(), '--json'], { env })
      expect(stdout).toBe('')
      expect([1, 2]).toContain(code)
      expect(stderr).toMatch(/^(?:.*\n)*error: /)
    },
  )

  test('every command of the program is among these', async () => {
    const leaves = async (...words: readonly string[]): Promise<string[]> => {
      const { stdout } = await bedside([...words, '--help'])
      const listed = /\nCommands:\n([\s\S]*?)\n\n/.exec(`${stdout}\n\n`)?.[1]
      if (listed === undefined) return [words.join(' ')]
      const names = [...listed.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => String(name))
      const below = names.filter((name) => name !== 'help').map((name) => leaves(...words, name))
      return (await Promise.all(below)).flat()
    }
    expect((await leaves()).sort()).toEqual(Object.keys(examples).sort())
  })

  test('cases generate --out says what it wrote', async () => {
    const out = at('generated.jsonl')
    const { stdout } = await bedside(['cases', 'generate', '--cases', '2', '--out', out, '--json'])
    expect(JSON.parse(stdout)).toEqual({ cases: 2, out })
    expect((await readFile(out, 'utf8')).trim().split('\n')).toHaveLength(2)
  })

  test('streams are one document a line', async () => {
    const cases = await bedside(['cases', 'generate', '--cases', '3', '--json'])
    expect(documentsIn(cases.stdout)).toHaveLength(3)
    const understood = await bedside(['patient', 'understand', '--json'], {
      input: '{"text":"Any fever?"}\n{"text":"有没有咳嗽？"}\n',
    })
    expect(documentsIn(understood.stdout)).toHaveLength(2)
  })

  test('stdout is not to be the file that is written too', async () => {
    for (const argv of [
      ['cases', 'generate', '--out', '/dev/stdout'],
      ['rewards', 'score', at('saved.jsonl'), '--reward', 'default', '--out', '/dev/fd/1'],
    ]) {
      const { code, stdout, stderr } = await bedside([...argv, '--json'])
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain('--json: stdout holds its document and nothing else')
    }
  })
})
