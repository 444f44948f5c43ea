import { describe, expect, test } from 'vitest'
import {
  finish,
  inRanges,
  inSlices,
  inTurn,
  nextLoopTurn,
  type SlicedWork,
  slowValue,
} from '../../src/platform/slices.js'

function spend(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Takes `steps` milliseconds and counts its steps. */
function* count(steps: number): SlicedWork<number> {
  let done = 0
  for (; done < steps; done++) {
    spend(1)
    yield
  }
  return done
}

/** Turns of the event loop until a promise is settled. */
async function turnsUntil(work: PromiseLike<unknown>): Promise<number> {
  let settled = false
  const end = () => {
    settled = true
  }
  work.then(end, end)
  let turns = 0
  for (; !settled; turns++) await nextLoopTurn()
  return turns
}

test('work in slices gives what it gives at once, and lets the event loop turn', async () => {
  expect(finish(count(3))).toBe(3)
  const work = inSlices(count(60))
  expect(await turnsUntil(work)).toBeGreaterThan(5)
  expect(await work).toBe(60)
})

test('ranges cover everything once', () => {
  const seen: number[] = []
  finish(
    inRanges(10, 4, (from, to) => {
      for (let i = from; i < to; i++) seen.push(i)
    }),
  )
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

describe('a slow value', () => {
  test('is made once, however many want it, at once or in slices', async () => {
    let made = 0
    const value = slowValue(function* () {
      made++
      return yield* count(30)
    })
    const both = [value.prepare(), value.prepare()]
    expect(value.ready).toBe(false)
    // Goes on from where the slices are.
    expect(value.get()).toBe(30)
    expect(value.ready).toBe(true)
    expect(await Promise.all(both)).toEqual([30, 30])
    expect(made).toBe(1)
  })

  test('is part of another', () => {
    const part = slowValue(() => count(2))
    const whole = slowValue(function* () {
      return 10 * (yield* part.rest())
    })
    expect(whole.get()).toBe(20)
    expect(part.ready).toBe(true)
  })

  test('is tried again after an error', async () => {
    let tries = 0
    const value = slowValue(function* (): SlicedWork<string> {
      yield
      if (++tries < 3) throw new RangeError(`try ${tries}`)
      return 'made'
    })
    await expect(value.prepare()).rejects.toThrow('try 1')
    expect(() => value.get()).toThrow('try 2')
    expect(await value.prepare()).toBe('made')
  })
})

describe('a job in turn', () => {
  test('is done now where the loop is free', async () => {
    await nextLoopTurn()
    await nextLoopTurn()
    expect(inTurn(() => 7)).toBe(7)
  })

  test('waits where there are many, in order, with turns of the loop between', async () => {
    const order: number[] = []
    const jobs = Array.from({ length: 60 }, (_, n) =>
      inTurn(() => {
        spend(1)
        order.push(n)
        return n
      }),
    )
    expect(order.length).toBeLessThan(20)
    const all = Promise.all(jobs)
    expect(await turnsUntil(all)).toBeGreaterThan(3)
    expect(await all).toEqual(order)
  })

  test('throws what it threw, and the next one is done', async () => {
    spend(1)
    inTurn(() => spend(10))
    const broken = inTurn(() => {
      throw new RangeError('broken')
    })
    const next = inTurn(() => 'next')
    await expect(broken).rejects.toThrow('broken')
    expect(await next).toBe('next')
  })
})
