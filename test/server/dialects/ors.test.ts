import { describe, expect, test } from 'vitest'
import { questions, testServer, token } from '../client.js'

const [question = ''] = questions

/** The events of a stream. */
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((one) => one.startsWith('event:'))
    .map((one) => {
      const [, event = '', data = ''] = /^event: ?(.*)\ndata: ?(.*)$/s.exec(one) ?? []
      return { event, data }
    })

/** A client with a session of its own. */
async function orsClient(task?: object) {
  const tested = await testServer()
  const send = (method: string, path: string, body?: unknown, id?: string) =>
    tested.request(method, path, body, {
      'x-api-key': token,
      ...(id === undefined ? {} : { 'x-session-id': id }),
    })
  const events = eventsOf((await send('POST', '/create_session', {})).body)
  const id = events[0]?.data ?? ''
  const created = await send('POST', '/create', task ?? { split: 'train', index: 7 }, id)
  const call = async (name: string, input: unknown, task_id?: string) => {
    const { status, body } = await send('POST', '/call', { name, input, task_id }, id)
    if (status !== 200) return { status, body }
    const [first, last] = eventsOf(body)
    return { id: first?.data, event: last?.event, ...JSON.parse(last?.data ?? '') }
  }
  return { ...tested, send, id, events, created, call }
}

describe('the wire of ORS', () => {
  test('plays a task by tool calls, as the plain dialect does', async () => {
    const { send, id, created, call, request, server } = await orsClient()
    expect(created).toEqual({ status: 200, body: { sid: id } })
    const plain = await request('POST', '/v1/sessions', { index: 7, split: 'train' })
    const prompt = await send('GET', '/consultation/prompt', undefined, id)
    expect(prompt.body[0].text).toContain(plain.body.observation.message)
    expect(prompt.body[0].text).toContain('order_exam')
    const path = `/v1/sessions/${plain.body.session}/steps`
    const asked = await call('ask_patient', { question })
    const same = await request('POST', path, { action: { message: question } })
    expect(asked).toMatchObject({
      event: 'end',
      ok: true,
      output: {
        blocks: [{ type: 'text', text: same.body.observation.message }],
        ...{ reward: null, finished: false },
      },
    })
    const end = await call('diagnose', { diagnosis: 'influenza', recommendation: 'rest' })
    const last = await request('POST', path, {
      action: { message: '', diagnosis: 'influenza', recommendation: 'rest' },
    })
    expect(end.output).toMatchObject({ reward: last.body.reward, finished: true })
    expect(end.output.metadata.score).toEqual(last.body.observation.score)
    expect(await call('ask_patient', { question })).toMatchObject({
      ...{ ok: false, reason: 'episode_finished' },
    })
    await send('POST', '/delete', undefined, id)
    expect((await call('ask_patient', { question })).status).toBe(410)
    expect((await send('POST', '/delete_session', undefined, id)).body).toEqual({ sid: id })
    expect(server.service.sessions.counts.open).toBe(1)
  })

  test('gives the result of a call again by its task_id, and takes it once', async () => {
    const { call } = await orsClient()
    const first = await call('ask_patient', { question })
    expect(await call('ask_patient', { question }, first.id)).toEqual(first)
    const next = await call('order_exam', { exam: 'ECG' })
    expect(next.output.metadata.turns_left).toBe(first.output.metadata.turns_left - 1)
    expect((await call('ask_patient', { question }, 'another')).status).toBe(400)
  })

  test('tells a wrong call what was expected', async () => {
    const { call } = await orsClient()
    expect(await call('sing', {})).toMatchObject({ ok: false, reason: 'not_found' })
    expect(await call('ask_patient', { q: 1 })).toMatchObject({
      ...{ ok: false, reason: 'input_validation' },
      error: expect.stringContaining('question'),
    })
  })

  test('creates a session once, from options as a task or from a place', async () => {
    const task_spec = { split: 'heldout', index: 2, tier: 'hard', language: 'zh' }
    const { send, id, created, server } = await orsClient({ task_spec })
    expect(created.status).toBe(200)
    expect((await send('POST', '/create', { task_spec }, id)).status).toBe(200)
    const other = await send('POST', '/create', { split: 'train', index: 1 }, id)
    expect(other.status).toBe(409)
    expect(server.service.sessions.counts.open).toBe(1)
    const prompt = await send('GET', '/prompt', undefined, id)
    expect(prompt.body[0].text).toContain('医生')
  })

  test.each([
    [{}, 'either'],
    [{ split: 'train' }, 'either'],
    [{ split: 'train', index: 1, task_spec: {} }, 'either'],
    [{ task_spec: { sead: 1 } }, 'did you mean seed?'],
    [{ split: 'train', index: 1, env_name: 'chess' }, 'consultation'],
    [{ split: 'test', index: 1 }, 'split'],
  ])('refuses to create %j', async (task, says) => {
    const { created, failures } = await orsClient(task)
    expect(created.status).toBeGreaterThanOrEqual(400)
    expect(created.body.error.message).toContain(says)
    expect(failures).toEqual([])
  })

  test('lists tasks and tools with and without the name of the env', async () => {
    const { send, id } = await orsClient()
    expect((await send('GET', '/splits')).body).toEqual(
      (await send('GET', '/consultation/splits')).body,
    )
    const tools = (await send('GET', '/tools')).body.tools
    expect(tools.map(({ name }: { name: string }) => name)).toEqual([
      ...['ask_patient', 'order_exam', 'diagnose'],
    ])
    expect((await send('GET', '/consultation/task_tools', undefined, id)).body.tools).toEqual(tools)
    const last = await send('POST', '/task_range', { split: 'train', start: -2 })
    expect(last.body.tasks).toHaveLength(2)
    expect((await send('POST', '/ping', undefined, id)).body).toEqual({ status: 'ok' })
    expect((await send('POST', '/ping')).body.error.message).toContain('X-Session-ID')
    expect((await send('GET', '/chess/tools')).status).toBe(404)
  })
})
