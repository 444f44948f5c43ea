import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { builtPackage } from './built.js'
import { openSocket, questions, testServer } from './client.js'

const { command, serve } = builtPackage()
const seeds = [1, 2, 3, 4, 5, 6]

/** A request over a connection of its own, which any process may get. */
async function ask(address: string, token: string, method: string, path: string, body?: unknown) {
  const headers = { 'x-api-key': token, 'content-type': 'application/json' }
  // biome-ignore lint/suspicious/noExplicitAny: outside JSON
  return new Promise<{ status: number; body: any }>((resolve, reject) => {
    const agent = new Agent({ keepAlive: false })
    const sent = request(`${address}${path}`, { method, agent, headers }, async (reply) => {
      let text = ''
      for await (const chunk of reply) text += chunk
      const json = /^[{[]/.test(text)
      resolve({ status: reply.statusCode ?? 0, body: json ? JSON.parse(text) : text })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Processes, with a session for each seed. */
async function workers() {
  const { address, token, server, ended } = await serve('--workers', '2')
  const send = (method: string, path: string, body?: unknown) =>
    ask(address, token, method, path, body)
  const opened = await Promise.all(seeds.map((seed) => send('POST', '/v1/sessions', { seed })))
  const ids = opened.map(({ body }): string => body.session)
  const step = (id: string, message: string | undefined) =>
    send('POST', `/v1/sessions/${id}/steps`, { action: { message } })
  return { address, token, server, ended, send, opened, ids, step }
}

test('any process answers for every session, as one process would', async () => {
  const { address, token, server, ended, send, opened, ids, step } = await workers()
  expect(new Set(ids.map((id) => id.split('.')[1]))).toEqual(new Set(['0', '1']))
  const alone = await testServer()
  for (const [at, seed] of seeds.entries()) {
    const { body } = await alone.request('POST', '/v1/sessions', { seed })
    expect(opened[at]?.body.observation).toEqual(body.observation)
    for (const message of questions) {
      const expected = await alone.request('POST', `/v1/sessions/${body.session}/steps`, {
        action: { message },
      })
      expect((await step(ids[at] ?? '', message)).body).toEqual(expected.body)
    }
  }
  // More often than there are processes, over new connections.
  for (const id of [...ids, ...ids]) {
    const { send: say, socket } = await openSocket(address, `/t/${token}/ws?session_id=${id}`)
    expect((await say({ type: 'state' })).data.step_count).toBe(questions.length)
    socket.terminate()
  }
  for (let n = 0; n < 4; n++) {
    expect((await send('GET', '/healthz')).body).toMatchObject({ open: 6, opened: 6 })
    const { body } = await send('GET', '/metrics')
    expect(body).toContain('bedside_sessions_open 6')
    expect(body).toContain(`bedside_step_seconds_count ${6 * questions.length}`)
  }
  // The door between the processes is no door for clients.
  expect((await send('GET', '/worker/counts')).status).toBe(404)
  await Promise.all(ids.map((id) => send('DELETE', `/v1/sessions/${id}`)))
  expect((await send('GET', '/healthz')).body.open).toBe(0)
  server.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
}, 120_000)

test('ORS and NeMo Gym reach the process of their session', async () => {
  const { address, token, server, ended } = await serve('--workers', '2')
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': token, ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  for (let n = 0; n < 6; n++) {
    const minted = await send('/create_session', {})
    const id = /task_id\ndata: (\S+)/.exec(minted.text)?.[1] ?? ''
    const named = { 'x-session-id': id }
    expect((await send('/create', { split: 'train', index: n }, named)).status).toBe(200)
    const called = await Promise.all(
      ['ECG', 'CRP', 'Chest X-ray'].map((exam) =>
        send('/call', { name: 'order_exam', input: { exam } }, named),
      ),
    )
    for (const { text } of called) expect(text).toContain('"ok":true')
    const row = { responses_create_params: { input: [] } }
    const begun = await send('/reset', row)
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    const output = [{ type: 'message', content: questions[0] }]
    const stepped = await Promise.all(
      [1, 2, 3].map(() => send('/step', { ...row, response: { output } }, { cookie })),
    )
    expect(stepped.map(({ status }) => status)).toContain(200)
    expect((await send('/close', {}, { cookie })).status).toBe(200)
    expect((await send('/delete', {}, named)).status).toBe(200)
  }
  const { open } = (await ask(address, token, 'GET', '/healthz')).body
  expect(open).toBe(0)
  server.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
}, 120_000)

test('nothing is said of clients that vanish in the middle of a reply', async () => {
  const { address, token, server, ended, told } = await serve('--workers', '2')
  const post = (path: string, body: object, id?: string) =>
    request(`${address}${path}`, {
      ...{ method: 'POST', agent: new Agent({ keepAlive: false }) },
      headers: {
        ...{ 'x-api-key': token, 'content-type': 'application/json' },
        ...(id !== undefined && { 'x-session-id': id }),
      },
    }).end(JSON.stringify(body))
  const [minted] = await once(post('/create_session', {}), 'response')
  let id = ''
  for await (const chunk of minted) id += chunk
  id = /task_id\ndata: (\S+)/.exec(id)?.[1] ?? ''
  const [created] = await once(post('/create', { split: 'train', index: 0 }, id), 'response')
  expect(created.resume().statusCode).toBe(200)
  // An unusual question makes a new process think for a second: replies have begun by then and not ended. Half of the
  // connections come to the process of the session, and those of the other are passed on.
  const question =
    'Does it come on when you carry the shopping up to your aunt, or rather after it?'
  const begun = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const call = post('/call', { name: 'ask_patient', input: { question } }, id)
      const [reply] = await once(call, 'response')
      await once(reply, 'data')
      reply.on('error', () => undefined)
      call.on('error', () => undefined).destroy()
      return reply.statusCode
    }),
  )
  expect(new Set(begun)).toEqual(new Set([200]))
  expect((await ask(address, token, 'GET', '/healthz')).body.open).toBe(1)
  server.kill('SIGINT')
  await ended
  expect(told()).toBe('Ctrl-C stops it.\n\nStopped. All sessions are closed.\n')
}, 120_000)

test('a process that dies is started again, and its sessions go on elsewhere', async () => {
  const { server, ended, send, ids, step } = await workers()
  const before = await Promise.all(ids.map((id) => step(id, questions[0])))
  const [victim = 0, other = 0] = childrenOf(server.pid ?? 0)
  process.kill(victim, 'SIGKILL')
  await expect.poll(() => lives(victim)).toBe(false)
  await expect
    .poll(
      async () => (await Promise.all(ids.map((id) => send('GET', `/v1/sessions/${id}`)))).length,
    )
    .toBe(6)
  const found = await Promise.all(ids.map((id) => send('GET', `/v1/sessions/${id}`)))
  const gone = found.map(({ status }) => status === 410)
  expect(new Set(gone)).toEqual(new Set([true, false]))
  for (const { status, body } of found)
    expect(status === 200 || body.error.message.includes('actions')).toBe(true)
  await expect.poll(() => childrenOf(server.pid ?? 0).length, { timeout: 20_000 }).toBe(2)
  expect(lives(other)).toBe(true)
  for (const [at, seed] of seeds.entries()) {
    if (!gone[at]) continue
    const actions = [{ message: questions[0] }]
    const again = await send('POST', '/v1/sessions', { seed, actions })
    expect(again.body.observation).toEqual(before[at]?.body.observation)
    const next = await step(again.body.session, questions[1])
    expect(next.body.index).toBe(2)
  }
  const all = childrenOf(server.pid ?? 0)
  server.kill('SIGKILL')
  await ended
  await expect.poll(() => all.some(lives), { timeout: 20_000 }).toBe(false)
}, 120_000)

test('a process says nothing when the first one is killed while it starts', async () => {
  const [node, main] = command
  const line = [main, 'serve', '--workers', '2', '--json', '--no-token']
  const server = spawn(node, line, { stdio: ['ignore', 'ignore', 'pipe'] })
  let told = ''
  server.stderr.on('data', (chunk) => {
    told += chunk
  })
  const children = () => childrenOf(server.pid ?? 0).filter((pid) => pid > 0)
  await expect.poll(children, { interval: 2, timeout: 20_000 }).not.toEqual([])
  const started = children()
  server.kill('SIGKILL')
  await expect.poll(() => started.some(lives), { timeout: 20_000 }).toBe(false)
  expect(told).toBe('')
}, 120_000)
