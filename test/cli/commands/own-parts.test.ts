import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { bedside, document } from '../terminal.js'

let folder: string
let run: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-cli-own-'))
  run = join(folder, 'run')
  await document(['train', ...small, '--out', run])
}, 60_000)
afterAll(() => rm(folder, { recursive: true }))

const small = [
  ...['--clinic', 'upper-airway', '--cases', '2', '--steps', '1'],
  ...['groupsPerStep=2', 'groupSize=2', 'evaluateCases=2', 'checkpointEvery=1'].flatMap(
    (setting) => ['--set', `training.${setting}`],
  ),
]

let count = 0
const written = async (code: string): Promise<string> => {
  const file = join(folder, `mine-${count++}.mjs`)
  await writeFile(file, code)
  return file
}
const mute =
  "export const patient = () => ({ text: '…', understood: 'unknown', questions: 1, asked: [], told: [] })\n"
const asker =
  "export const agent = ({ turns }) => ({ action: turns.length === 0 ? { kind: 'ask', text: 'Any fever?' } : { kind: 'order', exam: 'weight' } })\n"
const scales =
  "export const exams = (order) => order === 'weight' ? { status: 'resulted', exams: [order], text: '70 kg', told: [], money: 1, minutes: 1 } : undefined\n"

describe('modules on the command line', () => {
  test('are patient, examinations and agent of a consultation', async () => {
    const [patient, agent, exams] = [
      await written(mute),
      await written(asker),
      await written(scales),
    ]
    const parts = ['--agent', agent, '--patient', patient, '--exams', `${exams},record`]
    expect(await document(['consult', ...parts])).toMatchObject({
      agent,
      turns: expect.arrayContaining([
        expect.objectContaining({ outcome: expect.objectContaining({ text: '…' }) }),
        expect.objectContaining({ outcome: expect.objectContaining({ text: '70 kg' }) }),
      ]),
    })
  })

  test('are evaluated, kept by name, and gone on with only when they are trusted', async () => {
    const [patient, agent] = [await written(mute), await written(asker)]
    const out = join(folder, 'evaluation')
    const report = await document([
      ...['evaluate', '--agent', agent, '--patient', patient],
      ...['--cases', '2', '--out', out],
    ])
    expect(report).toMatchObject({ agent, episodes: 2 })
    const { code, stderr } = await bedside(['evaluate', '--resume', out])
    expect(code).toBe(2)
    for (const word of [out, agent, patient, '--agent', '--patient', '--trust'])
      expect(stderr).toContain(word)
    expect(await document(['evaluate', '--resume', out, '--trust'])).toMatchObject({ agent })
  })

  test('hold the weights of a run', async () => {
    const backend = await written(
      "import { embedded } from 'bedside/trainers'\nexport const backend = ({ actionSpace }) => Object.assign(embedded({ actionSpace }), { name: 'mine' })\n",
    )
    const out = join(folder, 'backend')
    const report = await document(['train', ...small, '--backend', backend, '--out', out])
    expect(report).toMatchObject({ backend: 'mine', steps: 1 })
    const evaluate = ['evaluate', '--agent', out, '--cases', '2']
    expect((await bedside(evaluate)).stderr).toContain(`the module ${backend} (backend)`)
    expect(await document([...evaluate, '--trust'])).toMatchObject({ episodes: 2 })
    const printed = await bedside(['train', '--resume', out, '--trust', '--print-command'])
    expect(printed.stdout).toContain('--trust')
  })

  test.each([
    [
      ['consult', '--patient', 'ruel', '--agent', 'random'],
      '--patient (env.patient): expected rule',
    ],
    [
      ['evaluate', '--agent', 'none.mjs'],
      '--agent none.mjs: expected a module, there is no such file',
    ],
    [
      ['evaluate', '--agent', 'orcale', '--exams', 'x', '--cases', '1'],
      '--exams (env.exams): expected record',
    ],
    [['train', '--set', 'env.patient=ruel'], 'env.patient: expected rule, record'],
    [['train', '--set', 'own=[backend]'], 'given `backend` by a program'],
    [['evaluate', '--agent', 'random', '--patient', 'free', '--persona', 'calm'], '--persona'],
  ])('%j is bad input', async (argv, message) => {
    const { code, stderr } = await bedside(argv)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })
})

