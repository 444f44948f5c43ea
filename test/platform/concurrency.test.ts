import { describe, expect, test } from 'vitest'
import { mapPool, mapStream } from '../../src/platform/concurrency.js'
import { fc } from '../fixtures/property.js'

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

describe('mapPool', () => {
  test('gives results in the order of the jobs, whichever is done first', async () => {
    const result = await mapPool([20, 0, 10], 3, async (ms, index) => {
      await sleep(ms)
      return `${index}:${ms}`
    })
    expect(result).toEqual(['0:20', '1:0', '2:10'])
  })

  test('never runs more jobs at a time than it may, and so many where there are enough', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 20 }),
        async (concurrency, count) => {
          let running = 0
          let most = 0
          await mapPool(Array.from({ length: count }), concurrency, async () => {
            most = Math.max(most, ++running)
            await sleep(0)
            running--
          })
          expect(most).toBe(Math.min(concurrency, count))
        },
      ),
      { numRuns: 40 },
    )
  })

  test('throws the first error as it is and begins no job after it', async () => {
    const broken = new TypeError('job 1')
    const begun: number[] = []
    const run = mapPool([0, 1, 2, 3, 4], 2, async (job) => {
      begun.push(job)
      await sleep(5)
      if (job === 1) throw broken
    })
    await expect(run).rejects.toBe(broken)
    await sleep(30)
    expect(begun).toEqual([0, 1, 2])
  })

  test('is over when it throws: the jobs under way have been told and awaited', async () => {
    const ended: number[] = []
    const told: boolean[] = []
    const run = mapPool([0, 1, 2], 3, async (job, _, signal) => {
      await sleep(job === 1 ? 0 : 15)
      if (job === 1) throw new TypeError('job 1')
      told.push(signal.aborted)
      ended.push(job)
    })
    await expect(run).rejects.toThrow('job 1')
    expect([ended, told]).toEqual([
      [0, 2],
      [true, true],
    ])
  })

  test('stops when its signal is aborted, and throws the reason when the jobs under way are over', async () => {
    const stop = new AbortController()
    const ended: number[] = []
    const jobs = [0, 1, 2, 3]
    const run = mapPool(
      jobs,
      2,
      async (job, _, signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        ended.push(job)
        signal.throwIfAborted()
      },
      stop.signal,
    )
    setTimeout(() => stop.abort(new Error('Ctrl-C')), 5)
    await expect(run).rejects.toThrow('Ctrl-C')
    expect(ended).toEqual([0, 1])
    const never = mapPool(jobs, 2, async (job) => ended.push(job), stop.signal)
    await expect(never).rejects.toThrow('Ctrl-C')
    expect(ended).toEqual([0, 1])
  })

  test('warns of no leak when many jobs listen to their signal', async () => {
    const warnings: string[] = []
    const listen = ({ name }: Error) => warnings.push(name)
    process.on('warning', listen)
    for (const signal of [undefined, new AbortController().signal])
      await mapPool(
        [...Array(50).keys()],
        50,
        async (_, __, own) => {
          own.addEventListener('abort', () => undefined)
          await sleep(1)
        },
        signal,
      )
    await sleep(5)
    process.off('warning', listen)
    expect(warnings).toEqual([])
  })

  test('of no jobs gives nothing', async () => {
    expect(await mapPool([], 1, async () => 1)).toEqual([])
  })

  test('lets timers run between jobs that never wait', async () => {
    const jobs = Array.from({ length: 40 })
    let done = 0
    let doneAtTimer = -1
    setTimeout(() => {
      doneAtTimer = done
    }, 1)
    await mapPool(jobs, 1, async () => {
      const until = performance.now() + 10
      while (performance.now() < until);
      done++
    })
    expect(doneAtTimer).toBeGreaterThan(-1)
    expect(doneAtTimer).toBeLessThan(jobs.length)
  })

  test('lets timers run while many jobs start at once', async () => {
    let begun = 0
    let begunAtTimer = -1
    setTimeout(() => {
      begunAtTimer = begun
    }, 1)
    await mapPool(Array.from({ length: 100 }), 100, async () => {
      begun++
      const until = performance.now() + 1
      while (performance.now() < until);
      await sleep(1)
    })
    expect(begunAtTimer).toBeGreaterThan(-1)
    expect(begunAtTimer).toBeLessThan(50)
  })

  for (const concurrency of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    test(`refuses a concurrency of ${concurrency}`, async () => {
      await expect(mapPool([1], concurrency, async () => 1)).rejects.toThrow(
        new RangeError(`Expected \`concurrency\` to be a positive integer, got \`${concurrency}\``),
      )
    })
})

describe('mapStream', () => {
  async function* numbers(count: number, onGiven: (n: number) => void = () => {}) {
    for (let n = 0; n < count; n++) {
      onGiven(n)
      yield n
    }
  }

  test('gives results in the order of the stream, never more under way than it may', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }),
        async (concurrency, waits) => {
          let [running, most] = [0, 0]
          const results: number[] = []
          const all = mapStream(numbers(waits.length), concurrency, async (n) => {
            most = Math.max(most, ++running)
            await sleep(waits[n] ?? 0)
            running--
            return n
          })
          for await (const n of all) results.push(n)
          expect(results).toEqual(waits.map((_, n) => n))
          expect(most).toBeLessThanOrEqual(concurrency)
          if (waits.length > 0) expect(most).toBeGreaterThanOrEqual(1)
        },
      ),
      { numRuns: 30 },
    ))

  test('has so many under way where each waits', async () => {
    let [running, most] = [0, 0]
    const all = mapStream(numbers(12), 4, async () => {
      most = Math.max(most, ++running)
      await sleep(5)
      running--
    })
    for await (const _ of all);
    expect(most).toBe(4)
  })

  test('goes on while a slow one is waited for', async () => {
    let done = 0
    let doneBeforeSlow = 0
    const all = mapStream(numbers(200), 4, async (n) => {
      if (n === 0) {
        await sleep(150)
        doneBeforeSlow = done
      } else await sleep(1)
      done++
    })
    for await (const _ of all);
    expect(doneBeforeSlow).toBeGreaterThan(30)
  })

  test('throws an error in its turn, begins nothing after it and awaits what was begun', async () => {
    const broken = new TypeError('job 1')
    const [begun, ended, got]: number[][] = [[], [], []]
    let given = 0
    const counted = numbers(9, () => given++)
    const run = async () => {
      const all = mapStream(counted, 3, async (n) => {
        begun?.push(n)
        await sleep(n === 1 ? 0 : 10)
        if (n === 1) throw broken
        ended?.push(n)
        return n
      })
      for await (const n of all) got?.push(n)
    }
    await expect(run()).rejects.toBe(broken)
    expect(got).toEqual([0])
    expect(begun).toEqual([0, 1, 2])
    expect(ended).toEqual([0, 2])
    expect(given).toBe(3)
  })

  test('ends the stream where nobody wants more', async () => {
    let closed = false
    async function* endless() {
      try {
        for (let n = 0; ; n++) yield n
      } finally {
        closed = true
      }
    }
    for await (const n of mapStream(endless(), 2, async (n) => n)) if (n === 3) break
    expect(closed).toBe(true)
  })

  test('refuses a concurrency of 0', async () => {
    const all = mapStream(numbers(1), 0, async (n) => n)
    await expect(all.next()).rejects.toThrow(RangeError)
  })
})
