import { describe, expect, test } from 'vitest'
import { complaintOnly } from '../../src/agents/at-once.js'
import { askAll, orderAll, positiveChaser, randomAsk } from '../../src/agents/listeners.js'
import { oracle } from '../../src/agents/oracle.js'
import type { Episode } from '../../src/episode.js'
import { getPosterior } from '../../src/inference/posterior.js'
import { tiers } from '../../src/knowledge/tiers.js'
import { consult, question, seen } from '../fixtures/consulting.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const options = { knowledge, ...tiers.standard }
const playing = { knowledge, tier: 'standard', count: 200, maxTurns: 6 } as const
const context = { seed: 5 }

const said = ({ turns }: Episode, kind: 'ask' | 'order'): string[] =>
  turns.flatMap(({ action }) =>
    action.kind === kind ? [action.kind === 'ask' ? action.text : action.exam] : [],
  )

describe('a doctor that asks without thinking', () => {
  test('does better than one that does not ask, and worse than the oracle', async () => {
    const nothing = await consult(complaintOnly(options), playing)
    const random = await consult(randomAsk(options), playing)
    const best = await consult(oracle({ ...options, questionsOnly: true }), playing)
    expect(random.accuracy).toBeGreaterThan(nothing.accuracy + 0.02)
    expect(best.accuracy).toBeGreaterThan(random.accuracy + 0.05)
  })

  test('asks different patients different things, the same for the same seed, until one turn is left', async () => {
    const { episodes } = await consult(randomAsk(options), playing)
    for (const episode of episodes) {
      expect(said(episode, 'ask')).toHaveLength(5)
      expect(said(episode, 'order')).toHaveLength(0)
    }
    expect(new Set(episodes.map((episode) => said(episode, 'ask')[0])).size).toBeGreaterThan(8)
    const agent = randomAsk(options)
    expect(agent(seen([]), context)).toEqual(agent(seen([]), context))
  })
})

describe('the positive chaser', () => {
  test('asks for what is most probably there', async () => {
    const posterior = getPosterior(knowledge, tiers.standard)
    const belief = posterior.start({ age: 30, sex: 'F', complaint: ['cough'] })
    const patient = knowledge.findings.filter(({ knownBy }) => knownBy === 'patient')
    const likely = patient
      .map(({ id }) => ({ id, p: posterior.presenceProbability(belief, id) }))
      .sort((a, b) => b.p - a.p)
    const { action } = await positiveChaser(options)(seen([]), context)
    expect(action).toEqual(question(knowledge, likely[0]!.id))
  })
})

describe('a doctor that asks everybody the same', () => {
  test('asks in one order, what is most often there first', async () => {
    const { episodes } = await consult(askAll(options), playing)
    const orders = new Set(
      episodes
        // What was told already, or put off, changes the rest.
        .filter(({ turns }) => turns.every(({ facts }) => facts.understood !== 'unclear'))
        .map((episode) => said(episode, 'ask').join('\n')),
    )
    expect(orders.size).toBeLessThan(5)
    const posterior = getPosterior(knowledge, tiers.standard)
    const anybody = posterior.start({})
    const byText = new Map(knowledge.findings.map(({ id, ask }) => [ask.en[0], id] as const))
    const often = said(episodes[0]!, 'ask').map((text) =>
      posterior.presenceProbability(anybody, byText.get(text) ?? ''),
    )
    expect(often).toEqual([...often].sort((a, b) => b - a))
  })
})

describe('a doctor that orders everything', () => {
  test('asks nothing, and begins with the cheapest it can pay for', async () => {
    const { episodes } = await consult(orderAll(options), playing)
    const price = new Map(knowledge.exams.map(({ name, cost }) => [name.en, cost] as const))
    for (const episode of episodes) {
      expect(said(episode, 'ask')).toHaveLength(0)
      const prices = said(episode, 'order').map((name) => price.get(name) ?? -1)
      expect(prices).toEqual([...prices].sort((a, b) => a - b))
      expect(prices.length).toBeGreaterThan(2)
      expect(episode.stop).toBe('diagnosed')
    }
  })

  test('orders nothing that it cannot pay for, and then names what it thinks', async () => {
    const poor = seen([], { budget: { money: 5, minutes: 2880 } })
    expect((await orderAll(options)(poor, context)).action.kind).toBe('diagnose')
  })
})
