import { describe, expect, test } from 'vitest'
import type { Env, ResetOptions } from '../../src/env.js'
import { termination, transition } from '../../src/env.js'
import type { Autoreset } from '../../src/envs/vector-types.js'
import { vectorize } from '../../src/envs/vectorize.js'
import { fork } from '../../src/seed.js'
import { tinyActions, tinyEnv } from '../fixtures/tiny.js'

interface Seen {
  readonly seed: number
  readonly count: number
}

/** An env that ends at the count its first action names, and remembers how it was reset and closed. */
class Counter implements Env<Seen, number, { readonly at: number }> {
  readonly resets: ResetOptions[] = []
  closed = 0
  private count = 0
  private seed = 0
  private over = true

  constructor(private readonly delay = 0) {}

  private wait = () => new Promise((resolve) => setTimeout(resolve, this.delay))

  async reset(start: ResetOptions = {}) {
    this.resets.push(start)
    this.count = 0
    this.seed = start.seed ?? 0
    this.over = false
    return { observation: { seed: this.seed, count: 0 }, info: { at: 0 } }
  }

  async step(last: number) {
    if (this.over) throw new TypeError('Expected reset()')
    await this.wait()
    if (last < 0) throw new Error(`cannot count to ${last}`)
    this.count++
    const observation = { seed: this.seed, count: this.count }
    const info = { at: this.count }
    this.over = this.count >= last
    return this.over
      ? termination(observation, { ...info, stop: 'done' }, 1)
      : transition(observation, info, 0.5)
  }

  async close() {
    this.closed++
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }
}

const counters = (delays: readonly number[], autoreset?: Autoreset) => {
  const envs = delays.map((delay) => new Counter(delay))
  const vector = vectorize(
    envs.map((env) => () => env),
    autoreset ? { autoreset } : {},
  )
  return { envs, vector }
}

const seedsOf = (envs: readonly Counter[]) =>
  envs.map(({ resets }) => resets.map(({ seed }) => seed))

describe('reset', () => {
  test('gives env i the seed + i, from 0 without one', async () => {
    const { envs, vector } = counters([0, 0, 0])
    const { observations } = await vector.reset()
    await vector.reset({ seed: 40 })
    expect(observations.map(({ seed }) => seed)).toEqual([0, 1, 2])
    expect(seedsOf(envs)).toEqual([
      [0, 40],
      [1, 41],
      [2, 42],
    ])
  })

  test('gives every env its own of a list of seeds, and the options to all', async () => {
    const { envs, vector } = counters([0, 0])
    const options = { case: 'x' }
    await vector.reset({ seed: [9, 9], options })
    expect(envs.map(({ resets }) => resets)).toEqual([
      [{ seed: 9, options }],
      [{ seed: 9, options }],
    ])
  })

  test('with a mask resets those envs and leaves the others where they are', async () => {
    const { envs, vector } = counters([0, 0])
    await vector.reset({ seed: 5 })
    await vector.step([3, 3])
    const { observations, infos } = await vector.reset({ seed: 7, mask: [false, true] })
    expect(observations).toEqual([
      { seed: 5, count: 1 },
      { seed: 8, count: 0 },
    ])
    expect(infos).toEqual([{ at: 1 }, { at: 0 }])
    expect(seedsOf(envs)).toEqual([[5], [6, 8]])
  })

  test('without a seed goes on to new ones, the same whenever it is asked', async () => {
    const { envs, vector } = counters([0, 0])
    await vector.reset({ seed: 5 })
    await vector.reset({ mask: [false, true] })
    await vector.reset()
    expect(seedsOf(envs)).toEqual([
      [5, fork(5, 'episode', 1)],
      [6, fork(6, 'episode', 1), fork(6, 'episode', 2)],
    ])
  })

  test('refuses a first mask that leaves an env without an episode', async () => {
    const { vector } = counters([0, 0])
    await expect(vector.reset({ mask: [true, false] })).rejects.toThrow(
      new TypeError('Expected the first reset() to reset env 1 too'),
    )
  })

  test('refuses lists of another length', async () => {
    const { vector } = counters([0, 0])
    await expect(vector.reset({ mask: [true] })).rejects.toThrow(
      new RangeError('Expected `mask` to have 2 entries, got 1'),
    )
    await expect(vector.reset({ seed: [1, 2, 3] })).rejects.toThrow(
      new RangeError('Expected `seed` to have 2 entries, got 3'),
    )
  })
})

