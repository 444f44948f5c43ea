import { describe, expect, test } from 'vitest'
import { oracle, oraclePerCost } from '../../src/agents/oracle.js'
import { random } from '../../src/agents/random.js'
import type { Episode } from '../../src/episode.js'
import { knowledgeActionSpace } from '../../src/knowledge/action-space.js'
import { tiers } from '../../src/knowledge/tiers.js'
import type { Action } from '../../src/turn.js'
import { answered, consult, question, seen } from '../fixtures/consulting.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()

describe('the oracle', () => {
  test('asks or orders, nothing twice that was answered, and ends every consultation with a diagnosis', async () => {
    const agent = oracle({ knowledge, ...tiers.hard })
    const { episodes } = await consult(agent, { knowledge, tier: 'hard', count: 60 })
    for (const { stop, turns } of episodes) {
      expect(stop).toBe('diagnosed')
      const answers = turns.filter(
        ({ facts }) => !['unclear', 'withheld'].includes(facts.understood ?? ''),
      )
      const said = answers.map(({ action }) => JSON.stringify(action))
      expect(new Set(said).size).toBe(said.length)
    }
  })

  test.each(['zh', 'en'] as const)('beats the random doctor by far in %s', async (language) => {
    const actionSpace = knowledgeActionSpace(knowledge, language)
    const playing = { knowledge, tier: 'standard', count: 150, language } as const
    const best = await consult(oracle({ knowledge, ...tiers.standard }), playing)
    const floor = await consult(random({ actionSpace }), playing)
    expect(best.accuracy).toBeGreaterThan(0.8)
    expect(best.accuracy - floor.accuracy).toBeGreaterThan(0.5)
  })

  test('does better with examinations than with questions only', async () => {
    const playing = { knowledge, tier: 'easy', count: 200 } as const
    const both = await consult(oracle({ knowledge }), playing)
    const questions = await consult(oracle({ knowledge, questionsOnly: true }), playing)
    expect(both.accuracy).toBeGreaterThan(questions.accuracy)
    const orders = (episodes: readonly Episode[]) =>
      episodes.flatMap(({ turns }) => turns).filter(({ action }) => action.kind === 'order').length
    expect(orders(questions.episodes)).toBe(0)
    expect(orders(both.episodes)).toBeGreaterThan(0)
  })

  test('says the same in the same situation', () => {
    const agent = oracle({ knowledge, ...tiers.standard })
    expect(agent(seen([]), { seed: 1 })).toEqual(agent(seen([]), { seed: 2 }))
  })

  test('diagnoses with a recommendation when one turn is left or enough is known', async () => {
    const last = await oracle({ knowledge })(seen([], { turnsLeft: 1 }), { seed: 0 })
    expect(last.action).toMatchObject({ kind: 'diagnose', diagnosis: 'acute bronchitis' })
    const bold = await oracle({ knowledge, threshold: 0.3 })(seen([]), { seed: 0 })
    expect(bold.action).toMatchObject({
      kind: 'diagnose',
      recommendation: 'Rest and drink plenty',
    })
  })

  test('diagnoses when nothing is worth asking', async () => {
    const { action } = await oracle({ knowledge, minGain: 10 })(seen([]), { seed: 0 })
    expect(action.kind).toBe('diagnose')
  })

  test('orders nothing that costs more money or time than is left', async () => {
    const { action: free } = await oracle({ knowledge })(seen([]), { seed: 0 })
    expect(free).toEqual({ kind: 'order', exam: 'chest auscultation' })
    const poor = seen([], { spent: { money: 291, minutes: 0 } })
    expect((await oracle({ knowledge })(poor, { seed: 0 })).action).not.toEqual(free)
    const late = seen([], { spent: { money: 0, minutes: 2875 } })
    expect((await oracle({ knowledge })(late, { seed: 0 })).action).not.toEqual(free)
  })

  test('takes the sentence of a closed gate for the truth about the gate', async () => {
    const fever = seen([], {
      intake: { ...seen([]).intake, complaint: { en: 'I have been running a temperature.' } },
    })
    const agent = oracle({ knowledge, ...tiers.hard, questionsOnly: true, threshold: 1 })
    const told = [answered(question(knowledge, 'sputum'), 'I do not cough.')]
    const asked = new Set<string>()
    // Whatever it asks from here on, a cough and what hangs from it are settled.
    for (let turn = 0; turn < 8; turn++) {
      const { action } = await agent({ ...fever, turns: told }, { seed: 0 })
      if (action.kind !== 'ask') break
      asked.add(action.text)
      told.push(answered(action, 'I could not really say.'))
    }
    expect(asked.size).toBeGreaterThan(3)
    for (const id of ['cough', 'sputum', 'bloody-sputum', 'foul-sputum'])
      expect(asked.has(knowledge.finding.get(id)?.ask.en[0] ?? '')).toBe(false)
  })

  test('never lets a question or an order use up the last minute', async () => {
    const last = { budget: { money: 300, minutes: 20 }, spent: { money: 0, minutes: 19 } }
    expect((await oracle({ knowledge })(seen([], last), { seed: 0 })).action.kind).toBe('diagnose')
  })
})

describe('the oracle that minds the cost', () => {
  const playing = { knowledge, tier: 'standard', count: 150 } as const

  test('spends less than the other one and is right nearly as often', async () => {
    const plain = await consult(oracle({ knowledge, ...tiers.standard }), playing)
    const thrifty = await consult(oraclePerCost({ knowledge, ...tiers.standard }), playing)
    const money = (episodes: readonly Episode[]) =>
      episodes.reduce((sum, { spent }) => sum + spent.money, 0)
    expect(money(thrifty.episodes)).toBeLessThan(0.95 * money(plain.episodes))
    expect(thrifty.accuracy).toBeGreaterThan(plain.accuracy - 0.1)
  })

  test('takes the share of turns, money and minutes for the cost', async () => {
    const first = async (more: object): Promise<Action> =>
      (await oraclePerCost({ knowledge })(seen([], more), { seed: 0 })).action
    // Listening to the chest tells most: worth it for one money unit in 300, not for the half of all there is.
    expect(await first({})).toMatchObject({ kind: 'order', exam: 'chest auscultation' })
    expect((await first({ budget: { money: 20, minutes: 2880 } })).kind).toBe('ask')
    expect((await first({ budget: { money: 300, minutes: 10 } })).kind).toBe('ask')
  })
})
