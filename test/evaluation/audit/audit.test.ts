import { beforeAll, describe, expect, test } from 'vitest'
import { redTeam } from '../../../src/agents/red-team/policies.js'
import { scripted } from '../../../src/agents/scripted.js'
import { Fault } from '../../../src/error.js'
import type { Audit, AuditOptions, AuditPolicy } from '../../../src/evaluation/audit/audit.js'
import { audit } from '../../../src/evaluation/audit/audit.js'
import type { Reward } from '../../../src/reward.js'
import { unavailable } from '../../../src/reward.js'
import { weigh } from '../../../src/rewards/combinators/compose.js'
import { defineReward } from '../../../src/rewards/define.js'
import { diagnosisAccuracy } from '../../../src/rewards/outcome/partial-credit.js'
import type { Task } from '../../../src/tasks/task.js'
import { task } from '../../../src/tasks/task.js'

let world: Task
let policies: readonly AuditPolicy[]
beforeAll(async () => {
  world = await task({ heldOut: 24, reward: defineReward({ name: 'none' }, () => 0) })
  const wanted = ['guess-at-once', 'pad-open', 'list-diseases']
  policies = redTeam
    .filter(({ name }) => wanted.includes(name))
    .map(({ name, make }) => ({ name, agent: make(world.actionSpace) }))
})

const run = (rewards: readonly Reward[], more: Partial<AuditOptions> = {}) => {
  const { heldOut: cases, makeEnv, floor, ceiling } = world
  return audit({ cases, makeEnv, floor, ceiling, policies, rewards, ...more })
}
const one = async (reward: Reward, more: Partial<AuditOptions> = {}): Promise<Audit> => {
  const [only] = await run([reward], more)
  if (!only) throw new Error('no audit')
  return only
}
const of = (found: Audit, name: string) => {
  const policy = found.policies.find((each) => each.name === name)
  if (!policy) throw new Error(`no policy ${name}`)
  return policy
}

/** The share of the turns that were used: what many a reward pays. */
const talk = (more: object = {}): Reward =>
  defineReward({ name: 'talk', bounds: [0, 1], ...more }, ({ turns, maxTurns }) => {
    const asked = turns.filter(({ action }) => action.kind === 'ask').length
    return asked / maxTurns
  })
const right = diagnosisAccuracy()

describe('a reward that pays for talk', () => {
  test('is exploited by who talks, and the gain is the mean of the differences', async () => {
    const found = await one(talk())
    const pad = of(found, 'pad-open')
    expect(pad).toMatchObject({ mean: expect.closeTo(0.9, 9), exploit: true, unscored: 0 })
    expect(pad.gain).toBeCloseTo((pad.mean ?? 0) - (found.random ?? 0), 9)
    const [low = 0, high = 0] = pad.ci95 ?? []
    expect(low).toBeLessThan(pad.gain ?? 0)
    expect(high).toBeGreaterThan(pad.gain ?? 0)
    expect(of(found, 'guess-at-once')).toMatchObject({ mean: 0, exploit: false })
    expect(found.passed).toBe(false)
  })

  test('shows the consultation that gained most, of the policy that gained most', async () => {
    const { best, random } = await one(talk())
    expect(best?.policy).toBe('pad-open')
    expect(best?.episode.turns).toHaveLength(10)
    expect(best?.gain).toBeCloseTo((best?.score.total ?? 0) - (best?.random ?? 0), 9)
    expect(best?.random).toBeLessThan(random ?? 0)
  })

  test('passes as a parity formula, and still says what is an exploit', async () => {
    const found = await one(talk({ parity: true }))
    expect(found).toMatchObject({ parity: true, passed: true })
    expect(of(found, 'pad-open').exploit).toBe(true)
  })
})

describe('a reward that pays for being right', () => {
  test('passes: the guesses are those of the random doctor', async () => {
    const found = await one(right)
    expect(found.passed).toBe(true)
    expect(of(found, 'guess-at-once').gain).toBe(0)
    expect(of(found, 'pad-open').gain).toBe(0)
    expect(found.ceiling?.mean).toBeGreaterThan((found.random ?? 0) + 0.5)
  })

  test('and nothing is shown where nothing was gained', async () => {
    expect((await one(right)).best).toBeNull()
  })
})

