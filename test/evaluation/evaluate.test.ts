import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agent.js'
import { Fault } from '../../src/error.js'
import { evaluate } from '../../src/evaluation/evaluate.js'
import { type PlayedCase, repeatOf } from '../../src/evaluation/play-cases.js'
import { task } from '../../src/tasks/task.js'
import { document } from '../cli/terminal.js'

const count = 12
const seed = 3
const whole = await task({ heldOut: count, seed })
const { heldOut, floor, ceiling, agents } = whole
const giveUp: Agent = () => ({ action: { kind: 'give-up' } })

describe('evaluate', () => {
  test.each(['checklist', 'full-information'])(
    'gives of %s what `bedside evaluate --json` prints, to the byte',
    async (agentName) => {
      const agent = agents[agentName]?.() ?? giveUp
      const evaluation = await evaluate(whole, agent, { agentName, seed, concurrency: 3 })
      const flags = ['--agent', agentName, '--cases', `${count}`, '--seed', `${seed}`]
      const printed = await document(['evaluate', ...flags])
      const { timing, ...report } = printed as { readonly timing: object }
      expect(timing).toBeDefined()
      expect(JSON.stringify(evaluation)).toBe(JSON.stringify(report))
    },
  )

  test('refuses a seed beyond 32 bits, which would play as another', async () => {
    await expect(evaluate(whole, giveUp, { seed: 2 ** 32 })).rejects.toThrow(
      new RangeError('Expected `seed` to be an integer from 0 to 4294967295, got `4294967296`'),
    )
  })

  test('needs no options: held-out cases, seed 0, with references', async () => {
    const evaluation = await evaluate(whole, floor)
    const { agent, split, cases } = evaluation
    expect({ agent, split, seed: evaluation.seed, cases }).toEqual({
      ...{ agent: 'agent', split: 'heldout', seed: 0, cases: count },
    })
    expect(evaluation.normalised).toEqual({ accuracy: 0, reward: 0 })
    expect(evaluation.accuracy).toEqual({
      mean: evaluation.floor.accuracy,
      ci95: evaluation.floor.ci95.accuracy,
    })
  })

  test('gives every reference the same cases, and tells of the agent only', async () => {
    const cases = whole.train(4)
    const seen: string[] = []
    const evaluation = await evaluate(whole, ceiling.agent, {
      ...{ cases, split: 'train', onPlayed: ({ truth }) => seen.push(truth.id) },
    })
    expect(seen.sort()).toEqual(cases.map(({ id }) => id).sort())
    expect(evaluation).toMatchObject({ split: 'train', cases: 4, regret: { accuracy: 0 } })
    expect(evaluation.ceiling).toMatchObject({
      accuracy: evaluation.accuracy.mean,
      ci95: { accuracy: evaluation.accuracy.ci95, reward: evaluation.reward.ci95 },
    })
  })

  test('without references plays the agent alone: what is set against them is null', async () => {
    let envs = 0
    const makeEnv = () => {
      envs += 1
      return whole.makeEnv()
    }
    const { reward, ...evaluation } = await evaluate({ ...whole, makeEnv }, giveUp, {
      references: false,
    })
    expect(envs).toBe(heldOut.length)
    const none = { accuracy: null, reward: null }
    expect(evaluation).toMatchObject({
      ...{ floor: { ...none, ci95: none }, ceiling: { ...none, ci95: none } },
      ...{ regret: none, normalised: none, bound: { accuracy: null } },
      accuracy: { mean: 0, ci95: [0, expect.closeTo(1 - count / (count + 3.8415), 4)] },
      questionEfficiency: { mean: null, ci95: null },
      usage: {},
    })
    expect(reward.mean).toBe(0)
  })

  test("leaves out a case whose world failed, and counts it; an abort is the caller's", async () => {
    const [first] = heldOut
    const agent: Agent = ({ intake }, { signal }) => {
      signal?.throwIfAborted()
      if (JSON.stringify(intake) === JSON.stringify(sick)) throw new Fault('model-unavailable', '')
      return { action: { kind: 'give-up' } }
    }
    const start = await whole.makeEnv().reset({ options: { case: first } })
    const sick = start.observation.intake
    const evaluation = await evaluate(whole, agent, { references: false })
    expect(evaluation).toMatchObject({ cases: count, episodes: count - 1, unavailable: 1 })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(evaluate(whole, agent, { signal })).rejects.toThrow('enough')
  })

  test('repeats meet the same patients with other draws; the first is as without them', async () => {
    const cases = heldOut.slice(0, 4)
    const met: PlayedCase[] = []
    const repeats = 3
    const options = { cases, seed, references: false }
    const evaluation = await evaluate(whole, floor, {
      ...{ ...options, repeats, onPlayed: (one) => met.push(one) },
    })
    const once: PlayedCase[] = []
    await evaluate(whole, floor, { ...options, onPlayed: (one) => once.push(one) })
    const first = met.filter(({ repeat = 0 }) => repeat === 0)
    const byCase = (all: readonly PlayedCase[]) =>
      JSON.stringify([...all].sort((a, b) => a.truth.id.localeCompare(b.truth.id)))
    expect(byCase(first)).toBe(byCase(once))
    for (const { id } of cases) {
      const own = met.flatMap(({ truth, episode }) => (truth.id === id && episode ? episode : []))
      expect(new Set(own.map((episode) => episode.seed)).size).toBe(1)
      expect(new Set(own.map((episode) => JSON.stringify(episode.turns))).size).toBe(repeats)
      expect(own.map((episode) => repeatOf(episode, seed)).sort()).toEqual([0, 1, 2])
    }
    expect(evaluation).toMatchObject({ cases: 4, episodes: 12, repeats })
    expect(Object.keys(evaluation.passAt ?? {})).toEqual(['1', '2', '3'])
    expect(evaluation.passAt?.[1]?.mean).toBeCloseTo(evaluation.accuracy.mean ?? Number.NaN, 12)
  })
})
