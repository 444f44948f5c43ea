import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agent.js'
import { scripted } from '../../src/agents/scripted.js'
import type { ExamSimulator } from '../../src/exam.js'
import type { Patient } from '../../src/patient.js'
import { rollout } from '../../src/rollout.js'
import { openNamedBackend } from '../../src/runs/own-backends.js'
import { agentNames } from '../../src/tasks/agents.js'
import {
  registerAgent,
  registerExams,
  registerPatient,
  resolveAgent,
} from '../../src/tasks/parts.js'
import { registerReward } from '../../src/tasks/reward-modules.js'
import type { TaskOptions } from '../../src/tasks/task.js'
import { task } from '../../src/tasks/task.js'
import type { Action } from '../../src/turn.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-parts-'))
})
afterAll(() => rm(folder, { recursive: true }))

const small = { heldOut: 2, clinic: ['upper-airway'] }
const mute: Patient = () => ({
  text: '…',
  understood: 'unknown',
  questions: 1,
  asked: [],
  told: [],
})
const scales: ExamSimulator = (order) =>
  order === 'weight'
    ? { status: 'resulted', exams: ['weight'], text: '70 kg', told: [], money: 1, minutes: 1 }
    : undefined
const giveUp: Agent = () => ({ action: { kind: 'give-up' } })

/** What a task's world answers to one action. */
async function answer(options: TaskOptions, action: Action): Promise<unknown> {
  const { makeEnv, heldOut } = await task({ ...small, ...options })
  const { turns } = await rollout(makeEnv(), scripted([action]), { options: { case: heldOut[0] } })
  return turns[0]?.outcome
}
const ask = (options: TaskOptions) => answer(options, { kind: 'ask', text: 'Any fever?' })
const order = (options: TaskOptions) => answer(options, { kind: 'order', exam: 'weight' })

const written = async (name: string, code: string): Promise<string> => {
  const file = join(folder, name)
  await writeFile(file, code)
  return file
}

describe('task() takes', () => {
  test('a patient by value, registered name and module', async () => {
    registerPatient('mute', () => mute)
    const file = await written(
      'mute.mjs',
      "export const patient = () => ({ text: '…', understood: 'unknown', questions: 1, asked: [], told: [] })\n",
    )
    const usual = await ask({})
    for (const patient of [mute, 'mute', file])
      expect(await ask({ patient })).toMatchObject({ kind: 'answered', text: '…' })
    expect(await ask({ patient: 'rule' })).toEqual(usual)
    await expect(task({ ...small, patient: 'ruel' })).rejects.toThrow('did you mean `rule`?')
    await expect(task({ ...small, patient: 'record' })).rejects.toMatchObject({ code: 'bad-input' })
  })

  test('examination simulators in their order', async () => {
    registerExams('scales', () => [scales])
    const file = await written('blind.mjs', 'export const exams = [() => undefined]\n')
    for (const exams of [scales, 'scales', [file, 'scales', 'record']])
      expect(await order({ exams })).toMatchObject({ kind: 'examined', text: '70 kg' })
    expect(await order({ exams: [file, 'record'] })).toEqual(await order({}))
    await expect(task({ ...small, exams: 'recrod' })).rejects.toThrow('--exams (env.exams)')
  })

  test('a bare reward function, and a registered one', async () => {
    registerReward('half', () => () => 0.5)
    for (const reward of ['half', () => 0.5]) {
      const world = await task({ ...small, reward })
      const episode = await rollout(world.makeEnv(), giveUp, {})
      const truth = { gold: {} } as never // not read by this reward
      expect((await world.reward(episode, truth)).total).toBe(0.5)
    }
    expect(() => registerReward('default', () => () => 0)).toThrow('taken')
    await expect(task({ ...small, reward: 'hlaf' })).rejects.toThrow('did you mean `half`')
  })

  test('agents under names that nobody has, and registered ones', async () => {
    registerAgent('quitter', ({ actionSpace, knowledge }) => {
      expect(actionSpace.actions.length).toBeGreaterThan(knowledge.diseases.length)
      return giveUp
    })
    const file = await written('agent.mjs', 'export const agent = () => ({ action: 1 })\n')
    const { agents } = await task({
      ...small,
      agents: { mine: giveUp, other: file, best: 'oracle' },
    })
    expect(agents.mine?.()).toBe(giveUp)
    expect(agents.quitter?.()).toBe(giveUp)
    expect(agents.other?.()).toBeTypeOf('function')
    expect(agents.best).toBe(agents.oracle)
    expect(() => agents.mine?.({ questionsOnly: true })).toThrow(RangeError)
    await expect(task({ ...small, agents: { oracle: giveUp } })).rejects.toThrow('taken')
    await expect(resolveAgent('orcale', agents, '--agent')).rejects.toThrow(
      'did you mean `oracle`?',
    )
  })

  test('nobody to meet where the doctor meets nobody', async () => {
    const options = { name: 'question' as const, file: 'test/fixtures/none.jsonl', cases: [] }
    await expect(task({ ...options, patient: mute })).rejects.toMatchObject({ code: 'bad-input' })
  })

  test.each([
    ['a patient', { patient: 3 as unknown as Patient }], // wrong on purpose
    ['exams', { exams: [3 as unknown as ExamSimulator] }],
    ['an agent', { agents: { mine: {} as Agent } }],
  ])('nothing else for %s', async (_, options) => {
    await expect(task({ ...small, ...options })).rejects.toThrow(TypeError)
  })
})

test('no agent of a task has a name that can be registered again', async () => {
  const { agents } = await task({ heldOut: 1 })
  const own = Object.keys(agents).filter((name) => name !== 'quitter')
  for (const name of own) {
    expect(agentNames).toContain(name)
    expect(() => registerAgent(name, () => giveUp)).toThrow('taken')
  }
})

describe('the modules of docs/own-parts.md', () => {
  const moduleAt = async (name: string): Promise<string> => {
    const page = await readFile(new URL('../../docs/own-parts.md', import.meta.url), 'utf8')
    const blocks = [...page.matchAll(/```js\n\/\/ (\S+)\n([\s\S]*?)```/g)]
    expect(blocks.map(([, file]) => file)).toEqual(
      ['patient', 'exams', 'reward', 'agent', 'backend'].map((kind) => `${kind}.mjs`),
    )
    return written(`doc-${name}`, blocks.find(([, file]) => file === name)?.[2] ?? '')
  }

  test('play a consultation together', async () => {
    const world = await task({
      ...small,
      patient: await moduleAt('patient.mjs'),
      exams: [await moduleAt('exams.mjs'), 'record'],
      reward: await moduleAt('reward.mjs'),
      agents: { doctor: await moduleAt('agent.mjs') },
    })
    const doctor = world.agents.doctor?.() as Agent // a module's function
    const { turns, stop } = await rollout(world.makeEnv(), doctor, {
      options: { case: world.heldOut[0] },
    })
    expect(turns[0]?.outcome).toMatchObject({ kind: 'answered', text: 'Pardon?' })
    expect([turns.length, stop]).toEqual([3, 'diagnosed'])
    const exams = await moduleAt('exams.mjs')
    expect(await answer({ exams: [exams] }, { kind: 'order', exam: 'Temperature' })).toMatchObject({
      kind: 'examined',
      text: expect.stringMatching(/°C$/),
    })
    await using backend = await openNamedBackend(await moduleAt('backend.mjs'), world)
    expect(backend.name).toBe('embedded')
  })
})
