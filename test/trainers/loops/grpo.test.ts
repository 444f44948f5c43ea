import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Backend } from '../../../src/backend.js'
import type { Loss, TokenSegment, TrainBatch } from '../../../src/batch.js'
import { consultation } from '../../../src/envs/consultation.js'
import { Fault } from '../../../src/error.js'
import type { Group } from '../../../src/group.js'
import { ok, type Reward } from '../../../src/reward.js'
import { defineReward } from '../../../src/rewards/define.js'
import { Recipe } from '../../../src/runs/recipe.js'
import { drGrpoAdvantages, grpoAdvantages } from '../../../src/trainers/advantages/per-group.js'
import { toTrainBatch } from '../../../src/trainers/batches/group-batch.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import type { StepMetrics } from '../../../src/trainers/events.js'
import { trainingEmitter } from '../../../src/trainers/events.js'
import { trainGrpo } from '../../../src/trainers/loops/grpo.js'
import type { GrpoOptions, GrpoStep } from '../../../src/trainers/loops/grpo-options.js'
import { unmeasured } from '../../../src/trainers/loops/loop.js'
import { accuracy, caseAt, patient } from '../../fixtures/tiny-training.js'
import { words } from '../embedded/play.js'

const run = async (
  backend: Backend,
  over: Partial<GrpoOptions> = {},
): Promise<readonly StepMetrics[]> => {
  const { metrics } = await trainGrpo({
    backend,
    caseAt,
    makeEnv: () => consultation({ cases: caseAt, patient, maxTurns: 4 }),
    reward: accuracy,
    accuracy,
    normaliser: 'token-mean',
    adam: { learningRate: 0.1 },
    steps: 4,
    groupsPerStep: 4,
    groupSize: 6,
    ...over,
  })
  return metrics
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

const weightsOf = async (backend: Backend): Promise<string> => {
  const folder = join(await mkdtemp(join(tmpdir(), 'grpo-')), 'x')
  await backend.save(folder)
  return (await readFile(join(folder, 'weights.bin'))).toString('base64')
}

test('learns: accuracy rises from chance to nearly all', async () => {
  const told = await run(embedded({ actionSpace: words }), { steps: 60, groupsPerStep: 6 })
  const average = (part: readonly StepMetrics[]) =>
    part.reduce((sum, { accuracy }) => sum + (accuracy ?? Number.NaN), 0) / part.length
  expect(average(told.slice(0, 1))).toBeLessThan(0.65)
  expect(average(told.slice(-5))).toBeGreaterThan(0.9)
})

describe('the same weights', () => {
  test('at any concurrency', async () => {
    const [one, many] = [embedded({ actionSpace: words }), embedded({ actionSpace: words })]
    await run(one, { concurrency: 1 })
    await run(many, { concurrency: 24 })
    expect(await weightsOf(many)).toBe(await weightsOf(one))
  })

  test('interrupted and resumed, or not', async () => {
    const straight = embedded({ actionSpace: words })
    await run(straight)
    const folder = join(await mkdtemp(join(tmpdir(), 'grpo-')), 'half')
    const first = embedded({ actionSpace: words })
    await run(first, { steps: 2 })
    await first.save(folder)
    const second = embedded({ actionSpace: words })
    await second.load(folder)
    await run(second, { firstStep: 3 })
    expect(await weightsOf(second)).toBe(await weightsOf(straight))
  })
})

describe('what is left out is counted', () => {
  test('scores that a reward could not give, told with the reason and the place', async () => {
    const faults: string[] = []
    const events = trainingEmitter()
    events.on('fault-met', (fault, where) => faults.push(`${where}: ${fault.message}`))
    const down = defineReward({ name: 'judged', bounds: [0, 1] }, () => {
      throw new Error('the judge is down')
    })
    const [step] = await run(embedded({ actionSpace: words }), { reward: down, events, steps: 1 })
    expect(step?.samples.unavailable).toBe(faults.length)
    expect(faults[0]).toMatch(
      /^step 1, group \d, member \d+ \(.+\): reward judged: the judge is down$/,
    )
    expect(step).toMatchObject({ reward: null, samples: { used: 0 } })
  })

  test('members whose world failed, never scored', async () => {
    const faults: string[] = []
    const events = trainingEmitter()
    events.on('fault-met', (fault, where) => faults.push(`${where}: ${fault.message}`))
    let calls = 0
    const makeEnv = () =>
      consultation({
        cases: caseAt,
        maxTurns: 4,
        patient: (utterance, context) => {
          calls += 1
          if (calls % 5 === 0) throw new Fault('model-unavailable', 'patient is down')
          return patient(utterance, context)
        },
      })
    const told = await run(embedded({ actionSpace: words }), { makeEnv, events, steps: 2 })
    const unavailable = told.reduce((sum, { samples }) => sum + samples.unavailable, 0)
    expect(unavailable).toBeGreaterThan(0)
    expect(faults).toHaveLength(unavailable)
    expect(faults[0]).toMatch(/^step 1, group \d, member \d: patient is down$/)
  })

  test('scores without a total, with their episodes out of the batch', async () => {
    const half: Reward = Object.assign(
      async (...[episode, truth]: Parameters<Reward>) =>
        episode.id.endsWith('/0') ? { total: null, parts: {} } : accuracy(episode, truth),
      { rewardName: 'half', bounds: [0, 1] as const, source: 'test' },
    )
    const groups: Parameters<typeof toTrainBatch>[0][number][] = []
    const events = trainingEmitter()
    events.on('group-formed', (group) => groups.push(group))
    const [metrics] = await run(embedded({ actionSpace: words }), {
      reward: half,
      events,
      steps: 1,
    })
    expect(metrics?.samples.unavailable).toBe(4)
    const made = toTrainBatch(groups, 1, 0, {
      loss: { kind: 'policy-gradient', entropy: 0 },
      normaliser: 'token-mean',
      adam: { learningRate: 1 },
    })
    expect(made?.batch.segments.some(({ rolloutId }) => rolloutId.endsWith('/0'))).toBe(false)
  })

  test('a step without any score has no mean, rather than one of 0', async () => {
    const none: Reward = Object.assign(async () => ({ total: null, parts: {} }), {
      rewardName: 'none',
      bounds: [0, 1] as const,
      source: 'test',
    })
    const [metrics] = await run(embedded({ actionSpace: words }), { reward: none, steps: 1 })
    expect(metrics?.reward).toBeNull()
    expect(metrics?.samples.unavailable).toBe(24)
  })

  test('a step of which nothing could be played ends the run with the fault, and no step is made', async () => {
    const makeEnv = () =>
      consultation({
        cases: caseAt,
        patient: () => {
          throw new Fault('model-unavailable', 'patient is down')
        },
      })
    const backend = embedded({ actionSpace: words })
    const asking: Backend = {
      ...backend,
      sampler: () => () => ({ action: { kind: 'ask', text: 'Hello?' } }),
    }
    await expect(run(asking, { makeEnv })).rejects.toMatchObject({
      code: 'model-unavailable',
      message: 'step 1: none of its 24 consultations could be played: patient is down',
    })
    expect(backend.policyVersion).toBe(0)
  })

  test('zero-variance groups teach nothing and make no step', async () => {
    const flat: Reward = Object.assign(async () => ({ total: 0.3, parts: {} }), {
      rewardName: 'flat',
      bounds: [0, 1] as const,
      source: 'test',
    })
    const backend = embedded({ actionSpace: words })
    const [metrics] = await run(backend, { reward: flat, steps: 1 })
    expect(metrics?.groups).toMatchObject({ drawn: 4, formed: 4, zeroVariance: 4, dropped: 0 })
    expect(metrics?.update).toBeUndefined()
    expect(backend.policyVersion).toBe(0)
  })
})

test('epochs step that many times on the same rollouts', async () => {
  const backend = embedded({ actionSpace: words })
  const [metrics] = await run(backend, { epochs: 3, steps: 1 })
  expect(backend.policyVersion).toBe(3)
  expect(metrics?.update?.ratio.max).toBeGreaterThan(1)
})

test('a group of one is refused', async () => {
  await expect(run(embedded({ actionSpace: words }), { groupSize: 1 })).rejects.toThrow(
    'Expected `groupSize` to be at least 2, got `1`',
  )
})

test('an aborted run stops between episodes', async () => {
  const abort = new AbortController()
  const events = trainingEmitter()
  events.on('step-end', () => abort.abort(new Error('enough')))
  const backend = embedded({ actionSpace: words })
  await expect(run(backend, { events, signal: abort.signal })).rejects.toThrow('enough')
  expect(backend.policyVersion).toBe(1)
})

describe('groups that teach nothing', () => {
  /** Half of the cases pay the same to everybody. */
  const dull: Reward = Object.assign(
    async (...[episode, truth]: Parameters<Reward>) =>
      truth.caseId.startsWith('flu') ? { total: 0.5, parts: {} } : accuracy(episode, truth),
    { rewardName: 'dull', bounds: [0, 1] as const, source: 'test' },
  )

  test('are drawn again up to the bound, and all of them counted', async () => {
    const [metrics] = await run(embedded({ actionSpace: words }), {
      reward: dull,
      resample: { most: 8 },
      steps: 1,
    })
    const { drawn, formed, zeroVariance } = metrics!.groups
    expect(drawn).toBeGreaterThan(4)
    expect(drawn).toBeLessThanOrEqual(8)
    expect(formed).toBe(drawn)
    expect(zeroVariance).toBeGreaterThanOrEqual(drawn / 2 - 1)
  })

  test('are drawn again on cases that no other group plays, and resume to the same weights', async () => {
    const options = { reward: dull, resample: { most: 10 }, steps: 6, epochs: 1 }
    const met = new Map<number, number[]>()
    const recording = (n: number, step: number) => {
      met.set(step, [...(met.get(step) ?? []), n])
      return caseAt(n)
    }
    const straight = embedded({ actionSpace: words })
    const told = await run(straight, { ...options, caseAt: recording })
    const numbers = [...met.values()].flat()
    expect(numbers.length).toBeGreaterThan(6 * 4)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(Math.max(...numbers)).toBeLessThan(2 ** 32)
    expect(told.map(({ groups }) => groups.drawn)).toEqual(
      [...met.values()].map((own) => own.length),
    )
    const folder = join(await mkdtemp(join(tmpdir(), 'grpo-')), 'resampled')
    const first = embedded({ actionSpace: words })
    await run(first, { ...options, steps: 3 })
    await first.save(folder)
    const second = embedded({ actionSpace: words })
    await second.load(folder)
    await run(second, { ...options, firstStep: 4 })
    expect(await weightsOf(second)).toBe(await weightsOf(straight))
  })

  test('are not, where nobody asks for it', async () => {
    const [metrics] = await run(embedded({ actionSpace: words }), { reward: dull, steps: 1 })
    expect(metrics!.groups.drawn).toBe(4)
  })
})

test('a greedy baseline makes a group of equal totals teach, and learns', async () => {
  const told = await run(embedded({ actionSpace: words }), {
    advantages: { per: 'greedy' },
    steps: 60,
    groupsPerStep: 6,
  })
  expect(told.every(({ groups }) => groups.zeroVariance === 0)).toBe(true)
  const average = (part: readonly StepMetrics[]) =>
    part.reduce((sum, { accuracy }) => sum + (accuracy ?? Number.NaN), 0) / part.length
  expect(average(told.slice(-5))).toBeGreaterThan(0.85)
})

test('a penalty on leaving the reference keeps the policy nearer to it', async () => {
  const lossOf = (coefficient: number): Loss => ({
    ...{ kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0 },
    kl: { estimator: 'k3', coefficient },
  })
  const far = async (coefficient: number) => {
    const backend = embedded({ actionSpace: words })
    const told = await run(backend, { loss: lossOf(coefficient), steps: 15 })
    return told.findLast(({ update }) => update)?.update?.klReference ?? Number.NaN
  }
  const [free, held] = [await far(0), await far(1)]
  expect(free).toBeGreaterThan(0.01)
  expect(held).toBeLessThan(free / 2)
})

test('an importance correction leaves fresh tokens alone', async () => {
  const correction = { level: 'token', mode: 'mask', min: 0.5, max: 2 } as const
  const [one, other] = [embedded({ actionSpace: words }), embedded({ actionSpace: words })]
  const plain = { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0 } as const
  await run(one, { loss: plain, steps: 2 })
  const told = await run(other, { loss: { ...plain, correction }, steps: 2 })
  expect(told.at(-1)?.update?.droppedFraction).toBe(0)
  expect(told.at(-1)?.update?.logprobGap.max).toBeLessThan(1e-6)
})

describe('what a run is told and gives back', () => {
  const least = (backend: Backend, over: Partial<GrpoOptions> = {}) =>
    trainGrpo({
      ...{ backend, caseAt, reward: accuracy, steps: 2 },
      makeEnv: () => consultation({ cases: caseAt, patient, maxTurns: 4 }),
      ...over,
    })

  test('needs a backend, cases, an env, a reward and steps; the rest is the default recipe', async () => {
    const batches: TrainBatch[] = []
    const backend = watched(embedded({ actionSpace: words }), batches)
    const { steps, metrics } = await least(backend, { steps: 1 })
    expect(steps).toBe(1)
    expect(metrics.map(({ groups, accuracy }) => [groups.drawn, accuracy])).toEqual([[32, null]])
    const { training } = Recipe.parse({})
    const [batch] = batches
    expect(training).toMatchObject({ algorithm: 'grpo', loss: batch?.loss })
    expect(training.adam).toMatchObject(batch?.adam ?? {})
    // Dr. GRPO divides by episodes times their four turns of one token each.
    const rollouts = new Set(batch?.segments.map(({ rolloutId }) => rolloutId)).size
    expect(batch?.normaliser.kind).toBe('dr-grpo')
    expect(batch?.normaliser.perSegment[0]).toBe(1 / (rollouts * 4))
  })

  test('makes the same weights by its defaults as by the same settings spelt out', async () => {
    const [short, long] = [embedded({ actionSpace: words }), embedded({ actionSpace: words })]
    await least(short)
    await least(long, {
      ...{ accuracy, events: trainingEmitter(), advantages: drGrpoAdvantages() },
      loss: { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0 },
      ...{ normaliser: 'dr-grpo', maxTokens: 4, adam: { learningRate: 0.05 } },
      ...{ groupsPerStep: 32, groupSize: 8, epochs: 1, temperature: 1, concurrency: 4, seed: 0 },
    })
    expect(await weightsOf(long)).toBe(await weightsOf(short))
  })

  test('hands what each step made to afterStep, and returns the metrics of all', async () => {
    const made: GrpoStep[] = []
    const formed: string[] = []
    const told: StepMetrics[] = []
    const events = trainingEmitter()
    events.on('group-formed', ({ id }) => formed.push(id))
    events.on('step-end', (metrics) => told.push(metrics))
    const { steps, metrics } = await least(embedded({ actionSpace: words }), {
      ...{ groupsPerStep: 3, groupSize: 4, steps: 5, events, runId: 'r' },
      afterStep: (one) => {
        made.push(one)
        return one.step === 2 ? 'stop' : undefined
      },
    })
    expect(steps).toBe(2)
    expect(made.map(({ step }) => step)).toEqual([1, 2])
    expect(metrics).toEqual(made.map((one) => one.metrics))
    expect(made[1]?.groups.map(({ id }) => id)).toEqual(['r/2/0', 'r/2/1', 'r/2/2'])
    expect(made[1]?.groups.every(({ episodes }) => episodes.length === 4)).toBe(true)
    // Onlookers see the same.
    expect(told).toEqual(metrics)
    expect(formed).toEqual(made.flatMap(({ groups }) => groups.map(({ id }) => id)))
  })

  test('made no step where all are done', async () => {
    const backend = embedded({ actionSpace: words })
    expect(await least(backend, { firstStep: 3 })).toEqual({ steps: 2, metrics: [] })
  })
})

describe('advantages', () => {
  /** The groups of one step. */
  const groupsBy = async (advantages: NonNullable<GrpoOptions['advantages']>) => {
    const groups: Group[] = []
    await run(embedded({ actionSpace: words }), {
      ...{ advantages, steps: 1, runId: 'r' },
      afterStep: (made) => {
        groups.push(...made.groups)
        return undefined
      },
    })
    return groups
  }
  const scored = (groups: readonly Group[]) =>
    groups.map(({ scores }) => scores.map(({ total }) => total ?? Number.NaN))

  test('of a function are those of each group by itself', async () => {
    const groups = await groupsBy(grpoAdvantages())
    for (const { advantages, scores, status } of groups)
      if (status === 'learns')
        expect(advantages).toEqual(grpoAdvantages()(scores.map(({ total }) => total ?? 0)))
    expect(groups).toEqual(await groupsBy({ per: 'group', estimate: grpoAdvantages() }))
  })

  test('per batch see all groups that teach at once', async () => {
    const seen: number[][] = []
    const groups = await groupsBy({
      per: 'batch',
      estimate: (all) => {
        seen.push(...all.map(({ totals }) => [...totals]))
        return all.map(({ totals }, g) => totals.map(() => g + 1))
      },
    })
    const teaching = groups.filter(({ status }) => status === 'learns')
    expect(seen).toEqual(scored(teaching))
    expect(teaching.map(({ advantages }) => new Set(advantages))).toEqual(
      teaching.map((_, g) => new Set([g + 1])),
    )
  })

  test('with a baseline from elsewhere teach groups of equal totals and of one', async () => {
    const raw = (totals: readonly number[]) => totals
    const flat: Reward = Object.assign(async () => ({ total: 0.3, parts: {} }), {
      rewardName: 'flat',
      bounds: [0, 1] as const,
      source: 'test',
    })
    const [metrics] = await run(embedded({ actionSpace: words }), {
      advantages: { per: 'group', estimate: raw, baseline: 'elsewhere' },
      ...{ reward: flat, groupSize: 1, steps: 1 },
    })
    expect(metrics?.groups.zeroVariance).toBe(0)
    expect(metrics?.samples.used).toBe(4)
  })
})

describe('endings', () => {
  const endings = 5

  test('are siblings that share all before the diagnosis, of which only that learns', async () => {
    const batches: TrainBatch[] = []
    const steps: GrpoStep[] = []
    await run(watched(embedded({ actionSpace: words }), batches), {
      endings,
      steps: 2,
      afterStep: (made) => {
        steps.push(made)
        return undefined
      },
    })
    const episodes = steps.flatMap(({ groups }) => groups.flatMap((group) => group.episodes))
    const branches = episodes.filter(({ id }) => id.includes('/ending-'))
    expect(branches.length).toBeGreaterThan(endings)
    for (const branch of branches) {
      const trunk = episodes.find(({ id }) => branch.id.startsWith(`${id}/ending-`))
      expect(branch.turns.slice(0, -1).map(({ action }) => action)).toEqual(
        trunk?.turns.slice(0, -1).map(({ action }) => action),
      )
      expect(branch.turns.map(({ draws = [] }) => draws.length)).toEqual([
        ...branch.turns.slice(1).map(() => 0),
        1,
      ])
      expect(branch.turns.at(-1)?.action.kind).toBe('diagnose')
      expect(trunk?.turns.at(-1)?.draws ?? []).toEqual([])
    }
    const drawn = batches
      .flatMap(({ segments }) => segments)
      .filter(({ rolloutId }) => rolloutId.includes('/ending-'))
    expect(drawn.every(({ mask }) => mask.reduce((sum, one) => sum + one, 0) === 1)).toBe(true)
  })

  test('give the consultation before them the mean of their totals', async () => {
    let groups: readonly Group[] = []
    await run(embedded({ actionSpace: words }), {
      endings,
      steps: 1,
      afterStep: (made) => {
        groups = made.groups
        return undefined
      },
    })
    let checked = 0
    for (const { episodes, scores } of groups)
      episodes.forEach(({ id }, i) => {
        const own = episodes.flatMap((other, n) =>
          other.id.startsWith(`${id}/ending-`) ? [scores[n]?.total ?? Number.NaN] : [],
        )
        if (own.length === 0) return
        checked++
        expect(scores[i]?.total).toBeCloseTo(own.reduce((a, b) => a + b, 0) / own.length, 12)
      })
    expect(checked).toBeGreaterThan(0)
  })

  test('have the log-probs that the trainer sees, and the same weights at any concurrency', async () => {
    const [one, many] = [embedded({ actionSpace: words }), embedded({ actionSpace: words })]
    const told = await run(one, { endings, concurrency: 1 })
    await run(many, { endings, concurrency: 24 })
    expect(await weightsOf(many)).toBe(await weightsOf(one))
    for (const { update } of told) expect(update?.logprobGap.max ?? 0).toBeLessThan(1e-6)
  })

  test.each([
    [{ endings: -1 }, /`endings` to be an integer of at least 0, got `-1`/],
    [{ endings: 2, maxStaleness: 1 }, /`maxStaleness` 0 with `endings`/],
  ] as const)('refuse %o', async (over, message) => {
    await expect(run(embedded({ actionSpace: words }), over)).rejects.toThrow(message)
  })
})

describe('hindsight', () => {
  const hindsight = { adam: { learningRate: 0.1 } }
  const labels = (batches: readonly TrainBatch[]) =>
    batches.filter(({ loss }) => loss.kind === 'cross-entropy')

  test('teaches the whole group the diagnosis of a member that was right', async () => {
    const batches: TrainBatch[] = []
    const steps: GrpoStep[] = []
    await run(watched(embedded({ actionSpace: words }), batches), {
      hindsight,
      steps: 3,
      afterStep: (made) => {
        steps.push(made)
        return undefined
      },
    })
    const groups = new Map(steps.flatMap((one) => one.groups.map((group) => [group.id, group])))
    const truths = steps.flatMap(({ groups: own, cases }) =>
      own.map(({ id }, i) => [id, cases[i]?.gold.dx[0]?.name.en] as const),
    )
    const taught = labels(batches).flatMap(({ segments }) => segments)
    expect(taught.length).toBeGreaterThan(0)
    for (const { groupId, tokens, promptLength, mask } of taught) {
      const drawn = new Set([...mask].flatMap((one, t) => (one ? [tokens[promptLength + t]!] : [])))
      const [label] = [...drawn].map((token) => words.actions[token])
      expect(drawn.size).toBe(1)
      expect(label).toMatchObject({ kind: 'diagnose', diagnosis: new Map(truths).get(groupId) })
    }
    for (const [id, { episodes, scores }] of groups) {
      const own = taught.filter(({ groupId }) => groupId === id)
      expect(own.length).toBe(scores.some(({ total }) => total === 1) ? episodes.length : 0)
    }
  })

  test('credits moves where the rewards of a group do not differ', async () => {
    const batches: TrainBatch[] = []
    const same = defineReward({ name: 'same', bounds: [0, 1] }, () => ok(1))
    await run(watched(embedded({ actionSpace: words }), batches), {
      ...{ reward: same, hindsight: { ...hindsight, gain: 0.5 }, steps: 3 },
    })
    const policy = batches.filter(({ loss }) => loss.kind !== 'cross-entropy')
    const advantages = policy.flatMap(({ segments }) =>
      segments.flatMap((one) => [...one.advantages]),
    )
    expect(advantages.some((one) => one > 0)).toBe(true)
    expect(advantages.reduce((sum, one) => sum + one, 0)).toBeCloseTo(0, 4)
  })

  test('weighs what is seldom right by one over its probability, up to a limit', async () => {
    const batches: TrainBatch[] = []
    const weighed = { ...hindsight, maxWeight: 1.05 }
    await run(watched(embedded({ actionSpace: words }), batches), {
      ...{ hindsight: weighed, steps: 1, groupSize: 2 },
    })
    const weights = labels(batches).flatMap(({ segments }) =>
      segments.map(({ advantages }) => Math.max(...advantages)),
    )
    // Two members at one half each miss with 1/4: the weight 4/3 is over the limit.
    expect(weights.length).toBeGreaterThan(0)
    for (const weight of weights) expect(weight).toBeCloseTo(1.05, 6)
    batches.length = 0
    await run(watched(embedded({ actionSpace: words }), batches), {
      ...{ hindsight: { ...hindsight, maxWeight: 9 }, steps: 1, groupSize: 2 },
    })
    for (const { segments } of labels(batches))
      for (const { advantages } of segments) expect(Math.max(...advantages)).toBeCloseTo(4 / 3, 5)
  })

  test('has the same weights at any concurrency, and interrupted or not', async () => {
    const [one, many] = [embedded({ actionSpace: words }), embedded({ actionSpace: words })]
    await run(one, { hindsight, concurrency: 1 })
    await run(many, { hindsight, concurrency: 24 })
    const whole = await weightsOf(one)
    expect(await weightsOf(many)).toBe(whole)
    const folder = join(await mkdtemp(join(tmpdir(), 'grpo-')), 'half')
    const first = embedded({ actionSpace: words })
    await run(first, { hindsight, steps: 2 })
    await first.save(folder)
    const second = embedded({ actionSpace: words })
    await second.load(folder)
    await run(second, { hindsight, firstStep: 3 })
    expect(await weightsOf(second)).toBe(whole)
  })

  test.each([
    [{ maxStaleness: 1 }, /`maxStaleness` 0 with `hindsight`/],
    [{ accuracy: unmeasured }, /`accuracy` with `hindsight`/],
  ] as const)('refuses %o', async (over, message) => {
    const backend = embedded({ actionSpace: words })
    await expect(run(backend, { ...over, hindsight })).rejects.toThrow(message)
  })

  test('refuses a backend without `conclude`', async () => {
    const { conclude: _, ...others } = embedded({ actionSpace: words })
    await expect(run(others as Backend, { hindsight })).rejects.toThrow(
      /a backend with `conclude`.*got `embedded`/,
    )
  })
})

describe('corrections', () => {
  /** Batches and steps of a run with corrections. */
  async function corrected(corrections: number) {
    const batches: TrainBatch[] = []
    const steps: GrpoStep[] = []
    const afterStep: GrpoOptions['afterStep'] = (made) => {
      steps.push(made)
      return undefined
    }
    await run(watched(embedded({ actionSpace: words }), batches), { corrections, afterStep })
    return { batches, steps }
  }
  const nameOf = (segment: TokenSegment | undefined): string | undefined => {
    const action = words.actions[segment?.tokens.at(-1) ?? -1]
    return action?.kind === 'diagnose' ? action.diagnosis : undefined
  }

  test('teach a wrong conclusion what a sibling said rightly, and take as much from its own', async () => {
    const { batches, steps } = await corrected(0.5)
    let rows = 0
    for (const [s, { segments }] of batches.entries()) {
      const { groups, cases } = steps[s]!
      for (const [g, { id, episodes, scores, advantages }] of groups.entries()) {
        const truth = cases[g]?.gold.dx[0]?.name.en
        const known = scores.some(({ total }) => total === 1)
        for (const [i, { id: rolloutId, turns }] of episodes.entries()) {
          const [played, row, ...more] = segments.filter((one) => one.rolloutId === rolloutId)
          expect(more).toEqual([])
          const wrong = turns.at(-1)?.action.kind === 'diagnose' && scores[i]?.total === 0
          expect(row !== undefined).toBe(known && wrong)
          if (!played || !row) continue
          rows += 1
          expect(row.groupId).toBe(id)
          expect(nameOf(row)).toBe(truth)
          expect(nameOf(played)).not.toBe(truth)
          // Both have read the same, and only the last reply of the row is drawn.
          expect(row.tokens.slice(0, -1)).toEqual(played.tokens.slice(0, -1))
          expect([...row.mask].filter((one) => one === 1)).toHaveLength(1)
          expect(row.advantages.at(-1)).toBe(0.5)
          expect(played.advantages.at(-1)).toBeCloseTo((advantages[i] ?? 0) - 0.5, 6)
          const before = played.mask.indexOf(1)
          if (before < played.mask.length - 1)
            expect(played.advantages[before]).toBeCloseTo(advantages[i] ?? 0, 6)
        }
      }
    }
    expect(rows).toBeGreaterThan(0)
  })

  test('carry the log-probs of the policy that played, so that the ratio begins at 1', async () => {
    const backend = embedded({ actionSpace: words })
    const seen: number[] = []
    const before: Backend = Object.create(backend, {
      step: {
        value: async (batch: TrainBatch) => {
          const now = (await backend.logprobs?.(batch.segments)) ?? []
          for (const [s, { mask, logprobs }] of batch.segments.entries())
            for (const [t, one] of mask.entries())
              if (one === 1) seen.push(Math.abs(now[s]![t]! - logprobs[t]!))
          return backend.step(batch)
        },
      },
    })
    await run(before, { corrections: 1 })
    expect(seen.length).toBeGreaterThan(0)
    expect(Math.max(...seen)).toBeLessThan(1e-5)
  })

  test('have the same weights at any concurrency, and other ones than without', async () => {
    const made = await Promise.all(
      [{}, { corrections: 1, concurrency: 1 }, { corrections: 1, concurrency: 24 }].map(
        async (over) => {
          const backend = embedded({ actionSpace: words })
          await run(backend, over)
          return weightsOf(backend)
        },
      ),
    )
    expect(made[1]).toBe(made[2])
    expect(made[1]).not.toBe(made[0])
  })

  test.each([
    [{ corrections: -1 }, /`corrections` to be a number of at least 0, got `-1`/],
    [{ corrections: Number.NaN }, /`corrections` to be a number of at least 0, got `NaN`/],
    [{ corrections: 1, maxStaleness: 1 }, /`maxStaleness` 0 with `corrections`/],
    [{ corrections: 1, accuracy: unmeasured }, /`accuracy` with `corrections`/],
  ] as const)('refuse %o', async (over, message) => {
    await expect(run(embedded({ actionSpace: words }), over)).rejects.toThrow(message)
  })

  test('refuse a backend without log-probs', async () => {
    const { logprobs: _, ...others } = embedded({ actionSpace: words })
    await expect(run(others as Backend, { corrections: 1 })).rejects.toThrow(
      /a backend with `logprobs`.*got embedded/,
    )
  })
})
