import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Backend } from '../../../src/backend.js'
import type { TrainBatch } from '../../../src/batch.js'
import { consultation } from '../../../src/envs/consultation.js'
import { Fault } from '../../../src/error.js'
import type { Reward } from '../../../src/reward.js'
import { Recipe } from '../../../src/runs/recipe.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import type { StepMetrics } from '../../../src/trainers/events.js'
import { trainingEmitter } from '../../../src/trainers/events.js'
import type { PpoOptions, PpoStep } from '../../../src/trainers/loops/ppo.js'
import { trainPpo } from '../../../src/trainers/loops/ppo.js'
import { accuracy, caseAt, markOf, patient } from '../../fixtures/tiny-training.js'
import { words } from '../embedded/play.js'

const open = () => embedded({ actionSpace: words })

const run = async (
  backend: Backend,
  over: Partial<PpoOptions> = {},
): Promise<readonly StepMetrics[]> => {
  const { metrics } = await trainPpo({
    backend,
    caseAt,
    makeEnv: () => consultation({ cases: caseAt, patient, maxTurns: 4 }),
    reward: accuracy,
    accuracy,
    loss: { kind: 'ppo-clip', low: 0.2, high: 0.2, entropy: 0 },
    normaliser: 'token-mean',
    steps: 4,
    episodesPerStep: 16,
    epochs: 2,
    minibatches: 2,
    ...over,
  })
  return metrics
}

/** The files of a checkpoint, the critic's weights among them. */
const weightsOf = async (backend: Backend): Promise<readonly string[]> => {
  const folder = join(await mkdtemp(join(tmpdir(), 'ppo-')), 'x')
  await backend.save(folder)
  return [
    (await readFile(join(folder, 'weights.bin'))).toString('base64'),
    await readFile(join(folder, 'policy.json'), 'utf8'),
  ]
}

/** A backend that tells every batch before it steps. */
const watched = (backend: Backend, batches: TrainBatch[]): Backend =>
  Object.create(backend, {
    step: {
      value: (batch: TrainBatch) => {
        batches.push(batch)
        return backend.step(batch)
      },
    },
  })

const average = (values: readonly (number | null | undefined)[]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0) / values.length

describe('learns', () => {
  test('accuracy rises from chance to nearly all', async () => {
    const told = await run(open(), { steps: 30, episodesPerStep: 32 })
    expect(average(told.slice(0, 1).map(({ accuracy }) => accuracy))).toBeLessThan(0.7)
    expect(average(told.slice(-5).map(({ reward }) => reward))).toBeGreaterThan(0.9)
    const loss = told.map(({ update }) => update?.critic?.loss)
    expect(average(loss.slice(-5))).toBeLessThan(average(loss.slice(0, 5)) / 2)
  })

  test('the critic of a policy that stays comes to foresee what it can', async () => {
    const luck: Reward = Object.assign(
      async (...[, truth]: Parameters<Reward>) => ({
        total: truth.caseId.startsWith('flu') ? 1 : 0,
        parts: {},
      }),
      { rewardName: 'luck', bounds: [0, 1] as const, source: 'test' },
    )
    const told = await run(open(), {
      reward: luck,
      adam: { learningRate: 0 },
      critic: { adam: { learningRate: 0.01 } },
      steps: 30,
      episodesPerStep: 32,
    })
    const explained = told.map(({ update }) => update?.critic?.explained)
    expect(average(explained.slice(-10))).toBeGreaterThan(average(explained.slice(0, 3)) + 0.1)
    expect(average(explained.slice(-10))).toBeGreaterThan(0.25)
  })

  test('a penalty on leaving the reference keeps the policy near it', async () => {
    const distance = async (over: Partial<PpoOptions>) => {
      const backend = open()
      const batches: TrainBatch[] = []
      await run(watched(backend, batches), { steps: 20, episodesPerStep: 32, ...over })
      const last = batches.slice(-4).flatMap(({ segments }) => segments)
      const reference = (await backend.logprobs?.(last, { reference: true })) ?? []
      return average(
        last.flatMap(({ mask, logprobs }, s) =>
          [...mask].flatMap((one, t) => (one ? [logprobs[t]! - reference[s]![t]!] : [])),
        ),
      )
    }
    const free = await distance({})
    expect(free).toBeGreaterThan(0.3)
    const rewardKl = { estimator: 'k1', coefficient: 1 } as const
    expect(await distance({ rewardKl })).toBeLessThan(free / 2)
  })
})

