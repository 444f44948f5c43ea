/** What a recipe's `prepare` makes before `bedside train`, and how it is refused. */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { writeCases } from '../../../src/storage/case-files.js'
import { bedside } from '../terminal.js'

const folder = mkdtempSync(join(tmpdir(), 'bedside-prepare-'))
beforeAll(async () => {
  const draw = { tier: 'easy', split: 'train', seed: 0 } as const
  const cases = Array.from({ length: 20 }, (_, n) => generateCase(loadKnowledge(), { ...draw, n }))
  await writeCases(join(folder, 'ready.jsonl'), cases)
})
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
/** A program that copies the cases, and counts its calls. */
const maker = () =>
  file(
    'make.mjs',
    `import { appendFileSync, copyFileSync } from 'node:fs'
appendFileSync(${JSON.stringify(join(folder, 'calls'))}, 'x')
copyFileSync(${JSON.stringify(join(folder, 'ready.jsonl'))}, process.argv[2])
`,
  )
const training =
  'training: { steps: 1, groupsPerStep: 1, groupSize: 2, evaluateCases: 2 }\nenv: { maxTurns: 3 }\n'
const recipe = (name: string, cases: string, prepare: string, more = training) =>
  file(name, `cases: { file: ${cases}, heldOut: 2 }\nprepare: ${prepare}\n${more}`)
const train = (path: string, ...flags: readonly string[]) =>
  bedside(['train', path, '--out', join(folder, `run-${flags.length}-${Math.random()}`), ...flags])

describe('cases', () => {
  test('are made where they are missing, once, and said', async () => {
    maker()
    const path = recipe('whole.yaml', 'made/cases.jsonl', '{ cases: make.mjs }')
    const first = await train(path)
    expect([first.code, first.stderr]).toEqual([
      0,
      expect.stringContaining('cases.jsonl is missing'),
    ])
    expect(readFileSync(join(folder, 'made/cases.jsonl'))).toEqual(
      readFileSync(join(folder, 'ready.jsonl')),
    )
    const second = await train(path)
    expect(second.code).toBe(0)
    expect(second.stderr).not.toContain('is missing')
    expect(readFileSync(join(folder, 'calls'), 'utf8')).toBe('x')
    // Nothing half made is left.
    expect(readdirSync(join(folder, 'made'))).toEqual(['cases.jsonl'])
  })

  test('are not made by --print-command, which says what would make them', async () => {
    file('never.mjs', 'process.exit(9)')
    const path = recipe(
      'plan.yaml',
      'plan/cases.jsonl',
      '{ cases: never.mjs }',
      'backend: slime\npolicy: { model: none }\ntraining: { groupsPerStep: 8, normaliser: token-mean }\n',
    )
    const { code, stdout } = await train(path, '--print-command')
    expect(code).toBe(0)
    expect(stdout).toContain(`${join(folder, 'plan/cases.jsonl')}, by ${join(folder, 'never.mjs')}`)
    expect(existsSync(join(folder, 'plan'))).toBe(false)
  })

  test.each([
    [
      'fails',
      "console.error('the disk is full'); process.exit(3)",
      /exit code 3\): the disk is full/,
    ],
    [
      'writes nothing',
      "console.log('done')",
      /expected .*make-.*to write .*got none \(exit code 0\)/,
    ],
  ])('whose program %s are refused with its last words', async (name, text, said) => {
    const program = `make-${name.replace(' ', '-')}.mjs`
    file(program, text)
    const path = recipe(`${program}.yaml`, `${program}.d/cases.jsonl`, `{ cases: ${program} }`)
    const { code, stderr } = await train(path)
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)])
  })
})

