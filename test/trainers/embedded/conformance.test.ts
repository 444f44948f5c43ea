import { describe, expect, test } from 'vitest'
import { bandit } from '../../../examples/04-own-backend.js'
import type { Agent } from '../../../src/agent.js'
import { scripted } from '../../../src/agents/scripted.js'
import type { Backend } from '../../../src/backend.js'
import { actionSpace } from '../../../src/knowledge/action-space.js'
import { backendChecks } from '../../../src/testing/backend.js'
import { runChecks } from '../../../src/testing/check.js'
import { drGrpoAdvantages } from '../../../src/trainers/advantages/per-group.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { bare, testAll } from '../../testing/run-checks.js'
import { batchWith, consult, right, words } from './play.js'

const toBatch = batchWith(0.1)

const doctors: readonly Agent[] = ['Influenza', 'Angina'].map((diagnosis) =>
  scripted([{ kind: 'diagnose', diagnosis }]),
)

const backends: Record<string, readonly [() => Backend, () => Backend, readonly string[]]> = {
  embedded: [
    () => embedded({ actionSpace: words }),
    () => embedded({ actionSpace: actionSpace('en', words.actions.slice(1)) }),
    [],
  ],
  'the bandit of the examples': [
    () => bandit(doctors),
    () => bandit([...doctors, ...doctors]),
    bare,
  ],
}

describe.each(Object.entries(backends))('%s', (_, [open, openOther, reasons]) => {
  const checks = backendChecks(async () => open(), {
    play: (agent, n) => consult(agent, n, n),
    toBatch,
    openOther: async () => openOther(),
  })
  testAll(checks, reasons)
})

describe('an embedded backend is found out that', () => {
  const only = (what: string, check: string, change: (inner: Backend) => Partial<Backend>) =>
    test(what, async () => {
      const open = async () => {
        const inner = embedded({ actionSpace: words })
        const other = change(inner)
        return new Proxy(inner, {
          get: (_, name) => Reflect.get(Object.hasOwn(other, name) ? other : inner, name),
        })
      }
      const play = (agent: Agent, n: number) => consult(agent, n, n)
      const { failures } = await runChecks(backendChecks(open, { play, toBatch }))
      expect(failures.map(({ check: name }) => name)).toEqual([check])
    })

  only('has log-probs of its replies', 'log-probs are 0 where masked', (inner) => ({
    logprobs: async (segments, options) =>
      ((await inner.logprobs?.(segments, options)) ?? []).map((row, s) =>
        // Only where a reply was masked from the start: of single moves there is none.
        segments[s]?.mask[0] === 0 ? row.map((value) => value || -1) : row,
      ),
  }))
  only('has values of its replies', 'values are finite, and 0 where masked', (inner) => ({
    values: async (segments) =>
      ((await inner.values?.(segments)) ?? []).map((row, s) =>
        segments[s]?.mask[0] === 0 ? row.map((value) => value || 0.5) : row,
      ),
  }))
  only('teaches but the first move', 'what is demonstrated becomes likelier', (inner) => ({
    step: (batch) =>
      inner.step(
        batch.loss.kind === 'cross-entropy' && batch.segments[0]?.logprobs.every((p) => p === 0)
          ? {
              ...batch,
              segments: batch.segments.map((one) => ({
                ...one,
                advantages: one.advantages.map((a, t) => (t > 0 ? -a : a)),
              })),
            }
          : batch,
      ),
  }))
})

test('the bandit learns to send the doctor who is right', async () => {
  const backend = bandit(doctors)
  const play = (agent: Agent, seed: number) => consult(agent, 0, seed)
  for (let step = 0; step < 40; step++) {
    const agent = backend.sampler()
    const group = await Promise.all([0, 1, 2, 3, 4, 5].map((m) => play(agent, step * 10 + m)))
    const advantages = drGrpoAdvantages()(group.map(right))
    if (advantages.every((a) => a === 0)) continue
    const batch = toBatch(group, advantages, backend.policyVersion)
    await backend.step({ ...batch, adam: { learningRate: 2 } })
  }
  const sent = await Promise.all(
    Array.from({ length: 50 }, (_, seed) => play(backend.sampler(), seed)),
  )
  expect(sent.filter((episode) => right(episode) === 1).length).toBeGreaterThan(45)
})
