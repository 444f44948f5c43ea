import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AdvantageName, estimateAcrossGroups, formGroup } from '../../../src/group.js'
import {
  baselineOf,
  groupEstimator,
  namedAdvantages,
} from '../../../src/trainers/advantages/method.js'
import { drawnTurn } from '../../fixtures/draws.js'
import { diagnose, episodeOf } from '../../fixtures/reward-episodes.js'
import { testServer } from '../client.js'

type Rollout = {
  total: number | null
  parts?: Record<string, number>
  tokens?: number
  truncated?: boolean
}

const path = '/v1/advantages'

/** An episode of a case that drew so many tokens. */
function played(group: number, member: number, { tokens = 1, truncated = false }: Rollout) {
  const drawn = Array.from({ length: tokens }, (_, t) => t)
  const turn = drawnTurn(diagnose('Influenza'), {
    prompt: [1],
    tokens: drawn,
    logprobs: drawn.map(() => -1),
    policyVersion: 0,
    temperature: 1,
    logprobMode: 'scaled',
    stopReason: truncated ? 'length' : 'stop',
  })
  return episodeOf([turn], { id: `${group}/${member}`, seed: group })
}

/** What our own training makes of the same rollouts. */
function expected(name: AdvantageName, groups: readonly (readonly Rollout[])[]) {
  const method = namedAdvantages(name)
  const formed = groups.map((rollouts, g) =>
    formGroup(
      String(g),
      rollouts.map((one, i) => played(g, i, one)),
      rollouts.map(({ total, parts = {} }) => ({
        total,
        parts: Object.fromEntries(
          Object.entries(parts).map(([part, value]) => [part, { status: 'ok' as const, value }]),
        ),
      })),
      groupEstimator(method),
      { baseline: baselineOf(method), truncated: 'drop' },
    ),
  )
  const done = method.per === 'batch' ? estimateAcrossGroups(formed, method.estimate) : formed
  return done.map(({ advantages, standings }) =>
    advantages.map((value, i) => (standings[i] === 'out' ? null : value + 0)),
  )
}

const number = fc.double({ min: -4, max: 4, noNaN: true }).map((x) => Math.round(x * 64) / 64 + 0)
const rollouts = fc.record({
  total: fc.option(number, { nil: null, freq: 6 }),
  parts: fc.record({ right: number, manner: number }),
  tokens: fc.integer({ min: 1, max: 40 }),
  truncated: fc.boolean(),
})
const batches = fc.array(fc.array(rollouts, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 5,
})

describe('advantages over HTTP', () => {
  test.each([
    'grpo',
    'dr-grpo',
    'rloo',
    'reinforce-plus-plus',
    'reinforce-plus-plus-baseline',
    'lite-ppo',
    'gdpo',
  ] as const)('are those of our own training, for groups of any shape: %s', async (name) => {
    const { request } = await testServer()
    await fc.assert(
      fc.asyncProperty(batches, async (groups) => {
        const method = { name, truncated: 'drop' }
        const { status, body } = await request('POST', path, { method, groups })
        expect(status).toBe(200)
        expect(body.advantages).toEqual(expected(name, groups))
      }),
      { numRuns: 30 },
    )
  })

  test('leave out what has no score, and say which groups learn', async () => {
    const { request } = await testServer()
    const groups = [
      [{ total: 1 }, { total: 0 }, { total: null }],
      [{ total: 0.5 }, { total: 0.5 }],
      [{ total: 1 }],
      [{ total: 1 }, { total: null }],
    ]
    const { body } = await request('POST', path, { method: { name: 'dr-grpo' }, groups })
    expect(body).toEqual({
      advantages: [[0.5, -0.5, null], [0, 0], [0], [0, null]],
      status: ['learns', 'zero-variance', 'singleton', 'singleton'],
    })
    const strict = { method: { name: 'dr-grpo', min_scored: 3 }, groups }
    expect((await request('POST', path, strict)).body.status[0]).toBe('too-few-scored')
  })

  test.each([
    [{ method: { name: 'gpro' }, groups: [[{ total: 1 }]] }, 'method.name'],
    [{ method: { name: 'remax' }, groups: [[{ total: 1 }]] }, 'method.name'],
    [{ method: { name: 'grpo' }, groups: [] }, 'groups'],
    [{ method: { name: 'grpo' }, groups: [[]] }, 'groups.0'],
    [{ method: { name: 'grpo' }, groups: [[{ total: '1' }]] }, 'groups.0.0.total'],
    [{ method: { name: 'grpo', minScored: 2 }, groups: [[{ total: 1 }]] }, 'method.minScored'],
  ])('refuse %j by name', async (sent, says) => {
    const { request, failures } = await testServer()
    const { status, body } = await request('POST', path, sent)
    expect(status).toBe(400)
    expect(body.error.message).toContain(says)
    expect(failures).toEqual([])
  })

  test('need the token of the server', async () => {
    const { request } = await testServer()
    expect((await request('POST', path, {}, {})).status).toBe(401)
  })
})
