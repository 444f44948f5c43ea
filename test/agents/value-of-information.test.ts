import { describe, expect, test } from 'vitest'
import { valueOfInformation } from '../../src/agents/value-of-information.js'
import type { Episode } from '../../src/episode.js'
import { tiers } from '../../src/knowledge/tiers.js'
import { consult, seen } from '../fixtures/consulting.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const playing = { knowledge, tier: 'standard', count: 150 } as const
const tier = tiers.standard

const moves = (episodes: readonly Episode[]) =>
  episodes.reduce((sum, { turns }) => sum + turns.length, 0) / episodes.length

describe('the doctor that weighs what an answer is worth', () => {
  test('diagnoses well, in fewer turns the dearer they are', async () => {
    const play = (price: number) =>
      consult(valueOfInformation({ knowledge, ...tier, price, minGain: price }), playing)
    const cheap = await play(0)
    const fair = await play(0.2)
    const dear = await play(2)
    expect(cheap.accuracy).toBeGreaterThan(0.8)
    expect(moves(fair.episodes)).toBeLessThan(moves(cheap.episodes) - 1)
    expect(moves(dear.episodes)).toBeLessThan(moves(fair.episodes) - 1)
    expect(dear.accuracy).toBeLessThan(cheap.accuracy)
    for (const { stop } of cheap.episodes) expect(stop).toBe('diagnosed')
  })

  test('goes on while no single answer would change the diagnosis, and stops where nothing is to be learnt', async () => {
    const going = await consult(valueOfInformation({ knowledge, ...tier }), playing)
    const myopic = await consult(
      valueOfInformation({ knowledge, ...tier, minGain: Number.POSITIVE_INFINITY }),
      playing,
    )
    expect(moves(going.episodes)).toBeGreaterThan(moves(myopic.episodes))
    // Two cases of the noise of so few.
    expect(going.accuracy).toBeGreaterThanOrEqual(myopic.accuracy - 2 / playing.count)
  })

  test('names what is worth most to name, not what is most probable', async () => {
    const [first, second] = ['acute bronchitis', 'pneumonia']
    const name = async (worth: number) => {
      const agent = valueOfInformation({
        knowledge,
        utility: (said, truth) =>
          said !== truth ? 0 : said.name.en === second ? worth : said.name.en === first ? 1 : 0.1,
      })
      const { action } = await agent(seen([], { turnsLeft: 1 }), { seed: 0 })
      return action.kind === 'diagnose' ? action.diagnosis : undefined
    }
    expect(await name(1)).toBe(first)
    expect(await name(20)).toBe(second)
  })

  test('orders nothing where it may only ask', async () => {
    const agent = valueOfInformation({ knowledge, ...tier, questionsOnly: true })
    const { episodes } = await consult(agent, { ...playing, count: 20 })
    const kinds = episodes.flatMap(({ turns }) => turns.map(({ action }) => action.kind))
    expect(new Set(kinds)).toEqual(new Set(['ask', 'diagnose']))
  })
})