describe('a model', () => {
  const policy = 'backend: sidecar\npolicy: { model: no-model }\n'

  test('that is missing names the command for the environment that makes it', async () => {
    const path = recipe('tiny.yaml', 'ready.jsonl', '{ tiny: { width: 32 } }', policy)
    const { code, stderr } = await bedside(['train', path, '--out', join(folder, 'tiny')], {
      env: { BEDSIDE_VENVS: join(folder, 'no-venvs') },
    })
    expect(code).toBe(2)
    expect(stderr).toContain('run `npx bedside sidecar setup`')
    expect(existsSync(join(folder, 'no-model'))).toBe(false)
  })

  test('of a stand-in without any Python environment names both commands at once, before anything is made', async () => {
    const python = file(
      'python',
      "#!/bin/sh\necho 'ImportError: Expected aiohttp: pip install …' >&2\nexit 1\n",
    )
    chmodSync(python, 0o755)
    maker()
    const path = recipe(
      'both.yaml',
      'both/cases.jsonl',
      '{ cases: make.mjs, tiny: {} }',
      `backend: slime\npolicy: { model: no-model }\ncluster: { python: ${python} }\ntraining: { groupsPerStep: 8, normaliser: token-mean }\n`,
    )
    const { code, stderr } = await bedside(['train', path, '--stand-in'], {
      env: { BEDSIDE_VENVS: join(folder, 'no-venvs') },
    })
    expect(code).toBe(2)
    expect(stderr).toMatch(/two Python environments are missing:\n.*without aiohttp; make it by/)
    expect(stderr).toContain('run `npx bedside sidecar setup`')
    expect(existsSync(join(folder, 'both'))).toBe(false)
  })

  test('of a stand-in whose Python was killed says so, not the last of its help', async () => {
    const python = file('killed', "#!/bin/sh\necho '--dtype {float32}'\nkill -TERM $$\n")
    chmodSync(python, 0o755)
    const path = file(
      'killed.yaml',
      `backend: slime\npolicy: { model: no-model }\ncluster: { python: ${python} }\ntraining: { groupsPerStep: 8, normaliser: token-mean }\n`,
    )
    const { code, stderr } = await bedside(['train', path, '--stand-in'], {
      env: { BEDSIDE_VENVS: join(folder, 'no-venvs') },
    })
    expect([code, stderr]).toEqual([2, expect.stringContaining('which says: SIGTERM, after')])
  })

  test.skipIf(process.platform === 'win32')(
    'of a stand-in whose Python is still looked at is given up by Ctrl-C',
    async () => {
      const begun = join(folder, 'begun')
      const python = file('slow', `#!/bin/sh\ntouch '${begun}'\nexec sleep 600\n`)
      chmodSync(python, 0o755)
      const path = file(
        'slow.yaml',
        `backend: slime\npolicy: { model: no-model }\ncluster: { python: ${python} }\ntraining: { groupsPerStep: 8, normaliser: token-mean }\n`,
      )
      const stopping = new AbortController()
      const running = bedside(['train', path, '--stand-in'], {
        env: { BEDSIDE_VENVS: join(folder, 'no-venvs') },
        signal: stopping.signal,
      })
      await expect.poll(() => existsSync(begun), { timeout: 60_000 }).toBe(true)
      stopping.abort()
      expect(await running).toMatchObject({ code: 130, stderr: expect.stringMatching(/Stopped/) })
    },
    90_000,
  )

  test.each([
    ['{ tiny: {}, run: whole.yaml }', 'sidecar', /prepare\.tiny: expected `run` or `tiny`/],
    ['{ tiny: { wide: 3 } }', 'sidecar', /wide/],
    [
      '{ run: whole.yaml }',
      'embedded',
      /prepare\.run: expected `init` or `policy\.model` beside it/,
    ],
  ])('%s under %s is refused', async (prepare, backend, said) => {
    const more = backend === 'sidecar' ? policy : ''
    const { code, stderr } = await train(recipe('refused.yaml', 'ready.jsonl', prepare, more))
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)])
  })

  test('cases without a file to make are refused', async () => {
    const path = file('generated.yaml', 'prepare: { cases: make.mjs }\n')
    const { code, stderr } = await train(path)
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('prepare.cases: expected `cases.file`'),
    ])
  })
})

describe('a checkpoint to begin from', () => {
  const begun = (name: string, init: string) =>
    file(
      name,
      `init: ${init}\nprepare: { run: first.yaml }\ncases: { file: ready.jsonl, heldOut: 2 }\n${training}`,
    )
  const first = () =>
    file('first.yaml', `recipe: first\ncases: { file: ready.jsonl, heldOut: 2 }\n${training}`)

  test('is trained by another recipe, once, with the same seed and language', async () => {
    first()
    const path = begun('then.yaml', 'runs/first-7/checkpoints/step-000001')
    const own = ['--set', 'seed=7', '--set', 'language=zh']
    const run = await train(path, ...own)
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('step-000001 is missing')])
    expect(readFileSync(join(folder, 'runs/first-7/config.yaml'), 'utf8')).toMatch(
      /seed: 7\nlanguage: zh/,
    )
    const again = await train(path, ...own, '--quiet')
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining('is missing')])
  })

  test('that the other recipe does not leave is refused', async () => {
    first()
    const { code, stderr } = await train(begun('far.yaml', 'runs/far/checkpoints/step-000009'))
    expect([code, stderr]).toEqual([2, expect.stringMatching(/init: expected a checkpoint that/)])
  })

  test('outside a run directory is refused before anything is trained', async () => {
    first()
    const { code, stderr } = await train(begun('odd.yaml', 'weights'))
    expect([code, stderr]).toEqual([2, expect.stringContaining('RUN/checkpoints/NAME')])
  })
})