describe('the same weights', () => {
  test('at any concurrency', async () => {
    const [one, many] = [open(), open()]
    await run(one, { concurrency: 1 })
    await run(many, { concurrency: 8 })
    expect(await weightsOf(many)).toEqual(await weightsOf(one))
  })

  test('interrupted and resumed, or not', async () => {
    const over = { rewardKl: { estimator: 'k1', coefficient: 0.03 } } as const
    const straight = open()
    await run(straight, over)
    const folder = join(await mkdtemp(join(tmpdir(), 'ppo-')), 'half')
    const first = open()
    await run(first, { ...over, steps: 2 })
    await first.save(folder)
    const second = open()
    await second.load(folder)
    await run(second, { ...over, firstStep: 3 })
    expect(await weightsOf(second)).toEqual(await weightsOf(straight))
  })

  test('not of another seed', async () => {
    const [one, other] = [open(), open()]
    await run(one)
    await run(other, { seed: 1 })
    expect(await weightsOf(other)).not.toEqual(await weightsOf(one))
  })
})

describe('a step', () => {
  test('passes over all episodes, in shares of another order each time', async () => {
    const batches: TrainBatch[] = []
    await run(watched(open(), batches), { steps: 1, epochs: 3, minibatches: 5 })
    expect(batches).toHaveLength(15)
    const names = batches.map(({ segments }) => segments.map(({ rolloutId }) => rolloutId))
    const passes = [0, 5, 10].map((from) => names.slice(from, from + 5).flat())
    for (const pass of passes) expect(new Set(pass)).toEqual(new Set(passes[0]))
    expect(passes[0]).toHaveLength(16)
    expect(passes[1]).not.toEqual(passes[0])
    for (const share of names) expect([3, 4]).toContain(share.length)
    expect(batches.map(({ policyVersion }) => policyVersion)).toEqual(batches.map((_, i) => i))
  })

  test('has advantages whitened over all its drawn tokens', async () => {
    const batches: TrainBatch[] = []
    await run(watched(open(), batches), { steps: 1, epochs: 1, minibatches: 4 })
    const drawn = batches.flatMap(({ segments }) =>
      segments.flatMap(({ mask, advantages }) =>
        [...mask].flatMap((one, t) => (one ? [advantages[t]!] : [])),
      ),
    )
    expect(average(drawn)).toBeCloseTo(0, 6)
    const squares = drawn.reduce((sum, value) => sum + value ** 2, 0)
    expect(squares / (drawn.length - 1)).toBeCloseTo(1, 5)
  })

  test('forms no groups and counts its episodes', async () => {
    const [metrics] = await run(open(), { steps: 1 })
    expect(metrics?.groups.formed).toBe(0)
    expect(metrics?.samples).toEqual({ used: 16, unavailable: 0, stale: 0, forks: 0 })
    expect(metrics?.policyVersion).toBe(4)
  })

  test('ends the run where it is told to', async () => {
    const told = await run(open(), { afterStep: ({ step }) => (step === 2 ? 'stop' : undefined) })
    expect(told.map(({ step }) => step)).toEqual([1, 2])
  })
})

describe('what a run is told and gives back', () => {
  const least = (backend: Backend, over: Partial<PpoOptions> = {}) =>
    trainPpo({
      ...{ backend, caseAt, reward: accuracy, steps: 1 },
      makeEnv: () => consultation({ cases: caseAt, patient, maxTurns: 4 }),
      ...over,
    })

  test('needs a backend, cases, an env, a reward and steps; the rest is the default recipe', async () => {
    const batches: TrainBatch[] = []
    const { steps, metrics } = await least(watched(open(), batches))
    expect([steps, metrics.length]).toEqual([1, 1])
    const { training } = Recipe.parse({ training: { algorithm: 'ppo' } })
    if (training.algorithm !== 'ppo') throw new TypeError('another algorithm')
    const { ppo, loss, adam, epochs } = training
    expect(metrics[0]?.samples.used).toBe(ppo.episodesPerStep)
    expect(batches).toHaveLength(epochs * ppo.minibatches)
    for (const batch of batches) {
      expect(batch.loss).toEqual(loss)
      expect(adam).toMatchObject(batch.adam)
      expect(batch.critic).toMatchObject({
        ...{ range: ppo.range, coefficient: ppo.coefficient },
        adam: { learningRate: ppo.learningRate },
      })
      expect(batch.normaliser).toMatchObject({ kind: 'dr-grpo' })
      expect(batch.normaliser.perSegment[0]).toBe(1 / (16 * 4))
    }
  })

  test('hands the episodes and scores of a step to afterStep', async () => {
    const made: PpoStep[] = []
    const { metrics } = await least(open(), {
      ...{ episodesPerStep: 5, steps: 3, runId: 'r' },
      afterStep: (one) => {
        made.push(one)
        return one.step === 2 ? 'stop' : undefined
      },
    })
    expect(made.map((one) => one.metrics)).toEqual(metrics)
    expect(made.map(({ step, episodes }) => [step, episodes.length])).toEqual([
      [1, 5],
      [2, 5],
    ])
    const [first] = made
    expect(first?.episodes.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4].map((n) => `r/1/${n}/0`))
    expect(average(first?.scores.map(({ total }) => total) ?? [])).toBe(metrics[0]?.reward)
  })
})