describe('a module that a stored run names', () => {
  const marker = () => join(folder, 'marker')
  const evil = () =>
    written(
      `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(marker())}, '')\nexport const reward = () => 0, patient = () => 0, exams = () => undefined, backend = () => ({})\n`,
    )
  /** The run with something else in its recipe. */
  async function tampered(change: (recipe: Record<string, never>, file: string) => object) {
    const file = await evil()
    const config = join(run, 'config.yaml')
    const text = await readFile(config, 'utf8')
    await writeFile(config, stringify(change(parse(text), file)))
    return { file, restore: () => writeFile(config, text) }
  }
  beforeEach(() => rm(marker(), { force: true }))

  const commands: readonly (readonly string[])[] = [
    ['train', '--resume'],
    ['evaluate', '--cases', '2', '--agent'],
    ['consult', '--agent'],
  ]
  test.each([
    ['reward', (recipe: object, reward: string) => ({ ...recipe, reward })],
    ['env.patient', (recipe: object, patient: string) => ({ ...recipe, env: { patient } })],
    [
      'env.exams',
      (recipe: object, file: string) => ({ ...recipe, env: { exams: ['record', file] } }),
    ],
    ['backend', (recipe: object, backend: string) => ({ ...recipe, backend })],
  ])('as its %s is executed with --trust only', async (key, change) => {
    const { file, restore } = await tampered(change)
    try {
      const signal = ['rewards', 'signal']
      for (const command of key === 'reward' ? [...commands, signal] : commands) {
        const { code, stderr } = await bedside([...command, run])
        expect(code).toBe(2)
        expect(stderr).toContain(`${run}: what is stored here names the module ${file} (${key})`)
        expect(stderr).toContain('--trust')
        expect(existsSync(marker())).toBe(false)
      }
      await bedside(['rewards', 'score', run, '--reward', 'diagnosis-accuracy'])
      expect(existsSync(marker())).toBe(false)
      await bedside(['evaluate', '--cases', '2', '--agent', run, '--trust'])
      expect(existsSync(marker())).toBe(true)
    } finally {
      await restore()
    }
  })

  test('is not asked about where a flag replaces it', async () => {
    const { restore } = await tampered((recipe, reward) => ({ ...recipe, reward }))
    try {
      const argv = ['evaluate', '--cases', '2', '--agent', run, '--reward', 'default']
      expect(await document(argv)).toMatchObject({ episodes: 2 })
      expect((await bedside(['rewards', 'signal', run, '--reward', 'default'])).code).toBe(0)
      expect(existsSync(marker())).toBe(false)
    } finally {
      await restore()
    }
  })

  test('as its demonstrator is not executed by what teaches nobody, nor by going on without --trust', async () => {
    const { restore } = await tampered((recipe, agent) => ({
      ...recipe,
      training: { algorithm: 'sft', steps: 1, sft: { agent } },
    }))
    try {
      expect((await bedside(['train', '--resume', run])).stderr).toContain('(training.sft.agent)')
      expect(await document(['evaluate', '--cases', '2', '--agent', run])).toMatchObject({
        episodes: 2,
      })
      expect(existsSync(marker())).toBe(false)
    } finally {
      await restore()
    }
  })

  test('a run that was given parts by a program says so', async () => {
    const { restore } = await tampered((recipe) => ({ ...recipe, own: ['patient', 'agents'] }))
    try {
      const { code, stderr } = await bedside(['evaluate', '--cases', '2', '--agent', run])
      expect(code).toBe(2)
      expect(stderr).toContain('given `patient` by a program')
      const argv = ['evaluate', '--cases', '2', '--agent', run, '--patient', 'rule']
      expect(await document(argv)).toMatchObject({ episodes: 2 })
      expect((await bedside(['train', '--resume', run])).stderr).toContain('`patient` and `agents`')
    } finally {
      await restore()
    }
  })
})
