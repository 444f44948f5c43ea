import { describe, expect, test } from 'vitest'
import type { Agent, Move } from '../../src/agent.js'
import type { Observation } from '../../src/env.js'
import type { Sample } from '../../src/episode.js'
import { uniformInt } from '../../src/seed.js'
import type { AgentMaterial } from '../../src/testing/agent.js'
import { agentChecks } from '../../src/testing/agent.js'
import { runChecks } from '../../src/testing/check.js'
import { tinyActions, tinyEnv, tinyQuestions } from '../fixtures/tiny.js'

const observations: Observation[] = []
for (const seed of [0, 3]) {
  const env = tinyEnv()
  observations.push((await env.reset({ seed })).observation)
  for (const action of tinyActions.slice(0, 2))
    observations.push((await env.step(action)).observation)
}

const material: AgentMaterial = { observations }

const failing = async (agent: Agent, more: Partial<AgentMaterial> = {}) =>
  (await runChecks(agentChecks(agent, { ...material, ...more }))).failures.map(({ check }) => check)

const ask = (text: string): Move => ({ action: { kind: 'ask', text } })

/** Asks at random, and diagnoses on its last turn. */
const asker: Agent = ({ turns, turnsLeft }, { seed }) =>
  turnsLeft > 1
    ? ask(tinyQuestions[uniformInt(tinyQuestions.length, seed, turns.length)] ?? '')
    : { action: { kind: 'diagnose', diagnosis: 'Pneumonia' } }

const sample: Sample = {
  prompt: [3, 4],
  tokens: [1, 2],
  logprobs: [-0.1, -2],
  policyVersion: 0,
  temperature: 1,
  logprobMode: 'scaled',
  stopReason: 'stop',
}
const drawing =
  (change: Partial<Sample>): Agent =>
  async (observation, context) => ({
    ...(await asker(observation, context)),
    sample: { ...sample, ...change },
  })

describe('an asking agent keeps the agent contract', () => {
  for (const { name, run } of agentChecks(asker, material)) test(name, run)
})

test('an agent with samples keeps the agent contract', async () => {
  expect(await failing(drawing({}))).toEqual([])
})

describe('exactly the broken promise is reported when an agent', () => {
  const only = (what: string, check: string, agent: Agent) =>
    test(what, async () => expect(await failing(agent)).toEqual([check]))

  // Not of the union: what an agent in JavaScript may send.
  const strange =
    (action: object): Agent =>
    async (observation, context) =>
      observation.turnsLeft > 1
        ? ({ action } as unknown as Move)
        : await asker(observation, context)

  only('shrugs', 'every move is a known action with its fields', strange({ kind: 'shrug' }))
  only(
    'diagnoses nothing in particular',
    'every move is a known action with its fields',
    strange({ kind: 'diagnose' }),
  )
  for (const [what, beside] of [
    ['is sure by more than 1', { confidence: 1.2 }],
    ['has no number for a confidence', { confidence: '80%' }],
    ['considers a disease without a name', { differential: [{ p: 0.2 }] }],
    ['considers a disease less than never', { differential: [{ diagnosis: 'flu', p: -0.2 }] }],
    ['triages beyond the scale', { triage: 6 }],
  ] as const)
    only(
      what,
      'every move is a known action with its fields',
      strange({ kind: 'diagnose', diagnosis: 'flu', ...beside }),
    )
  only(
    'takes a kind from the prototype',
    'every move is a known action with its fields',
    strange({ kind: 'constructor' }),
  )

  let seen = ''
  let before = ''
  only(
    'answers the observation before this one',
    'what it saw before does not matter',
    (observation) => {
      const now = JSON.stringify(observation)
      if (now !== seen) before = seen
      seen = now
      return observation.turnsLeft > 1 ? ask(before) : ask('so?')
    },
  )

  only('writes into the observation', 'the observation is only read', (observation, context) => {
    // Mutable on purpose: readonly is a promise of the compiler only.
    ;(observation.spent as { money: number }).money = 0
    return asker(observation, context)
  })

  only('has nothing left on its last turn', 'it acts on its last turn', ({ turnsLeft }) => {
    if (turnsLeft === 1) throw new Error('too late')
    return ask('Anything else?')
  })

  for (const [what, change] of [
    ['carries a log-prob above 0', { logprobs: [-1, 0.2] }],
    ['carries an infinite log-prob', { logprobs: [-1, Number.NEGATIVE_INFINITY] }],
    ['carries a log-prob too few', { logprobs: [-1] }],
    ['carries no tokens', { tokens: [], logprobs: [] }],
    ['carries no prompt', { prompt: [] }],
    ['carries a token that is no id', { tokens: [1, 1.5] }],
  ] as const)
    only(what, 'a sample it carries can be trained on', drawing(change))
})

test('an agent that draws from a shared stream fails both checks of sameness', async () => {
  let drawn = 0
  expect(await failing(() => ask(`question ${drawn++}`))).toEqual([
    'the same observation and seed give the same move',
    'what it saw before does not matter',
  ])
})

test('an agent with a model behind it is not held to sameness', async () => {
  let drawn = 0
  expect(await failing(() => ask(`question ${drawn++}`), { deterministic: false })).toEqual([])
})

test('no observations fail instead of passing in silence', async () => {
  const report = await runChecks(agentChecks(asker, { observations: [] }))
  expect(report.passed).toEqual([])
})
