import { afterEach, describe, expect, test, vi } from 'vitest'
import { Fault } from '../../src/error.js'
import type { Reward } from '../../src/reward.js'
import { notApplicable, ok, unavailable } from '../../src/reward.js'
import type { RewardFunction } from '../../src/rewards/define.js'
import { asReward, defineReward } from '../../src/rewards/define.js'
import { saying, truthOf } from '../fixtures/reward-episodes.js'

const episode = saying('flu')
const truth = truthOf()
const unit = { name: 'mine', bounds: [0, 1], source: 'a test' } as const
const score = (fn: RewardFunction) => defineReward(unit, fn)(episode, truth)

describe('defineReward', () => {
  test('a number, a part, null and a whole score are all scores, from sync and async functions', async () => {
    const half = { total: 0.5, parts: { mine: ok(0.5) } }
    expect(await score(() => 0.5)).toEqual(half)
    expect(await score(async () => 0.5)).toEqual(half)
    expect(await score(() => ok(0.5, 'seen'))).toEqual({
      total: 0.5,
      parts: { mine: ok(0.5, 'seen') },
    })
    expect(await score(() => null)).toEqual({ total: null, parts: { mine: notApplicable } })
    expect(await score(() => unavailable('down'))).toEqual({
      total: null,
      parts: { mine: unavailable('down') },
    })
    const whole = { total: 0.25, parts: { a: ok(0.5), b: ok(0) } }
    expect(await score(() => whole)).toEqual(whole)
  })

  test('it carries its declaration and hands on episode, truth and context', async () => {
    const reward = defineReward(unit, (e, t, { signal }) =>
      e === episode && t === truth && signal === undefined ? 1 : 0,
    )
    expect([reward.rewardName, reward.bounds, reward.source]).toEqual(['mine', [0, 1], 'a test'])
    expect((await reward(episode, truth)).total).toBe(1)
  })

  test.each([1.5, -0.1, Number.NaN, Number.POSITIVE_INFINITY])(
    'a value of %s breaks the declared bounds and says so',
    async (value) => {
      await expect(score(() => value)).rejects.toThrow(
        new RangeError(`Expected reward \`mine\` to be finite and within [0, 1], got ${value}`),
      )
    },
  )

  test('an infinite value is refused even where no bounds were declared', async () => {
    const reward = defineReward({ name: 'free' }, () => Number.NEGATIVE_INFINITY)
    await expect(reward(episode, truth)).rejects.toThrow(/`free` to be finite/)
  })

  test('a part that is not finite is refused, whatever the total', async () => {
    await expect(score(() => ({ total: 0.5, parts: { a: ok(Number.NaN) } }))).rejects.toThrow(
      'Expected part `a` of reward `mine` to be finite, got NaN',
    )
  })

  test('what is no score is a TypeError that shows it', async () => {
    // A JavaScript user has no compiler to stop this.
    const wrong = (() => 'good') as unknown as RewardFunction
    await expect(score(wrong)).rejects.toThrow(
      new TypeError('Expected reward `mine` to return a number, null, a part or a score, got good'),
    )
  })

  test('a fault of the world makes the part unavailable, never a number', async () => {
    const down = () => {
      throw new Fault('model-unavailable', 'the judge is down')
    }
    expect(await score(down)).toEqual({
      total: null,
      parts: { mine: unavailable('the judge is down') },
    })
  })

  test('a mistake in the function is a fault that names the reward, not a score', async () => {
    const broken = score(() => {
      throw new TypeError('x is undefined')
    })
    await expect(broken).rejects.toMatchObject({
      code: 'component-failed',
      message: 'reward mine: x is undefined',
    })
  })

  test.each([
    ['an error of its own', () => new Error('no such model')],
    ['an error of a library', () => Object.assign(new Error('529'), { name: 'APIError' })],
    ['what fetch throws', () => new TypeError('fetch failed', { cause: new Error('refused') })],
    ['something that is no error', () => 'out of credit'],
  ])('%s makes the part unavailable, never a number', async (_, thrown) => {
    for (const fn of [
      () => {
        throw thrown()
      },
      async () => {
        throw thrown()
      },
    ]) {
      const { total, parts } = await score(fn)
      expect(total).toBeNull()
      expect(parts.mine).toMatchObject({
        status: 'unavailable',
        reason: expect.stringMatching(/^reward mine: ./),
      })
    }
  })

  test('a value out of bounds ends the run, also from inside another reward', async () => {
    const inner = defineReward({ name: 'inner', bounds: [0, 1] }, () => 7)
    const outer = score(async (e, t) => (await inner(e, t)).total)
    await expect(outer).rejects.toThrow(
      new RangeError('Expected reward `inner` to be finite and within [0, 1], got 7'),
    )
  })

  test('a part of a status that there is not is refused', async () => {
    // A JavaScript user has no compiler to stop this.
    const wrong = (() => ({ status: 'fine', value: 1 })) as unknown as RewardFunction
    await expect(score(wrong)).rejects.toThrow('got {"status":"fine","value":1}')
  })

  test.each([[[]], [[0.1, 0.2]], [[Number.NaN]]])('turns of %j are refused', async (turns) => {
    const given = score(() => ({ total: 0.5, parts: { mine: ok(0.5) }, turns }))
    await expect(given).rejects.toThrow('Expected `turns` of reward `mine` to be 1 finite numbers')
  })

  test('an aborted call rethrows what stopped it', async () => {
    const signal = AbortSignal.abort(new Error('stopped'))
    const reward = defineReward(unit, (_, __, context) => {
      context.signal?.throwIfAborted()
      return 1
    })
    await expect(reward(episode, truth, { signal })).rejects.toThrow('stopped')
  })

  test('bounds the wrong way round are refused at once', () => {
    expect(() => defineReward({ ...unit, bounds: [1, 0] }, () => 0)).toThrow(
      'Expected bounds of `mine` with low ≤ high, got [1, 0]',
    )
  })
})

