import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { giveBackAtRest } from '../../src/server/give-back.js'

const mb = 1024 * 1024

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A heap of some size that a collection brings to `live`. */
function heap(live: number) {
  const state = { used: live, live, collections: 0 }
  const collect = async () => {
    state.collections++
    state.used = state.live
  }
  return { state, given: { restMs: 1000, used: () => state.used, collect } }
}

test('memory is given back once, when the heap has grown and then rests', async () => {
  const { state, given } = heap(50 * mb)
  using _memory = giveBackAtRest(given)
  for (let n = 0; n < 5; n++) {
    state.used += 20 * mb
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(state.collections).toBe(0)
  state.used += mb / 2
  await vi.advanceTimersByTimeAsync(1000)
  expect(state).toEqual({ used: 50 * mb, live: 50 * mb, collections: 1 })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(state.collections).toBe(1)
})

test('a little garbage is left, and what lives is no garbage the next time', async () => {
  const { state, given } = heap(50 * mb)
  using _memory = giveBackAtRest(given)
  state.used += 20 * mb
  await vi.advanceTimersByTimeAsync(5000)
  expect(state.collections).toBe(0)
  state.live = state.used += 30 * mb
  await vi.advanceTimersByTimeAsync(10_000)
  expect(state.collections).toBe(1)
})

test('a collection of the engine itself counts', async () => {
  const { state, given } = heap(80 * mb)
  using _memory = giveBackAtRest(given)
  state.used = 30 * mb
  await vi.advanceTimersByTimeAsync(1000)
  state.used = 70 * mb
  await vi.advanceTimersByTimeAsync(3000)
  expect(state.collections).toBe(1)
})

test('nothing is collected after the end', async () => {
  const { state, given } = heap(50 * mb)
  giveBackAtRest(given)[Symbol.dispose]()
  state.used += 100 * mb
  await vi.advanceTimersByTimeAsync(10_000)
  expect(state.collections).toBe(0)
})

test('the collection of the engine leaves the thread alive, and can be had again and again', async () => {
  vi.useRealTimers()
  let used = 0
  let looks = 0
  const look = () => {
    looks++
    used += looks % 2 ? 0 : 64 * mb
    return used
  }
  using _memory = giveBackAtRest({ restMs: 5, used: look })
  await vi.waitFor(() => expect(looks).toBeGreaterThan(20), 20_000)
})
