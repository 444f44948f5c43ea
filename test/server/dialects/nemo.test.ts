import { describe, expect, test } from 'vitest'
import { questions, testServer, token } from '../client.js'

const [question = '', other = ''] = questions
const params = { input: [{ role: 'user', content: 'Begin.' }] }
const said = (text: string) => ({
  output: [
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
  ],
})
const called = (...calls: readonly (readonly [string, unknown])[]) => ({
  output: calls.map(([name, input], n) => ({
    ...{ type: 'function_call', name, call_id: `c${n}`, arguments: JSON.stringify(input) },
  })),
})

/** A client that keeps its cookie, as NeMo Gym's agent does. */
async function nemoClient(options?: object, params_: object = params) {
  const tested = await testServer()
  let cookie = ''
  const post = async (path: string, body: object) => {
    const response = await fetch(`${tested.server.address}/t/${token}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie
    // biome-ignore lint/suspicious/noExplicitAny: outside JSON
    const answered: any = await response.json()
    return { status: response.status, body: answered }
  }
  const reset = await post('/reset', {
    responses_create_params: params_,
    agent_ref: { name: 'a' },
    ...(options && { consultation: options }),
  })
  const step = (response: object, id?: string) =>
    post('/step', {
      responses_create_params: params_,
      response,
      ...(id && { _ng_step_request_id: id }),
    })
  return { ...tested, post, reset, step }
}

describe('the wire of NeMo Gym', () => {
  test('plays a consultation: reset, steps of text, close', async () => {
    const { reset, step, post, request, server } = await nemoClient({ seed: 7, tier: 'standard' })
    expect(reset.body.info).toMatchObject({
      supports_explicit_close: true,
      supports_step_idempotency: true,
    })
    const plain = await request('POST', '/v1/sessions', { seed: 7, tier: 'standard' })
    const { prompt } = plain.body.observation
    expect(reset.body.observation).toBe(`${prompt[0].content}\n\n${prompt[1].content}`)
    const asked = await step(said(question), 'r1')
    const same = await request('POST', `/v1/sessions/${plain.body.session}/steps`, {
      action: { message: question },
    })
    expect(asked.body).toMatchObject({
      observation: same.body.observation.message,
      ...{ reward: 0, terminated: false, truncated: false },
    })
    const end = await step(said('Diagnosis: influenza'), 'r2')
    const last = await request('POST', `/v1/sessions/${plain.body.session}/steps`, {
      action: { message: 'Diagnosis: influenza' },
    })
    expect(end.body).toMatchObject({
      ...{ observation: null, reward: last.body.reward, terminated: true, truncated: false },
      info: { stop: 'diagnosed', score: last.body.observation.score },
    })
    expect((await step(said('Diagnosis: influenza'), 'r2')).body).toEqual(end.body)
    expect((await step(said(question), 'r3')).status).toBe(409)
    expect((await post('/close', {})).status).toBe(200)
    expect((await step(said(question), 'r4')).status).toBe(410)
    expect(server.service.sessions.counts.open).toBe(1)
  })

  test('takes a step once, however often it is sent', async () => {
    const { step } = await nemoClient()
    const all = await Promise.all([1, 2, 3].map(() => step(said(question), 'same')))
    expect(all[1]).toEqual(all[0])
    expect(all[2]).toEqual(all[0])
    expect((await step(said(other), 'same')).status).toBe(409)
    const next = await step(said(other), 'next')
    expect(next.body.info.turns_left).toBe(all[0]?.body.info.turns_left - 1)
  })

  test('takes tool calls, and tells a call that is none what was expected', async () => {
    const tools = [{ type: 'function', name: 'ask_patient' }]
    const { reset, step } = await nemoClient({ seed: 2 }, { ...params, tools })
    expect(reset.body.observation).toContain('ask_patient')
    const { body } = await step(
      called(['ask_patient', { question }], ['sing', {}], ['order_exam', { exam: 'ECG' }]),
      'r1',
    )
    const { tool_outputs } = body.info
    expect(tool_outputs.map(({ call_id }: { call_id: string }) => call_id)).toEqual([
      ...['c0', 'c1', 'c2'],
    ])
    expect(tool_outputs[1].output).toContain('ask_patient, order_exam, diagnose')
    expect(body.observation).toBeNull()
    const end = await step(called(['diagnose', { diagnosis: 'influenza' }], ['sing', {}]), 'r2')
    expect(end.body.terminated).toBe(true)
    expect(end.body.info.tool_outputs).toHaveLength(1)
  })

  test('gives the intake alone to a row that has rules of its own', async () => {
    const system = { role: 'system', content: 'Be a doctor.' }
    const { reset } = await nemoClient({ seed: 2 }, { input: [system] })
    expect(reset.body.observation).toMatch(/^Patient: /)
  })

  test('ends the session of an agent that names no requests with the consultation', async () => {
    const { step, server } = await nemoClient()
    await step(said('Diagnosis: influenza'))
    expect(server.service.sessions.counts.open).toBe(0)
  })

  test('says that a score is not known, instead of 0', async () => {
    const { step, server } = await nemoClient()
    const { sessions } = server.service
    const { find } = sessions
    sessions.find = (id) => {
      const found = find(id)
      const unknown = async (...given: Parameters<typeof found.step>) => ({
        ...(await found.step(...given)),
        reward: null,
      })
      return new Proxy(found, {
        get: (of, key) => (key === 'step' ? unknown : Reflect.get(of, key)),
      })
    }
    const { status, body } = await step(said('Diagnosis: influenza'))
    expect(status).toBe(502)
    expect(body.error.message).toContain('not known')
  })

  test.each([
    [{ seed: 3 }, 'in its own field'],
    [{ consultation: { sead: 3 } }, 'did you mean seed?'],
    [{ responses_create_params: 3 }, 'responses_create_params'],
  ])('refuses the row %j by name', async (beside, says) => {
    const { request, failures } = await testServer()
    const { status, body } = await request('POST', '/reset', {
      responses_create_params: params,
      ...beside,
    })
    expect(status).toBe(400)
    expect(body.error.message).toContain(says)
    expect(failures).toEqual([])
  })

  test('refuses a step without a cookie, and a response that is none', async () => {
    const { request } = await testServer()
    const body = { responses_create_params: params, response: said('x') }
    expect((await request('POST', '/step', body)).body.error.message).toContain('cookie')
    const { step } = await nemoClient()
    expect((await step({ output: 'x' })).status).toBe(400)
  })
})
