import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { bandit } from '../../examples/04-own-backend.js'
import type { Agent } from '../../src/agent.js'
import { random } from '../../src/agents/random.js'
import type { Backend } from '../../src/backend.js'
import type { Env } from '../../src/env.js'
import { rulePatient } from '../../src/envs/patients/rule.js'
import type { ExamSimulator } from '../../src/exam.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import type { Patient } from '../../src/patient.js'
import { recipeOfRun } from '../../src/runs/directory.js'
import { registerBackend } from '../../src/runs/own-backends.js'
import type { RecipeInput } from '../../src/runs/recipe.js'
import { train } from '../../src/runs/train.js'
import { task } from '../../src/tasks/task.js'
import { embedded } from '../../src/trainers/embedded/embedded.js'
import { trainingEmitter } from '../../src/trainers/events.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-own-'))
})
afterAll(() => rm(folder, { recursive: true }))

const clinic = ['upper-airway']

/** A run of seconds, as a program writes it. */
const small = (training: Exclude<RecipeInput['training'], undefined>): RecipeInput => ({
  cases: { clinic, heldOut: 4 },
  training: { evaluateCases: 4, evaluateEvery: 2, ...training },
})
const groups = { groupsPerStep: 3, groupSize: 4 }

const configOf = async (out: string) => parse(await readFile(join(out, 'config.yaml'), 'utf8'))
const metricsOf = async (out: string) =>
  (await readFile(join(out, 'metrics.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => ({ ...JSON.parse(line), seconds: 0 }))

const plain = rulePatient({ knowledge: loadKnowledge() })

describe('a patient of one’s own', () => {
  const heard: string[] = []
  const patient: Patient = (utterance, context) => {
    heard.push(utterance)
    return plain(utterance, context)
  }
  const recipe = small({ ...groups, steps: 4, checkpointEvery: 2 })

  test('is trained on, stopped by onStep, and gone on with to the same metrics', async () => {
    const [whole, halved] = [join(folder, 'whole'), join(folder, 'halved')]
    const steps: number[] = []
    const { report } = await train(recipe, {
      ...{ out: whole, patient },
      onStep: ({ step, metrics, groups: made = [] }) => {
        expect(metrics.step).toBe(step)
        expect(made.length).toBeGreaterThan(0)
        steps.push(step)
        return undefined
      },
    })
    expect([report.steps, steps]).toEqual([4, [1, 2, 3, 4]])
    expect(heard.length).toBeGreaterThan(100)
    expect(await readFile(join(whole, 'curves.svg'), 'utf8')).toContain('<svg')
    expect((await configOf(whole)).own).toEqual(['patient'])

    const stopped = await train(recipe, { out: halved, patient, onStep: () => 'stop' })
    expect(stopped.report.steps).toBe(1)
    await train(await recipeOfRun(halved), { out: halved, patient })
    const steady = (lines: readonly { type: string }[]) =>
      lines.filter(({ type }) => type === 'step')
    expect(steady(await metricsOf(halved))).toEqual(steady(await metricsOf(whole)))
  })

  test('has to be given again', async () => {
    const out = join(folder, 'whole')
    const again = expect(train(recipe, { out })).rejects
    await again.toMatchObject({ code: 'bad-input' })
    await expect(train(await recipeOfRun(out), { out })).rejects.toThrow(
      /own: this run was given `patient` by a program.*expected the same again/,
    )
    await expect(
      train({ ...recipe, own: ['backend'] }, { out: join(folder, 'none'), patient }),
    ).rejects.toThrow('`backend`')
  })

  test('wins over the recipe', async () => {
    heard.length = 0
    const named = { ...small({ ...groups, steps: 1 }), env: { patient: 'rule' } }
    await train(named, { out: join(folder, 'wins'), patient })
    expect(heard.length).toBeGreaterThan(0)
  })
})

test('examinations, a reward and agents of one’s own are taken', async () => {
  const orders: string[] = []
  const exams: ExamSimulator = (order) => {
    orders.push(order)
    return undefined
  }
  const scored: string[] = []
  const played: number[] = []
  const { actionSpace } = await task({ clinic, heldOut: 1 })
  const inner = random({ actionSpace })
  const mine: Agent = (observation, context) => {
    played.push(context.seed)
    return inner(observation, context)
  }
  const out = join(folder, 'sft')
  const { report, task: world } = await train(
    small({ algorithm: 'sft', steps: 2, sft: { agent: 'mine', cases: 6 } }),
    {
      ...{ out, exams, agents: { mine } },
      reward: (episode) => {
        scored.push(episode.id)
        return 0.25
      },
    },
  )
  expect(report.heldOut.reward.mean).toBe(0.25)
  expect([orders.length, scored.length, played.length].every((n) => n > 0)).toBe(true)
  expect(world.agents.mine?.()).toBe(mine)
  expect((await configOf(out)).own).toEqual(['exams', 'reward', 'agents'])
})

describe('an env of one’s own', () => {
  const recipe = small({ ...groups, steps: 2 })

  test('plays training with its step and evaluation without', async () => {
    const { makeEnv } = await task({ clinic, heldOut: 1 })
    const steps: (number | undefined)[] = []
    const env = (step?: number): Env => {
      steps.push(step)
      return makeEnv()
    }
    await train(recipe, { out: join(folder, 'env'), env })
    expect(new Set(steps)).toEqual(new Set([undefined, 1, 2]))
  })

  test('that plays another case than it is asked to is refused', async () => {
    const { makeEnv } = await task({ clinic, heldOut: 1 })
    const deaf = (): Env => {
      const env = makeEnv()
      return { ...env, reset: (start) => env.reset({ seed: start?.seed ?? 0 }) }
    }
    await expect(train(recipe, { out: join(folder, 'deaf'), env: deaf })).rejects.toThrow(
      /Expected an env that plays the case it is reset with, `easy-.*got `easy-/,
    )
  })
})

describe('a backend of one’s own', () => {
  const recipe = small({ ...groups, steps: 3, adam: { learningRate: 0.5 } })
  const open = async () => {
    const { agents } = await task({ clinic, heldOut: 1 })
    return bandit([agents.checklist?.() as Agent, agents.oracle?.() as Agent]) // both functions
  }

  test('opened by its owner is trained, checkpointed, and left open', async () => {
    const backend = await open()
    const close = vi.spyOn(backend, Symbol.asyncDispose)
    const out = join(folder, 'bandit')
    const { report } = await train(recipe, { out, backend })
    expect([report.backend, report.policyVersion]).toEqual(['bandit', 3])
    expect(close).not.toHaveBeenCalled()
    expect((await configOf(out)).own).toEqual(['backend'])
    // Gone on with: what was saved is loaded into a fresh one.
    const again = await train(recipe, { out, backend: await open() })
    expect(again.report.policyVersion).toBe(3)
    await expect(train(recipe, { out })).rejects.toThrow('`backend`')
  })

  test('opened by a function of the task is closed with the run', async () => {
    const closed: string[] = []
    const backend = async ({
      actionSpace,
    }: {
      actionSpace: Parameters<typeof embedded>[0]['actionSpace']
    }) =>
      Object.assign(embedded({ actionSpace }), {
        [Symbol.asyncDispose]: async () => void closed.push('yes'),
      })
    await train(small({ ...groups, steps: 1 }), { out: join(folder, 'opened'), backend })
    expect(closed).toEqual(['yes'])
  })

  test('that is lost is opened again, but not where its owner had opened it', async () => {
    const { agents } = await task({ clinic, heldOut: 1 })
    const doctors = [agents.checklist?.() as Agent, agents.oracle?.() as Agent]
    let opened = 0
    const failing = (): Backend => {
      const backend = bandit(doctors)
      const first = opened++ === 0
      const step = backend.step.bind(backend)
      backend.step = async (batch) => {
        if (first) throw Object.assign(await lost())
        return step(batch)
      }
      return backend
    }
    const lost = async () => {
      const { Fault } = await import('../../src/error.js')
      return new Fault('backend-lost', 'gone')
    }
    const events = trainingEmitter()
    const told: string[] = []
    events.on('backend-status', (line) => told.push(line))
    await train(recipe, { out: join(folder, 'lost'), backend: failing, events })
    expect([opened, told]).toEqual([2, [expect.stringContaining('going on from step 0')]])
    opened = 0
    await expect(
      train(recipe, { out: join(folder, 'lost-object'), backend: failing() }),
    ).rejects.toMatchObject({ code: 'backend-lost' })
    expect(opened).toBe(1)
  })

  test('is registered by name, and a recipe names it', async () => {
    registerBackend('bandit', ({ agents }) =>
      bandit([agents.checklist?.() as Agent, agents.oracle?.() as Agent]),
    )
    const out = join(folder, 'registered')
    const { report } = await train({ ...recipe, backend: 'bandit' }, { out })
    expect(report.backend).toBe('bandit')
    expect(await configOf(out)).toMatchObject({ backend: 'bandit' })
    expect((await configOf(out)).own).toBeUndefined()
    expect(() => registerBackend('embedded', open)).toThrow('taken')
    await expect(train({ backend: 'bandti' }, { out: join(folder, 'x') })).rejects.toThrow(
      'the recipe: backend: expected embedded, sidecar, slime, verl, bandit, or a module (.mjs) that exports `backend` (did you mean `bandit`?), got `"bandti"`',
    )
  })

  test('with something missing is told what', async () => {
    const { sampler: _, ...rest } = await open()
    await expect(
      train(recipe, { out: join(folder, 'part'), backend: rest as unknown as Backend }), // wrong on purpose
    ).rejects.toThrow(/`backend`: expected a backend, got one without sampler\(\)/)
    const file = join(folder, 'nothing.mjs')
    await writeFile(file, 'export const backend = () => ({})\n')
    await expect(
      train({ ...recipe, backend: file }, { out: join(folder, 'part') }),
    ).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining(
        `--backend ${file}: expected a backend, got one without name`,
      ),
    })
  })
})

describe('a partial recipe', () => {
  test.each<[RecipeInput, RegExp]>([
    [
      { training: { algorithm: 'sft', groupSize: 3 } as never },
      /training\.groupSize: has no effect/,
    ],
    [{ sedd: 1 } as never, /the recipe: sedd: unknown key sedd \(did you mean `seed`\?\)/],
    [{ seed: -1 }, /the recipe: seed: .*got `-1`/],
    [{ env: { patient: 'ruel' } }, /env\.patient: expected rule, record.*`rule`.*got `"ruel"`/],
    [{ env: { exams: ['record', 'nix'] } }, /env\.exams\.1: expected record.*got `"nix"`/],
    [
      { reward: 'defualt', training: { algorithm: 'sft', sft: { agent: 'orcale' } } },
      /reward: expected .*did you mean `default`.*\n.*training\.sft\.agent: .*did you mean `oracle`/,
    ],
  ])('%j is refused', async (recipe, message) => {
    await expect(train(recipe, { out: join(folder, 'refused') })).rejects.toThrow(message)
  })
})

describe('a module that a stored run names', () => {
  test('is not trusted of itself', async () => {
    const out = join(folder, 'stored')
    await train(small({ ...groups, steps: 1 }), { out })
    const config = await configOf(out)
    await writeFile(join(out, 'config.yaml'), stringify({ ...config, reward: './evil.mjs' }))
    await expect(recipeOfRun(out)).rejects.toThrow(/the module .*evil\.mjs \(reward\).*--trust/)
    const { reward } = await recipeOfRun(out, { trust: true })
    expect(reward).toBe(join(out, 'evil.mjs'))
    await expect(recipeOfRun(out, { keys: ['backend'] })).resolves.toMatchObject({ reward })
  })
})

describe('train refuses', () => {
  test.each([
    [{ patients: () => {} }, 'patient'],
    [{ resume: true }, 'resume'],
    [{ onStep: 3 }, 'Expected `onStep` to be a function, got `3`'],
    [{ out: undefined }, 'Expected `out`'],
  ])('%j', async (wrong, message) => {
    const options = { out: 'never-made', ...wrong }
    // What a program in JavaScript may pass.
    await expect(train({}, options as { out: string })).rejects.toThrow(message)
    await expect(train({}, options as { out: string })).rejects.toThrow(TypeError)
  })

  test('a path in place of a recipe', async () => {
    const path: unknown = 'recipe.yaml'
    await expect(train(path as object, { out: 'never-made' })).rejects.toThrow('readRecipe')
  })
})

test('a backend is not closed before the run is over, its last evaluation included', async () => {
  let closed = false
  let late = 0
  const result = await train(small({ ...groups, steps: 2 }), {
    out: join(folder, 'open'),
    backend: ({ actionSpace }) => {
      const own = embedded({ actionSpace })
      return {
        ...own,
        get policyVersion() {
          return own.policyVersion
        },
        sampler: (options) => {
          const agent = own.sampler(options)
          return async (observation, context) => {
            // What a server takes its time for.
            await new Promise((resolve) => setImmediate(resolve))
            if (closed) late++
            return agent(observation, context)
          }
        },
        async [Symbol.asyncDispose]() {
          closed = true
          await own[Symbol.asyncDispose]()
        },
      }
    },
  })
  expect(result.report.steps).toBe(2)
  expect([closed, late]).toEqual([true, 0])
})