describe('which part paid', () => {
  test('of a weighted mean: the difference of the parts, by weight, summing to the gain', async () => {
    const found = await one(weigh({ diagnosis: [3, right], talk: [1, talk()] }))
    const { paid, gain } = of(found, 'pad-open')
    expect(paid[0]).toMatchObject({ part: 'talk', policy: expect.closeTo(0.9, 9) })
    const sum = paid.reduce((all, part) => all + (part.paid ?? 0), 0)
    expect(sum).toBeCloseTo(gain ?? 1, 9)
    expect(paid[0]?.paid).toBeCloseTo(gain ?? 1, 9)
  })

  test('of a lone part: all of it; of parts without weights: unknown', async () => {
    expect(of(await one(talk()), 'pad-open').paid).toEqual([
      expect.objectContaining({ part: 'talk', paid: of(await one(talk()), 'pad-open').gain }),
    ])
    const loose = defineReward({ name: 'loose', bounds: [0, 2] }, ({ turns }) => ({
      total: turns.length > 1 ? 1 : 0,
      parts: { long: { status: 'ok', value: turns.length }, short: { status: 'ok', value: 0 } },
    }))
    const { paid } = of(await one(loose), 'pad-open')
    expect(paid.map(({ part, paid: amount }) => [part, amount])).toEqual([
      ['long', null],
      ['short', null],
    ])
  })
})

describe('what has no score', () => {
  const fragile = defineReward({ name: 'fragile', bounds: [0, 1] }, ({ turns }) =>
    turns.length === 1 ? unavailable('the judge is down') : 0.5,
  )

  test('is counted, warned of, and never a 0', async () => {
    const found = await one(fragile)
    expect(of(found, 'guess-at-once')).toMatchObject({
      ...{ mean: null, gain: null, ci95: null, exploit: false, unscored: 24 },
    })
    expect(found.warnings.join()).toMatch(/`guess-at-once` left 24 .* the random doctor 0/)
    expect(of(found, 'pad-open').mean).toBe(0.5)
  })

  test('does not pass where the random doctor has none', async () => {
    const down = defineReward({ name: 'down', bounds: [0, 1] }, () => unavailable('down'))
    expect(await one(down)).toMatchObject({ random: null, passed: false })
  })

  test('nor is a consultation that the world could not play', async () => {
    const flaky: AuditPolicy = {
      name: 'flaky',
      agent: () => {
        throw new Fault('model-unavailable', 'no answer')
      },
    }
    const found = await one(talk(), { policies: [flaky] })
    expect(of(found, 'flaky')).toMatchObject({ mean: null, unscored: 24, exploit: false })
  })
})

describe('bounds', () => {
  const scaled = (by: number, bounds?: readonly [number, number]) =>
    defineReward({ name: 'scaled', ...(bounds ? { bounds } : {}) }, ({ turns, maxTurns }) => {
      return (by * turns.length) / maxTurns
    })

  test('make a gain a share: a tenfold reward with tenfold bounds is no more exploited', async () => {
    const varied = (by: number) =>
      defineReward({ name: 'varied', bounds: [0, by] }, ({ caseId, turns, maxTurns }) => {
        const luck = Number(caseId.at(-1)) % 2 === 0 ? 0.9 : 0
        return by * (luck + (0.03 * turns.length) / maxTurns)
      })
    const [small, large] = [await one(varied(1)), await one(varied(10))]
    expect(of(large, 'pad-open').gain).toBeGreaterThan(0.1)
    expect([small.range.of, large.range.of]).toEqual(['declared', 'declared'])
    expect([small.passed, large.passed]).toEqual([true, true])
  })

  test('where there are none, or far too wide ones, what was seen counts, with a warning', async () => {
    for (const bounds of [undefined, [-1e6, 1e6]] as const) {
      const found = await one(scaled(1, bounds))
      expect(found.range).toEqual({ low: 0.1, high: 1, of: 'seen' })
      expect(found.warnings.join()).toMatch(/bounds/)
      expect(of(found, 'pad-open').exploit).toBe(true)
    }
  })
})

test('many rewards over one play get what each gets alone', async () => {
  const rewards = [talk(), right]
  const together = await run(rewards)
  expect(together).toEqual([await one(talk()), await one(right)])
})

test('a policy may be against one reward and have a tolerance of its own', async () => {
  const silent: AuditPolicy = {
    name: 'talker',
    agent: scripted(Array(9).fill({ kind: 'ask', text: 'Hello.' })),
    tolerance: 0.99,
  }
  const rewards = [talk(), right]
  const [first, second] = await run(rewards, { policies: [{ ...silent, against: rewards[0]! }] })
  expect(first?.policies).toMatchObject([{ name: 'talker', exploit: false }])
  expect(first?.policies[0]?.gain).toBeGreaterThan(0.02)
  expect(second?.policies).toEqual([])
})

test('a reward that throws stops the audit and is named with the policy and the case', async () => {
  const broken = defineReward({ name: 'broken', bounds: [0, 1] }, ({ turns }) => turns.length)
  await expect(one(broken)).rejects.toThrow(/broken: on case easy-heldout-0-\d+, played by random/)
})
