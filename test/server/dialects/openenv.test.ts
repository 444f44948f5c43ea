import { describe, expect, test } from 'vitest'
import { openSocket, questions, testServer } from '../client.js'

const [question = '', other = ''] = questions
const step = (message: string) => ({ type: 'step', data: { message } })

describe('the WebSocket of OpenEnv', () => {
  test('plays a consultation: reset, step, state, close', async () => {
    const { server, request } = await testServer()
    const { send, socket } = await openSocket(server.address)
    const begun = await send({ type: 'reset', data: { seed: 7, episode_id: 'e1' } })
    expect(begun).toMatchObject({
      type: 'observation',
      data: { reward: null, done: false, observation: { outcome: 'opening' } },
    })
    const asked = await send(step(question))
    expect(asked.data.observation.outcome).toBe('answered')
    expect(await send({ type: 'state' })).toEqual({
      type: 'state',
      data: { episode_id: 'e1', step_count: 1 },
    })
    const end = await send(step('Diagnosis: influenza'))
    expect(end.data).toMatchObject({ done: true, reward: expect.any(Number) })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.send('{"type":"close"}')
    await closed
    await expect.poll(async () => (await request('GET', '/healthz')).body.open).toBe(0)
  })

  test('a connection that breaks off frees its session', async () => {
    const { server } = await testServer()
    const { send, socket } = await openSocket(server.address)
    await send({ type: 'reset' })
    expect(server.service.sessions.counts.open).toBe(1)
    socket.terminate()
    await expect.poll(() => server.service.sessions.counts.open).toBe(0)
  })

  test.each([
    ['{', 'INVALID_JSON'],
    ['[]', 'VALIDATION_ERROR'],
    [{ type: 'dance' }, 'UNKNOWN_TYPE'],
    [{ type: 'reset', data: { sead: 1 } }, 'VALIDATION_ERROR'],
    [{ type: 'step', data: {} }, 'EXECUTION_ERROR'],
  ])('refuses %j as %s and goes on', async (frame, code) => {
    const { server } = await testServer()
    const { send } = await openSocket(server.address)
    expect(await send(frame)).toMatchObject({ type: 'error', data: { code } })
    expect((await send({ type: 'reset' })).type).toBe('observation')
    expect(await send({ type: 'step', data: { text: 'hello' } })).toMatchObject({
      data: { code: 'VALIDATION_ERROR' },
    })
    expect((await send(step(question))).type).toBe('observation')
  })

  test('answers requests in their order, however fast they come', async () => {
    const { server } = await testServer()
    const { socket, receive } = await openSocket(server.address)
    for (const frame of [{ type: 'reset' }, step(question), { type: 'state' }, step(other)])
      socket.send(JSON.stringify(frame))
    const kinds = [await receive(), await receive(), await receive(), await receive()]
    expect(kinds.map(({ type }) => type)).toEqual([
      'observation',
      'observation',
      'state',
      'observation',
    ])
  })

  test('refuses a stranger, and says when it is full without closing', async () => {
    const { server } = await testServer({ most: 1, waitSeconds: 0.1 })
    await expect(openSocket(server.address, '/ws')).rejects.toThrow('401')
    const one = await openSocket(server.address)
    await one.send({ type: 'reset' })
    const other = await openSocket(server.address)
    expect((await other.send({ type: 'reset' })).data.code).toBe('CAPACITY_REACHED')
    one.socket.terminate()
    expect((await other.send({ type: 'reset' })).type).toBe('observation')
  })

  test('offers tools in the step channel and by JSON-RPC', async () => {
    const { server } = await testServer()
    const { send } = await openSocket(server.address)
    await send({ type: 'reset', data: { seed: 3 } })
    const { data } = await send({ type: 'step', data: { type: 'list_tools' } })
    const names = data.observation.tools.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['ask_patient', 'order_exam', 'diagnose'])
    const call = (tool_name: string, input: object) =>
      send({ type: 'step', data: { type: 'call_tool', tool_name, arguments: input } })
    const asked = await call('ask_patient', { question })
    expect(asked.data.observation.result.data).toBe(asked.data.observation.message)
    expect((await call('sing', {})).data.observation.error.error_type).toBe('tool_not_found')
    expect((await call('diagnose', {})).data.observation.error.error_type).toBe('invalid_args')
    const listed = await send({
      type: 'mcp',
      data: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    })
    expect(listed.data.result.tools).toHaveLength(3)
  })
})

describe('the HTTP routes of OpenEnv', () => {
  test('have a message as the one required field of an action', async () => {
    const { request } = await testServer()
    const { body } = await request('GET', '/schema')
    expect(body.action.required).toEqual(['message'])
    expect(body.action.title).toBe('ConsultationAction')
    expect((await request('GET', '/health', undefined, {})).body).toEqual({ status: 'healthy' })
  })

  test('keep a session by its id', async () => {
    const { request } = await testServer()
    const { body } = await request('POST', '/reset', { seed: 3 })
    const { session_id } = body.observation
    const stepped = await request('POST', '/step', {
      session_id,
      action: { message: question },
    })
    expect(stepped.body.observation.outcome).toBe('answered')
    expect((await request('GET', `/state?session_id=${session_id}`)).body.step_count).toBe(1)
    expect((await request('POST', '/step', { action: { message: 'x' } })).status).toBe(400)
  })

  test('list tasks by split and index', async () => {
    const { request } = await testServer()
    expect((await request('GET', '/list_environments')).body).toEqual(['consultation'])
    const task = await request('POST', '/consultation/task', { split: 'heldout', index: 4 })
    expect(task.body.task).toEqual({ split: 'heldout', index: 4 })
    const range = { split: 'train', start: 2, stop: 5 }
    const { body } = await request('POST', '/consultation/task_range', range)
    expect(body.tasks.map(({ index }: { index: number }) => index)).toEqual([2, 3, 4])
    expect((await request('GET', '/other/splits')).status).toBe(404)
  })
})