describe('what is left out is counted', () => {
  test('episodes whose world failed', async () => {
    const faults: string[] = []
    const events = trainingEmitter()
    events.on('fault-met', (fault) => faults.push(fault.message))
    const batches: TrainBatch[] = []
    const makeEnv = () =>
      consultation({
        cases: caseAt,
        maxTurns: 4,
        patient: (utterance, context) => {
          if (markOf(context.view).endsWith('3')) throw new Fault('model-unavailable', 'down')
          return patient(utterance, context)
        },
      })
    const [metrics] = await run(watched(open(), batches), { makeEnv, events, steps: 1, epochs: 1 })
    expect(faults.length).toBeGreaterThan(0)
    expect(metrics?.samples.unavailable).toBe(faults.length)
    expect(metrics?.samples.used).toBe(16 - faults.length)
    expect(batches.flatMap(({ segments }) => segments)).toHaveLength(16 - faults.length)
  })

  test('scores without a total; without any, no step is made', async () => {
    const none: Reward = Object.assign(async () => ({ total: null, parts: {} }), {
      rewardName: 'none',
      bounds: [0, 1] as const,
      source: 'test',
    })
    const backend = open()
    const [metrics] = await run(backend, { reward: none, steps: 1 })
    expect(metrics?.reward).toBeNull()
    expect(metrics?.samples).toMatchObject({ used: 0, unavailable: 16 })
    expect(metrics?.update).toBeUndefined()
    expect(backend.policyVersion).toBe(0)
  })

  test('a step of which nothing could be played ends the run with the fault', async () => {
    const makeEnv = () =>
      consultation({
        cases: () => {
          throw new Fault('model-unavailable', 'no cases')
        },
        patient: () => {
          throw new Fault('model-unavailable', 'patient is down')
        },
      })
    const backend: Backend = Object.create(open(), {
      sampler: { value: () => () => ({ action: { kind: 'ask', text: 'Hello?' } }) },
    })
    await expect(run(backend, { makeEnv })).rejects.toMatchObject({
      code: 'model-unavailable',
      message: 'step 1: none of its 16 consultations could be played: patient is down',
    })
    expect(backend.policyVersion).toBe(0)
  })
})

describe('refuses before any episode', () => {
  const refused = async (over: Partial<PpoOptions>, backend: Backend = open()) => {
    let begun = 0
    const makeEnv = () => {
      begun++
      return consultation({ cases: caseAt, patient })
    }
    const error: unknown = await run(backend, { ...over, makeEnv }).catch((thrown) => thrown)
    expect(begun).toBe(0)
    return String(error)
  }

  test('a backend without a critic', async () => {
    const backend = open()
    const { critic: _, ...capabilities } = backend.capabilities
    const without: Backend = Object.create(backend, { capabilities: { value: capabilities } })
    expect(await refused({}, without)).toBe(
      'TypeError: Expected a backend with a critic, got embedded without one',
    )
  })

  test('a KL penalty without log-probs to take it from', async () => {
    const without: Backend = Object.create(open(), { logprobs: { value: undefined } })
    const rewardKl = { estimator: 'k1', coefficient: 0.1 } as const
    expect(await refused({ rewardKl }, without)).toMatch(
      /^TypeError: Expected a backend with `logp/,
    )
  })

  test('counts and factors that are none', async () => {
    expect(await refused({ minibatches: 0 })).toMatch(/^RangeError: Expected `minibatches` to be/)
    expect(await refused({ epochs: 1.5 })).toMatch(/^RangeError: Expected `epochs` to be/)
    expect(await refused({ lambda: 2 })).toMatch(/^RangeError: Expected `lambda` to be in \[0, 1\]/)
  })
})

test('an aborted run stops between steps', async () => {
  const abort = new AbortController()
  const events = trainingEmitter()
  events.on('step-end', () => abort.abort(new Error('enough')))
  const backend = open()
  await expect(run(backend, { events, signal: abort.signal })).rejects.toThrow('enough')
  expect(backend.policyVersion).toBe(4)
})
