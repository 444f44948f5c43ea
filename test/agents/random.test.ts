import { describe, expect, test } from 'vitest'
import { random } from '../../src/agents/random.js'
import type { Observation } from '../../src/env.js'
import { knowledgeActionSpace } from '../../src/knowledge/action-space.js'
import type { Action, Turn } from '../../src/turn.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const actionSpace = knowledgeActionSpace(familyKnowledge(), 'en')
const agent = random({ actionSpace })

const seen = (turns: readonly Turn[], maxTurns: number): Observation => ({
  intake: { view: 'doctor', demographics: { speaker: 'self' }, complaint: { en: 'Hello.' } },
  turns,
  turnsLeft: maxTurns - turns.length,
  spent: { money: 0, minutes: 0 },
  budget: { money: 1, minutes: 1 },
  language: 'en',
})

/** All that the random doctor does until its diagnosis. */
async function play(seed: number, maxTurns: number): Promise<Action[]> {
  const turns: Turn[] = []
  while (turns.length < maxTurns) {
    const { action } = await agent(seen(turns, maxTurns), { seed })
    turns.push({ action, outcome: { kind: 'answered', text: '' } })
    if (action.kind === 'diagnose') break
  }
  return turns.map(({ action }) => action)
}
const counts = (values: readonly (string | number)[]): number[] => {
  const map = new Map<string | number, number>()
  for (const value of values) map.set(value, (map.get(value) ?? 0) + 1)
  return [...map.values()]
}

describe('the random doctor', () => {
  test('ends every play with a diagnosis, after moves it never repeats', async () => {
    for (let seed = 0; seed < 200; seed++) {
      const actions = await play(seed, 10)
      expect(actions.at(-1)?.kind).toBe('diagnose')
      expect(new Set(actions.map((action) => JSON.stringify(action))).size).toBe(actions.length)
    }
  })

  test('diagnoses at a turn even over 2 to the last, every disease alike', async () => {
    const plays = await Promise.all(Array.from({ length: 3000 }, (_, seed) => play(seed, 10)))
    const lengths = plays.map((actions) => actions.length)
    expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([2, 10])
    for (const count of counts(lengths))
      expect(Math.abs(count - 3000 / 9)).toBeLessThan(4 * Math.sqrt(3000 / 9))
    const named = counts(plays.map((actions) => JSON.stringify(actions.at(-1))))
    expect(named).toHaveLength(6)
    for (const count of named) expect(Math.abs(count - 500)).toBeLessThan(4 * Math.sqrt(500))
  })

  test('plays the same for the same seed and otherwise for another', async () => {
    expect(await play(7, 10)).toEqual(await play(7, 10))
    expect(await play(7, 10)).not.toEqual(await play(8, 10))
  })

  test('diagnoses at once when it has one turn, and when it has said all it knows', async () => {
    expect(await play(1, 1)).toHaveLength(1)
    const all = actionSpace.actions.filter(({ kind }) => kind !== 'diagnose').length
    for (let seed = 0; seed < 20; seed++)
      expect((await play(seed, 1000)).length).toBeLessThanOrEqual(all + 1)
  })
})
