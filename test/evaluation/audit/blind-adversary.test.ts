import { beforeAll, describe, expect, test } from 'vitest'
import { blindActions } from '../../../src/agents/red-team/blind.js'
import type { AdversaryOptions } from '../../../src/evaluation/audit/blind-adversary.js'
import { blindAdversary } from '../../../src/evaluation/audit/blind-adversary.js'
import { unavailable } from '../../../src/reward.js'
import { defineReward } from '../../../src/rewards/define.js'
import type { Task } from '../../../src/tasks/task.js'
import { task } from '../../../src/tasks/task.js'
import type { Action } from '../../../src/turn.js'

let world: Task
beforeAll(async () => {
  const reward = defineReward({ name: 'none' }, () => 0)
  world = await task({ heldOut: 2, maxTurns: 4, clinic: ['tiredness'], reward })
})

const search = (
  score: (actions: readonly Action[]) => number | null,
  more: Partial<AdversaryOptions> = {},
) => {
  const { actionSpace, maxTurns, caseAt, makeEnv } = world
  const reward = defineReward({ name: 'score' }, ({ turns }) =>
    score(turns.map(({ action }) => action)),
  )
  const given = { ...blindActions(actionSpace), maxTurns, caseAt, makeEnv, reward, budget: 2560 }
  return blindAdversary({ ...given, ...more })
}
const asks = (actions: readonly Action[]) => actions.filter(({ kind }) => kind === 'ask').length

describe('the blind adversary', () => {
  test('finds that talking pays, and talks until its last turn', async () => {
    const found = await search(asks)
    expect(found.slice(0, -1).map(({ kind }) => kind)).toEqual(['ask', 'ask', 'ask'])
    expect(['diagnose', 'give-up']).toContain(found.at(-1)?.kind)
  })

  test('finds that silence pays, and ends at once', async () => {
    expect(await search((actions) => -actions.length)).toHaveLength(1)
  })

  test('finds the one ending that is paid among many', async () => {
    const found = await search((actions) => (actions.at(-1)?.kind === 'give-up' ? 1 : 0))
    expect(found.at(-1)).toEqual({ kind: 'give-up' })
  })

  test('finds what pays only at a certain turn', async () => {
    const found = await search((actions) => (actions[1]?.kind === 'order' ? 1 : 0))
    expect(found[1]?.kind).toBe('order')
  })

  test('makes a question of the world once, and an open one as often as it likes', async () => {
    const found = await search(asks, { often: [] })
    const questions = found.filter(({ kind }) => kind === 'ask').map((one) => JSON.stringify(one))
    expect(new Set(questions).size).toBe(questions.length)
  })

  test('is the same again for the same seed', async () => {
    const once = await search(asks, { budget: 256, seed: 4 })
    expect(await search(asks, { budget: 256, seed: 4, concurrency: 1 })).toEqual(once)
  })

  test('spends no more than its budget', async () => {
    let spent = 0
    const onSpent = (more: number) => {
      spent += more
    }
    await search(asks, { budget: 700, onSpent })
    expect(spent).toBeGreaterThan(500)
    expect(spent).toBeLessThanOrEqual(700)
  })

  test('ends with some sequence where nothing is ever judged, or all is paid alike', async () => {
    const none = defineReward({ name: 'down' }, () => unavailable('down'))
    for (const found of [
      await search(asks, { reward: none, budget: 256 }),
      await search(() => 1, { budget: 256 }),
    ])
      expect(['diagnose', 'give-up']).toContain(found.at(-1)?.kind)
  })

  test('says what it needs', async () => {
    await expect(search(asks, { budget: 100 })).rejects.toThrow(/`budget` to be at least 128.*100/)
    await expect(search(asks, { ends: [] })).rejects.toThrow(/`ends` to hold at least one/)
  })
})
