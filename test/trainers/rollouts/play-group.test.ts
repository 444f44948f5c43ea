import { describe, expect, test } from 'vitest'
import type { Agent } from '../../../src/agent.js'
import { consultation } from '../../../src/envs/consultation.js'
import type { Reward } from '../../../src/reward.js'
import { playGroup } from '../../../src/trainers/rollouts/play-group.js'
import { caseAt, patient } from '../../fixtures/tiny-training.js'

/** Diagnoses at once, rightly if its seed is even. */
const agent: Agent = (_, { seed }) => ({
  action: { kind: 'diagnose', diagnosis: seed % 2 === 0 ? 'Influenza' : 'Angina' },
})
const paying = (value: (diagnosis: string) => number, calls: string[] = []): Reward =>
  Object.assign(
    async (...[episode]: Parameters<Reward>) => {
      calls.push(episode.id)
      const last = episode.turns.at(-1)?.action
      return { total: last?.kind === 'diagnose' ? value(last.diagnosis) : 0, parts: {} }
    },
    { rewardName: 'paying', bounds: [0, 1] as const, source: 'test' },
  )
const right = (diagnosis: string) => (diagnosis === 'Influenza' ? 1 : 0)
const makeEnv = () => consultation({ cases: caseAt, patient })

describe('a played group', () => {
  test('has a group for each role, with advantages of its own, and pays each reward once', async () => {
    const calls: string[] = []
    const rewards = {
      doctor: paying(right, calls),
      patient: paying((diagnosis) => 1 - right(diagnosis)),
    }
    const { groups, episodes, faults } = await playGroup(caseAt(0), {
      ...{ makeEnv, agent, rewards, size: 6, seed: 3 },
    })
    expect([episodes.length, faults]).toEqual([6, []])
    expect(calls.toSorted()).toEqual(episodes.map(({ id }) => id).toSorted())
    expect([groups.doctor?.role, groups.patient?.role]).toEqual(['doctor', 'patient'])
    const { advantages = [] } = groups.doctor ?? {}
    expect(advantages.some((one) => one > 0)).toBe(true)
    groups.patient?.advantages.forEach((one, i) => {
      expect(one).toBeCloseTo(-advantages[i]!, 12)
    })
  })

  test('gives each member a seed of its own, and all the same patient', async () => {
    const seeds: number[] = []
    const { episodes } = await playGroup(caseAt(0), {
      ...{ agent, rewards: { doctor: paying(right) }, size: 4, seed: 9, concurrency: 2 },
      makeEnv: ({ seed }) => {
        seeds.push(seed)
        return makeEnv()
      },
    })
    expect(new Set(seeds).size).toBe(4)
    expect(new Set(episodes.map(({ seed }) => seed))).toEqual(new Set([9]))
    expect(new Set(episodes.map(({ id }) => id)).size).toBe(4)
  })

  test('leaves out the members whose world failed, and names the faults', async () => {
    let calls = 0
    const flaky: Agent = (observation, context) => {
      if (calls++ === 1) throw new Error('503')
      return agent(observation, context)
    }
    const options = { makeEnv, rewards: { doctor: paying(right) }, seed: 1, concurrency: 1 }
    const some = await playGroup(caseAt(0), { ...options, agent: flaky, size: 3 })
    expect([some.groups.doctor?.episodes.length, some.faults.length]).toEqual([2, 1])
    const down: Agent = () => {
      throw new Error('503')
    }
    const none = await playGroup(caseAt(0), { ...options, agent: down, size: 2 })
    expect([none.groups, none.faults.length]).toEqual([{}, 2])
  })

  test('of no members is refused', async () => {
    const rewards = { doctor: paying(right) }
    await expect(
      playGroup(caseAt(0), { makeEnv, agent, rewards, size: 0, seed: 0 }),
    ).rejects.toThrow('Expected `size` to be a positive integer, got `0`')
  })
})
