import { describe, expect, test } from 'vitest'
import type { Lease, RolloutSource } from '../../../src/trainers/rollouts/rollout-source.js'
import { openRolloutSource } from '../../../src/trainers/rollouts/rollout-source.js'
import { fc } from '../../fixtures/property.js'

interface Made {
  readonly n: number
  readonly version: number
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A source whose rollouts carry the version at which they were begun. */
function open(over: Partial<Parameters<typeof openRolloutSource<Made>>[0]> = {}) {
  const trainer = { version: 0 }
  const source = openRolloutSource<Made>({
    make: async (n) => {
      const { version } = trainer
      await Promise.resolve()
      return { n, version }
    },
    ahead: 4,
    oldestVersion: ({ version }) => version,
    maxStaleness: 1,
    ...over,
  })
  return { source, trainer }
}

const numbers = ({ rollouts }: Lease<Made>) => rollouts.map(({ n }) => n)

describe('a lease', () => {
  test('holds rollouts in the order in which they were begun, whichever is done first', async () => {
    const { source } = open({
      ahead: 4,
      make: async (n) => {
        await sleep(n === 0 ? 0 : 8 - n)
        return { n, version: 0 }
      },
    })
    await using _ = source
    expect(numbers(await source.lease(4, { policyVersion: 0 }))).toEqual([0, 1, 2, 3])
  })

  test('is acknowledged once, by its holder', async () => {
    const { source } = open()
    await using _ = source
    const lease = await source.lease(2, { policyVersion: 0, holder: 'a' })
    expect(() => source.ack({ id: lease.id, holder: 'b' })).toThrow('acknowledged by `a`, got `b`')
    source.ack(lease)
    expect(() => source.ack(lease)).toThrow('Expected a lease that is open, got `0`')
    expect(() => source.ack({ id: 'x', holder: 'a' })).toThrow('got `x`')
  })

  test('that expires is lent again, and cannot be acknowledged any more', async () => {
    const { source } = open({ leaseMs: 5 })
    await using _ = source
    const lost = await source.lease(2, { policyVersion: 0, holder: 'dies' })
    await sleep(10)
    expect(() => source.ack(lost)).toThrow('acknowledged or expired')
    const again = await source.lease(2, { policyVersion: 0, holder: 'lives' })
    expect(again.rollouts).toEqual(lost.rollouts)
    source.ack(again)
    expect(source.expire()).toBe(0)
  })

  test('waits no longer than its signal, and loses nothing', async () => {
    const { source } = open({
      ahead: 2,
      make: async (n) => (n > 1 ? new Promise(() => {}) : { n, version: 0 }),
    })
    const controller = new AbortController()
    const waiting = source.lease(4, { policyVersion: 0, signal: controller.signal })
    await sleep(1)
    controller.abort()
    await expect(waiting).rejects.toThrow('aborted')
    expect(numbers(await source.lease(2, { policyVersion: 0 }))).toEqual([0, 1])
  })

  test('of two takers at once has each its own', async () => {
    const { source } = open({
      ahead: 2,
      make: async (n) => {
        await sleep(2)
        return { n, version: 0 }
      },
    })
    await using _ = source
    const leases = await Promise.all(
      [0, 1, 2].map((holder) => source.lease(2, { policyVersion: 0, holder: `${holder}` })),
    )
    expect(leases.flatMap(numbers).sort()).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('names what was too old and what was empty', async () => {
    const { source, trainer } = open({ isEmpty: ({ n }) => n === 1 })
    await using _ = source
    source.ack(await source.lease(1, { policyVersion: 0 }))
    trainer.version = 3
    const lease = await source.lease(2, { policyVersion: 3 })
    expect(lease.empty.map(({ n }) => n)).toEqual([1])
    expect(lease.stale.map(({ n }) => n)).toEqual([2, 3])
    expect(lease.rollouts.map(({ version }) => version)).toEqual([3, 3])
  })
})

describe('a source', () => {
  test('ends with the error of a rollout, for all who wait', async () => {
    const { source } = open({
      make: async () => {
        throw new TypeError('a bug in a reward')
      },
    })
    const waiting = [0, 1].map(() => source.lease(1, { policyVersion: 0 }))
    for (const one of waiting) await expect(one).rejects.toThrow('a bug in a reward')
  })

  test('ends where too much is empty', async () => {
    const { source } = open({
      isEmpty: () => true,
      checkEmpty: (empty) => {
        if (empty.length === 3) throw new Error('nothing to learn from')
      },
    })
    await expect(source.lease(1, { policyVersion: 0 })).rejects.toThrow('nothing to learn from')
  })

  test('has stopped its rollouts when it is closed', async () => {
    const ended: number[] = []
    const { source } = open({
      ahead: 2,
      make: async (n, signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await sleep(2)
        ended.push(n)
        return { n, version: 0 }
      },
    })
    const waiting = source.lease(1, { policyVersion: 0 })
    await sleep(1)
    const closing = source.close()
    await expect(waiting).rejects.toThrow('closed')
    await closing
    expect(ended).toEqual([0, 1])
    await expect(source.lease(1, { policyVersion: 0 })).rejects.toThrow('closed')
  })

  test('drops nothing of a trainer that takes a step with each lease, at any staleness', async () => {
    for (const maxStaleness of [1, 2, 4]) {
      const perStep = 3
      const { source, trainer } = open({ maxStaleness, ahead: perStep * (1 + maxStaleness) })
      let stale = 0
      for (let step = 0; step < 20; step++) {
        const lease = await source.lease(perStep, { policyVersion: trainer.version })
        stale += lease.stale.length
        for (const { version } of lease.rollouts)
          expect(trainer.version - version).toBeLessThanOrEqual(maxStaleness)
        source.ack(lease)
        trainer.version++
        await sleep(0)
      }
      expect(stale).toBe(0)
      await source.close()
    }
  })

  test('lends each rollout to one who acknowledges it, and forgets none, whoever dies', async () => {
    const act = fc.record({
      holder: fc.nat(3),
      count: fc.integer({ min: 1, max: 3 }),
      fate: fc.constantFrom('acks', 'dies', 'acks twice', 'acks for another'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 12 }), async (script) => {
        const { source } = open({ leaseMs: 1e6, ahead: 5 })
        const used: number[] = []
        const refused = (ack: () => void) => expect(ack).toThrow(TypeError)
        const play = async ({ holder, count, fate }: (typeof script)[number]) => {
          const lease = await source.lease(count, { policyVersion: 0, holder: `${holder}` })
          if (fate === 'dies') return
          if (fate === 'acks for another') refused(() => source.ack({ ...lease, holder: 'thief' }))
          source.ack(lease)
          used.push(...numbers(lease))
          if (fate === 'acks twice') refused(() => source.ack(lease))
        }
        await Promise.all(script.map(play))
        expect(new Set(used).size).toBe(used.length)
        // What the dead held is lent again once their time is over, before anything new.
        source.expire(Number.POSITIVE_INFINITY)
        await rest(source, used)
        await source.close()
        expect([...used].sort((a, b) => a - b)).toEqual(used.map((_, n) => n))
      }),
      { numRuns: 300 },
    )
  })
})

/** Leases one by one until every rollout below the highest used is used. */
async function rest(source: RolloutSource<Made>, used: number[]): Promise<void> {
  while (new Set(used).size <= Math.max(...used, 0)) {
    const lease = await source.lease(1, { policyVersion: 0 })
    source.ack(lease)
    used.push(...numbers(lease))
  }
}
