import { describe, expect, test } from 'vitest'
import { spoken } from '../../../src/agents/grammars/spoken.js'
import { caseSource } from '../../../src/cases/generator/generate.js'
import { make } from '../../../src/index.js'
import { clinic } from '../../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { questions, testServer, token } from '../client.js'

describe('the plain dialect', () => {
  test('plays a consultation as an env of make() does, with the same score', async () => {
    const { request } = await testServer()
    const opened = await request('POST', '/v1/sessions', { tier: 'standard', seed: 7 })
    expect(opened.status).toBe(201)
    const { session, observation } = opened.body
    expect(observation).toMatchObject({ outcome: 'opening', done: false, language: 'en' })
    expect(observation.prompt.at(-1).content).toBe(observation.message)
    const env = make('consultation', { tier: 'standard', grammar: spoken() })
    await env.reset({ seed: 7 })
    for (const [index, message] of [...questions, 'Order: ECG'].entries()) {
      const { body } = await request('POST', `/v1/sessions/${session}/steps`, {
        action: { message },
        index,
      })
      const step = await env.step(message)
      const said = step.observation.turns.at(-1)?.outcome
      expect(said && 'text' in said && body.observation.message.includes(said.text)).toBe(true)
      expect(body.observation.money_spent).toBe(step.observation.spent.money)
      expect(body).toMatchObject({ index: index + 1, reward: null })
    }
    const end = await request('POST', `/v1/sessions/${session}/steps`, {
      action: { message: '', diagnosis: 'pneumonia', recommendation: 'rest' },
    })
    const last = await env.step({
      kind: 'diagnose',
      diagnosis: 'pneumonia',
      recommendation: 'rest',
    })
    expect(end.body.observation).toMatchObject({ done: true, terminated: true, stop: 'diagnosed' })
    expect(end.body.observation.score).toEqual(last.info.score)
    expect(end.body.reward).toBe(last.reward)
    const late = await request('POST', `/v1/sessions/${session}/steps`, {
      action: { message: 'And now?' },
    })
    expect([late.status, late.body.error.message]).toEqual([
      409,
      'This consultation is over: open another, or reset',
    ])
  })

  test('opens a case by its id, generated or of a file', async () => {
    const knowledge = loadKnowledge()
    const groups = { tier: 'hard', split: 'heldout', seed: 3 } as const
    const truth = caseSource(clinic(knowledge, ['bowel', 'headache']), groups)(5)
    const { request } = await testServer()
    const listed = await request('POST', '/v1/sessions', {
      ...{ tier: 'hard', split: 'heldout', case_seed: 3, index: 5, clinic: ['headache', 'bowel'] },
      seed: 2,
    })
    const named = { case_id: truth.id, seed: 2 }
    const { status, body } = await request('POST', '/v1/sessions', { ...named, index: 0 })
    expect(status).toBe(201)
    expect(body.observation).toEqual(listed.body.observation)
    const cases = { train: [caseSource(knowledge)(1)], heldout: [{ ...truth, id: 'mine' }] }
    const file = await testServer({ cases })
    const held = await file.request('POST', '/v1/sessions', {
      ...{ ...named, case_id: 'mine', tier: 'hard' },
    })
    expect(held.body.observation.message).toBe(body.observation.message)
    for (const one of [request, file.request]) {
      const refused = await one('POST', '/v1/sessions', { case_id: 'nobody' })
      expect(refused.status).toBe(400)
      expect(refused.body.error.message).toContain('`case_id`')
      expect(refused.body.error.message).toContain('got `nobody`')
    }
  })

  test('answers a step that is sent again as before, and refuses another in its place', async () => {
    const { request } = await testServer()
    const { body } = await request('POST', '/v1/sessions', { seed: 1 })
    const path = `/v1/sessions/${body.session}/steps`
    const first = await request('POST', path, { action: { message: questions[0] }, index: 0 })
    const again = await request('POST', path, { action: { message: questions[0] }, index: 0 })
    expect(again).toEqual(first)
    const other = await request('POST', path, { action: { message: 'Other?' }, index: 0 })
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  })

  test('goes on with a session at another server, from its options and actions', async () => {
    const [one, other] = [await testServer(), await testServer()]
    const { body } = await one.request('POST', '/v1/sessions', { seed: 5 })
    const path = `/v1/sessions/${body.session}`
    for (const message of questions.slice(0, 2))
      await one.request('POST', `${path}/steps`, { action: { message } })
    const { options, actions, observation } = (await one.request('GET', path)).body
    expect((await other.request('GET', path)).body.error).toMatchObject({
      code: 'session-gone',
      message: expect.stringContaining('actions'),
    })
    const resumed = await other.request('POST', '/v1/sessions', { ...options, actions })
    expect(resumed.body).toMatchObject({ index: 2, observation })
  })

  test.each([
    [{ teir: 'easy' }, 'did you mean tier?'],
    [{ tier: 'easiest' }, 'tier'],
    [{ seed: -1 }, 'seed'],
    [{ seed: 2 ** 32 }, 'seed'],
    [{ reward: './mine.mjs' }, 'a client cannot name a file'],
    [
      { reward: 'defualt' },
      'reward: expected the name of a reward, got `defualt`; did you mean `default`?',
    ],
    [{ persona: 'angry' }, 'persona'],
    [{ clinic: ['nowhere'] }, 'clinic'],
    ['{"seed": NaN}', 'JSON'],
    ['{"seed": 1', 'JSON'],
    [[], 'options'],
  ])('refuses %j by name', async (options, says) => {
    const { request, failures } = await testServer()
    const { status, body } = await request('POST', '/v1/sessions', options)
    expect(status).toBe(400)
    expect(body.error.message).toContain(says)
    expect(JSON.stringify(body)).not.toMatch(/\bat .*:\d+:\d+|node_modules/)
    expect(failures).toEqual([])
  })

  test('refuses what is too large, unknown or another client’s', async () => {
    const { request, server } = await testServer({ longestBody: 1000 })
    expect((await request('POST', '/v1/sessions', { persona: 'x'.repeat(2000) })).status).toBe(413)
    expect((await request('GET', '/v1/nowhere')).status).toBe(404)
    expect((await request('GET', '/v1/sessions/../x')).status).toBe(404)
    expect((await request('POST', '/v1/sessions', {}, {})).status).toBe(401)
    expect((await request('POST', '/v1/sessions', {}, { 'x-api-key': 'wrong' })).status).toBe(401)
    expect((await request('POST', '/v1/sessions', {}, { 'x-api-key': token })).status).toBe(201)
    expect((await request('GET', `/t/${token}/v1/splits`, undefined, {})).status).toBe(200)
    expect((await request('GET', '/t/wrong/v1/splits', undefined, {})).status).toBe(401)
    expect((await request('GET', '/healthz', undefined, {})).body).toMatchObject({ open: 1 })
    expect(server.service.sessions.counts.open).toBe(1)
  })

  test('serves clients of its own series of releases, and those that name none', async () => {
    const { request } = await testServer({ version: '0.3.1' })
    const ask = (version: string) =>
      request('POST', '/v1/sessions', {}, { 'x-api-key': token, 'x-bedside-version': version })
    expect((await request('POST', '/v1/sessions', {})).status).toBe(201)
    expect((await ask('0.3.9')).status).toBe(201)
    for (const other of ['0.4.0', '1.3.1', 'nonsense', '']) {
      const { status, body } = await ask(other)
      expect([status, body.error.code, body.error.server]).toEqual([426, 'version', '0.3.1'])
      expect(body.error.message).toContain(`got \`${other}\``)
    }
  })

  test('names what is unknown by what is known at its place', async () => {
    const { request } = await testServer()
    const { body } = await request('POST', '/v1/sessions', {
      actions: [{ message: '', diagnosis: 'x', differential: [{ diagnosi: 'y' }], massage: 'z' }],
    })
    expect(body.error.message).toContain('actions.0.differential.0.diagnosi: unknown; did you mean')
    expect(body.error.message).toContain('actions.0.massage: unknown; did you mean message?')
    expect(body.error.fields).toHaveLength(3)
  })

  test('ends a session once', async () => {
    const { request, server } = await testServer()
    const { body } = await request('POST', '/v1/sessions', {})
    expect((await request('DELETE', `/v1/sessions/${body.session}`)).status).toBe(204)
    expect((await request('DELETE', `/v1/sessions/${body.session}`)).status).toBe(410)
    expect(server.service.sessions.counts.open).toBe(0)
  })

  test('describes its routes and counts', async () => {
    const { request } = await testServer()
    const { body } = await request('GET', '/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    for (const path of Object.keys(body.paths)) expect(path).toMatch(/^\/v1\//)
    // biome-ignore lint/suspicious/noExplicitAny: outside JSON
    const names = Object.values<any>(body.paths).flatMap((path) =>
      Object.values<{ operationId: string }>(path).map(({ operationId }) => operationId),
    )
    expect(names).toContain('takeStep')
    expect(new Set(names).size).toBe(names.length)
    for (const path of ['/v1/splits', '/v1/tools'])
      expect((await request('GET', path)).status).toBe(200)
    await request('POST', '/v1/sessions', {})
    const metrics = (await request('GET', '/metrics')).body
    expect(metrics).toContain('bedside_sessions_open 1')
  })
})