describe('a reward that never answers', () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  const never = () => new Promise<number>(() => {})

  test('is unavailable after its time, and nothing is left running', async () => {
    vi.useFakeTimers()
    const scored = defineReward({ ...unit, timeoutMs: 5000 }, never)(episode, truth)
    await vi.advanceTimersByTimeAsync(4999)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect((await scored).parts.mine).toEqual(
      unavailable('reward mine did not answer within 5000 ms'),
    )
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a bare function has a minute, a declared one ten', async () => {
    vi.useFakeTimers()
    const seconds = async (reward: Reward) => {
      let done = false
      void reward(episode, truth).then(() => {
        done = true
      })
      let waited = 0
      for (; !done && waited < 3600; waited += 30) await vi.advanceTimersByTimeAsync(30_000)
      return waited
    }
    expect(await seconds(asReward(never))).toBe(60)
    expect(await seconds(defineReward(unit, never))).toBe(600)
    expect(
      await seconds(defineReward({ ...unit, timeoutMs: Number.POSITIVE_INFINITY }, never)),
    ).toBe(3600)
  })

  test('the timer is gone once there is an answer, good or bad', async () => {
    vi.useFakeTimers()
    expect((await score(async () => 0.5)).total).toBe(0.5)
    await score(async () => {
      throw new Error('down')
    })
    expect(vi.getTimerCount()).toBe(0)
    // A function that answers at once is given none.
    let timers = -1
    await score(() => {
      timers = vi.getTimerCount()
      return 1
    })
    expect(timers).toBe(0)
  })

  test('an answer that comes too late is dropped, a late error too', async () => {
    vi.useFakeTimers()
    const late = defineReward({ ...unit, timeoutMs: 10 }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      throw new Error('too late to matter')
    })(episode, truth)
    await vi.advanceTimersByTimeAsync(30)
    expect((await late).total).toBeNull()
  })

  test('stops at once when the caller does', async () => {
    const controller = new AbortController()
    const scored = defineReward(unit, never)(episode, truth, { signal: controller.signal })
    controller.abort(new Error('stopped'))
    await expect(scored).rejects.toThrow('stopped')
    const after = defineReward(unit, never)(episode, truth, { signal: controller.signal })
    await expect(after).rejects.toThrow('stopped')
  })

  test.each([0, -1, Number.NaN])('a time of %s ms is refused', (timeoutMs) => {
    expect(() => defineReward({ ...unit, timeoutMs }, () => 0)).toThrow(
      `Expected \`timeoutMs\` of \`mine\` to be more than 0 ms, got ${timeoutMs}`,
    )
  })
})

describe('asReward', () => {
  test('a reward stays itself', () => {
    const reward = defineReward(unit, () => 1)
    expect(asReward(reward, 'other')).toBe(reward)
  })

  test('a bare function is a reward under its own name or the one given', async () => {
    const politeness: RewardFunction = () => -3
    expect(asReward(politeness).rewardName).toBe('politeness')
    const named = asReward(politeness, 'manners')
    expect(await named(episode, truth)).toEqual({ total: -3, parts: { manners: ok(-3) } })
  })
})
