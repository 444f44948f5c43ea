import { expect, test } from 'vitest'
import { firstCome } from '../../src/platform/first-come.js'

test('starts work in the order in which it comes, so many at once and never more', async () => {
  const run = firstCome(2)
  const started: number[] = []
  const finish: (() => void)[] = []
  let [underWay, most] = [0, 0]
  const all = Array.from({ length: 6 }, (_, n) =>
    run(async () => {
      started.push(n)
      most = Math.max(most, ++underWay)
      await new Promise<void>((resolve) => finish.push(resolve))
      underWay--
      return n
    }),
  )
  while (finish.length > 0) {
    finish.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5])
  expect(started).toEqual([0, 1, 2, 3, 4, 5])
  expect(most).toBe(2)
})

test('a failure is of its own work alone, and leaves its place', async () => {
  const run = firstCome(1)
  const failed = run(() => Promise.reject(new Error('no')))
  const next = run(async () => 'done')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
})

test('without a bound nothing waits', async () => {
  const run = firstCome(Number.POSITIVE_INFINITY)
  const never = run(() => new Promise(() => {}))
  expect(await run(async () => 1)).toBe(1)
  expect(never).toBeInstanceOf(Promise)
})
