import { Server } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startServer } from '../../src/server/server.js'
import { questions, testServer } from './client.js'

test('a client waits for a place, and is told when none becomes free', async () => {
  const { request } = await testServer({ most: 1, waitSeconds: 0.2 })
  const first = await request('POST', '/v1/sessions', {})
  const refused = await request('POST', '/v1/sessions', {})
  expect(refused.status).toBe(503)
  expect(refused.body.error).toMatchObject({
    code: 'capacity',
    active_sessions: 1,
    max_sessions: 1,
  })
  const waiting = request('POST', '/v1/sessions', {})
  await request('DELETE', `/v1/sessions/${first.body.session}`)
  expect((await waiting).status).toBe(201)
})

test('a session that nobody uses ends, and says so', async () => {
  const { request, server } = await testServer({ idleSeconds: 0.05 })
  const { body } = await request('POST', '/v1/sessions', { seed: 2 })
  await expect.poll(() => server.service.sessions.counts.reaped).toBe(1)
  const gone = await request('GET', `/v1/sessions/${body.session}`)
  expect(gone.status).toBe(410)
})

test('a session whose opening fails leaves its place', async () => {
  const { request } = await testServer({ most: 1, waitSeconds: 0.1 })
  for (let n = 0; n < 3; n++)
    expect((await request('POST', '/v1/sessions', { reward: 'none-such' })).status).toBe(400)
  expect((await request('POST', '/v1/sessions', {})).status).toBe(201)
})

test('calls of one session wait for one another', async () => {
  const { request } = await testServer()
  const { body } = await request('POST', '/v1/sessions', { seed: 4 })
  const path = `/v1/sessions/${body.session}/steps`
  const replies = await Promise.all(
    questions.map((message) => request('POST', path, { action: { message } })),
  )
  expect(replies.map((reply) => reply.body.index).sort()).toEqual([1, 2, 3])
})

test('a thousand clients that come at once are let in', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => listen.mockRestore())
  await using _server = await startServer()
  expect(listen.mock.calls[0]?.[0]).toMatchObject({ host: '127.0.0.1', backlog: 4096 })
})

test('a host beyond loopback needs a token', async () => {
  const { startServer } = await import('../../src/server/server.js')
  await expect(startServer({ host: '0.0.0.0' })).rejects.toThrow('Expected a token')
})

test('a session that sleeps goes on where it was', async () => {
  const { request, server } = await testServer()
  const { body } = await request('POST', '/v1/sessions', { seed: 6 })
  const path = `/v1/sessions/${body.session}/steps`
  const ask = (at: number) => request('POST', path, { action: { message: questions[at] } })
  const first = await ask(0)
  await server.service.sessions.find(body.session).sleep()
  const again = await request('POST', path, { action: { message: questions[0] }, index: 0 })
  expect(again).toEqual(first)
  await server.service.sessions.find(body.session).sleep()
  const awake = await request('POST', '/v1/sessions', { seed: 6 })
  await request('POST', `/v1/sessions/${awake.body.session}/steps`, {
    action: { message: questions[0] },
  })
  const other = await request('POST', `/v1/sessions/${awake.body.session}/steps`, {
    action: { message: questions[1] },
  })
  expect((await ask(1)).body).toEqual(other.body)
})

test('a connection that nobody uses stays open for longer than clients keep one', async () => {
  const { server } = await testServer()
  const { headers } = await fetch(`${server.address}/healthz`)
  expect(headers.get('keep-alive')).toBe('timeout=75')
})