describe('step', () => {
  test('gives one entry per env, in order, however long each takes', async () => {
    const { vector } = counters([15, 0, 5])
    await vector.reset()
    expect(await vector.step([1, 9, 1])).toEqual({
      observations: [
        { seed: 0, count: 1 },
        { seed: 1, count: 1 },
        { seed: 2, count: 1 },
      ],
      rewards: [1, 0.5, 1],
      terminated: [true, false, true],
      truncated: [false, false, false],
      infos: [{ at: 1, stop: 'done' }, { at: 1 }, { at: 1, stop: 'done' }],
    })
  })

  test('disabled: refuses to step an env whose episode is over, and steps none', async () => {
    const { vector } = counters([0, 0])
    await vector.reset()
    await vector.step([1, 9])
    await expect(vector.step([9, 9])).rejects.toThrow(
      new TypeError('Expected reset({ mask }) of env 0, whose episode is over, got a step'),
    )
    const { observations } = await vector.reset({ mask: [true, false] })
    expect(observations[1]).toEqual({ seed: 1, count: 1 })
    expect((await vector.step([9, 9])).observations.map(({ count }) => count)).toEqual([1, 2])
  })

  test('next-step: the step after the end resets, ignores its action and pays nothing', async () => {
    const { envs, vector } = counters([0, 0], 'next-step')
    await vector.reset({ seed: 3 })
    const ending = await vector.step([1, 9])
    const after = await vector.step([-1, 9])
    const seed = fork(3, 'episode', 1)
    expect(ending).toMatchObject({ terminated: [true, false], rewards: [1, 0.5] })
    expect(ending.observations[0]).toEqual({ seed: 3, count: 1 })
    expect(after.observations).toEqual([
      { seed, count: 0 },
      { seed: 4, count: 2 },
    ])
    expect(after).toMatchObject({
      rewards: [0, 0.5],
      terminated: [false, false],
      truncated: [false, false],
      infos: [{ at: 0 }, { at: 2 }],
    })
    expect(seedsOf(envs)).toEqual([[3, seed], [4]])
  })

  test('same-step: the step that ends resets, and the end is in info.final', async () => {
    const { vector } = counters([0, 0], 'same-step')
    await vector.reset({ seed: 3, options: { case: 'x' } })
    const step = await vector.step([1, 9])
    const seed = fork(3, 'episode', 1)
    expect(step).toMatchObject({ terminated: [true, false], rewards: [1, 0.5] })
    expect(step.observations).toEqual([
      { seed, count: 0 },
      { seed: 4, count: 1 },
    ])
    expect(step.infos).toEqual([
      { at: 0, final: { observation: { seed: 3, count: 1 }, info: { at: 1, stop: 'done' } } },
      { at: 1 },
    ])
    expect((await vector.step([9, 9])).observations[0]).toEqual({ seed, count: 1 })
  })

  test('an automatic reset takes no options', async () => {
    const { envs, vector } = counters([0], 'same-step')
    await vector.reset({ seed: 3, options: { case: 'x' } })
    await vector.step([1])
    expect(envs[0]?.resets).toEqual([
      { seed: 3, options: { case: 'x' } },
      { seed: fork(3, 'episode', 1) },
    ])
  })

  test('throws the error of one env when all the others are done', async () => {
    const { vector } = counters([0, 20])
    await vector.reset()
    await expect(vector.step([-1, 9])).rejects.toThrow('cannot count to -1')
    const { observations } = await vector.reset({ mask: [true, false] })
    expect(observations.map(({ count }) => count)).toEqual([0, 1])
  })

  test('refuses a step before reset and a wrong number of actions', async () => {
    const { vector } = counters([0, 0])
    await expect(vector.step([1, 1])).rejects.toThrow(
      new TypeError('Expected reset() of env 0 before its step'),
    )
    await vector.reset()
    await expect(vector.step([1])).rejects.toThrow(
      new RangeError('Expected `actions` to have 2 entries, got 1'),
    )
  })
})

describe('send and ready', () => {
  test('give results in the order they are done, and a slow env holds nobody up', async () => {
    const { vector } = counters([60, 0, 0])
    await vector.reset()
    for (let i = 0; i < vector.size; i++) vector.send(i, 4)
    const order: [number, number][] = []
    for await (const done of vector.ready()) {
      if (!('step' in done)) throw done.error
      order.push([done.index, done.step.observation.count])
      if (!done.step.terminated && done.index > 0) vector.send(done.index, 4)
    }
    expect(order.at(-1)).toEqual([0, 1])
    expect(order.filter(([index]) => index === 1).map(([, count]) => count)).toEqual([1, 2, 3, 4])
    expect(order).toHaveLength(9)
  })

  test('play episode after episode with automatic resets', async () => {
    const { vector } = counters([0, 2], 'next-step')
    await vector.reset({ seed: 1 })
    for (let i = 0; i < vector.size; i++) vector.send(i, 2)
    const seeds = new Set<number>()
    let results = 0
    for await (const done of vector.ready()) {
      if (!('step' in done)) throw done.error
      seeds.add(done.step.observation.seed)
      if (++results < 12) vector.send(done.index, 2)
    }
    expect(seeds.size).toBeGreaterThan(3)
  })

  test('tell of a failed step beside the others', async () => {
    const { vector } = counters([0, 5])
    await vector.reset()
    vector.send(0, -1)
    vector.send(1, 9)
    const seen: unknown[] = []
    for await (const done of vector.ready())
      seen.push('error' in done ? [done.index, String(done.error)] : [done.index, done.step.reward])
    expect(seen).toEqual([
      [0, 'Error: cannot count to -1'],
      [1, 0.5],
    ])
  })

  test('refuse a second action for an env until the first has come out', async () => {
    const { vector } = counters([0, 0])
    await vector.reset()
    vector.send(0, 9)
    const busy = 'Expected env 0 to be idle, got a call while its action is under way'
    expect(() => vector.send(0, 9)).toThrow(new TypeError(busy))
    await expect(vector.step([9, 9])).rejects.toThrow(busy)
    await expect(vector.reset()).rejects.toThrow(busy)
    for await (const { index } of vector.ready()) expect(index).toBe(0)
    vector.send(0, 9)
    for await (const { index } of vector.ready()) expect(index).toBe(0)
  })

  test('let one env be reset while another is under way', async () => {
    const { vector } = counters([20, 0])
    await vector.reset()
    vector.send(0, 9)
    await vector.reset({ mask: [false, true], seed: 50 })
    const results: number[] = []
    for await (const done of vector.ready()) results.push(done.index)
    expect(results).toEqual([0])
  })

  test('end at once when nothing is under way, and keep a result nobody took', async () => {
    const { vector } = counters([0, 3])
    await vector.reset()
    for await (const done of vector.ready()) throw new Error(`Expected none, got ${done.index}`)
    vector.send(0, 9)
    vector.send(1, 9)
    const order: number[] = []
    for await (const { index } of vector.ready()) {
      order.push(index)
      break
    }
    for await (const { index } of vector.ready()) order.push(index)
    expect(order).toEqual([0, 1])
  })

  test('serve two readers without leaving one behind', async () => {
    const { vector } = counters([0, 5])
    await vector.reset()
    vector.send(0, 9)
    vector.send(1, 9)
    const read = async () => {
      const order: number[] = []
      for await (const { index } of vector.ready()) order.push(index)
      return order
    }
    const [one, other] = await Promise.all([read(), read()])
    expect([...one, ...other].sort()).toEqual([0, 1])
  })

  test('refuse an env that does not exist and one that was never reset', async () => {
    const { vector } = counters([0])
    expect(() => vector.send(1, 9)).toThrow(new RangeError('Expected an index below 1, got 1'))
    expect(() => vector.send(0, 9)).toThrow(
      new TypeError('Expected reset() of env 0 before its step'),
    )
  })
})

describe('a vector of consultations', () => {
  test('plays each as it plays alone', async () => {
    const vector = vectorize(Array.from({ length: 4 }, () => tinyEnv))
    const starts = await vector.reset({ seed: 10 })
    const steps = []
    for (const action of tinyActions) steps.push(await vector.step(Array(4).fill(action)))
    for (let i = 0; i < vector.size; i++) {
      const env = tinyEnv()
      expect(starts.observations[i]).toEqual((await env.reset({ seed: 10 + i })).observation)
      for (const [t, action] of tinyActions.entries()) {
        const alone = await env.step(action)
        expect(steps[t]?.infos[i]).toEqual(alone.info)
        expect(steps[t]?.rewards[i]).toBe(alone.reward)
      }
    }
  })

  test('stops at an aborted signal', async () => {
    const vector = vectorize([() => tinyEnv()])
    await vector.reset()
    const signal = AbortSignal.abort()
    await expect(vector.step([tinyActions[0]], { signal })).rejects.toThrow('aborted')
  })
})

test('closing closes every env, once each call', async () => {
  const { envs, vector } = counters([0, 0, 0])
  await vector.close()
  expect(envs.map(({ closed }) => closed)).toEqual([1, 1, 1])
  await vector[Symbol.asyncDispose]()
  expect(envs.map(({ closed }) => closed)).toEqual([2, 2, 2])
})
