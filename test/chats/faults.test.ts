/** Every way in which a model server fails, over the real package and real sockets. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Message } from '../../src/chat.js'
import { gateOf } from '../../src/chats/gate.js'
import type { ModelFaultKind } from '../../src/chats/model-fault.js'
import { openaiChat } from '../../src/chats/openai.js'
import type { ModelSettings } from '../../src/chats/settings.js'
import {
  chatServer,
  completion,
  cut,
  drip,
  events,
  type Handler,
  json,
  raw,
  reset,
  stall,
} from '../fixtures/chat-server.js'

const messages: readonly Message[] = [{ role: 'user', content: 'Any fever?' }]
const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => {
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

const failing = (message: string, code?: unknown) =>
  json({ error: { message, ...(code === undefined ? {} : { code }) } })
const refusedLength = json(
  {
    error: {
      message: 'This model’s maximum context length is 512 tokens',
      code: 'context_length_exceeded',
    },
  },
  400,
)

/** What the server does, the fault's kind, and how many requests are made where two retries are allowed. */
const table: readonly (readonly [string, Handler, ModelFaultKind, number])[] = [
  ['a 500', json({ error: { message: 'oops' } }, 500), 'server', 3],
  [
    'a 429 that asks for more than the deadline',
    json({}, 429, { 'retry-after': '60' }),
    'rate-limited',
    1,
  ],
  [
    'a used-up quota',
    json({ error: { message: 'x', code: 'insufficient_quota' } }, 429),
    'refused',
    1,
  ],
  ['a reset connection', reset, 'server', 3],
  ['a connection cut within the body', cut, 'server', 3],
  ['a body that stalls for ever', stall, 'timeout', 3],
  ['a body that drips for ever', drip, 'timeout', 3],
  ['silence', () => {}, 'timeout', 3],
  ['JSON that breaks off', raw('{"choices":[{"mess'), 'unparsable', 3],
  ['an empty body', raw(''), 'unparsable', 3],
  ['a page of HTML', (response) => void response.end('<html>'), 'unparsable', 2],
  ['no choice', json({ choices: [] }), 'unparsable', 2],
  [
    'a choice without content',
    json({ choices: [{ message: { role: 'assistant' } }] }),
    'unparsable',
    2,
  ],
  ['an empty choice', completion(null), 'unparsable', 2],
  ['another shape', json({ output: ['No.'] }), 'unparsable', 2],
  ['a 200 with an error', failing('overloaded'), 'server', 3],
  ['a 200 with the error of a wrong key', failing('no such key', 401), 'refused', 1],
  ['a refused key', json({ error: { message: 'bad key' } }, 401), 'refused', 1],
  ['an unknown model', json({ error: { message: 'no model m' } }, 404), 'refused', 1],
  ['another address', json({}, 301, { location: 'http://127.0.0.1:1/' }), 'refused', 1],
  ['a prompt that is too long', refusedLength, 'context-length', 1],
  [
    'a model that declines',
    json({
      choices: [{ message: { content: null, refusal: 'I cannot.' }, finish_reason: 'stop' }],
    }),
    'refused',
    1,
  ],
  ['a filter', completion('', { finish_reason: 'content_filter' }), 'refused', 1],
]

const limits: Partial<ModelSettings> = {
  ...{ model: 'm', backoffMs: 5, maxRetries: 2, timeoutMs: 200, deadlineMs: 5000 },
}

describe('is a typed fault and never content:', () => {
  test.each(table)('%s', async (_, handler, kind, requests) => {
    const server = await chatServer(handler)
    open.push(server.close)
    const chat = openaiChat({ ...limits, model: 'm', baseURL: server.baseURL })
    const abort = new AbortController()
    const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    await expect(chat(messages, { signal: abort.signal })).rejects.toMatchObject({
      kind,
      retries: requests - 1,
      message: expect.stringContaining(`127.0.0.1:${server.port}`),
    })
    expect(server.requests).toHaveLength(requests)
    expect(gateOf(`http://127.0.0.1:${server.port}/v1`).load).toEqual({ running: 0, waiting: 0 })
    const left = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    // A kept connection has a timer of its own.
    expect(left).toBeLessThanOrEqual(timers + 1)
    // One connection may be kept for the next request; one that failed is closed.
    await expect.poll(server.connections).toBeLessThanOrEqual(kind === 'timeout' ? 0 : 1)
  })
})

describe('a server that refuses is told of with what to set:', () => {
  const shape = { name: 'x', schema: {} }
  test.each([
    ['its own words', { detail: 'no such field: seed' }, 422, {}, /422 no such field: seed$/],
    ['a list of words', { detail: [{ loc: ['seed'] }] }, 422, {}, /\[{"loc":\["seed"\]}\]$/],
    [
      'a shape',
      { error: { message: 'unknown' } },
      400,
      { json: shape },
      /`json: object`.*not every server/,
    ],
    ['log-probs', { detail: 'unknown' }, 422, { logprobs: true }, /asked for log-probs/],
    ['token ids', { detail: 'unknown' }, 400, { tokenIds: true }, /asked for token ids/],
    ['a key', { error: { message: 'who?' } }, 401, {}, /variable BEDSIDE_TEST_NONE is not set/],
  ])('%s', async (_, body, status, options, says) => {
    const server = await chatServer(json(body, status))
    open.push(server.close)
    const { baseURL } = server
    const chat = openaiChat({ ...limits, model: 'm', baseURL, apiKeyEnv: 'BEDSIDE_TEST_NONE' })
    await expect(chat(messages, options)).rejects.toThrow(says)
  })

  test('the path', async () => {
    const server = await chatServer(json({ detail: 'Not Found' }, 404))
    open.push(server.close)
    const chat = openaiChat({ ...limits, model: 'm', baseURL: `http://127.0.0.1:${server.port}` })
    await expect(chat(messages)).rejects.toThrow(/404 Not Found \(is \/v1 missing/)
  })
})

describe('a failing server is outlasted', () => {
  test('that refuses two of three requests for a while: no call is lost', async () => {
    let asked = 0
    const server = await chatServer((response, request) => {
      if (++asked % 3 !== 0) json({}, 429, { 'retry-after': '0.02' })(response, request)
      else completion('No.')(response, request)
    })
    open.push(server.close)
    const chat = openaiChat({
      ...limits,
      model: 'm',
      baseURL: server.baseURL,
      concurrency: 8,
      timeoutMs: 10_000,
      deadlineMs: 60_000,
    })
    const replies = await Promise.all(Array.from({ length: 40 }, () => chat(messages)))
    expect(replies.map(({ text }) => text)).toEqual(Array(40).fill('No.'))
    expect(replies.reduce((sum, { retries = 0 }) => sum + retries, 0)).toBe(80)
  })

  test('that closes kept connections: the request is sent again on a new one, which is no retry', async () => {
    const served = new WeakSet<object>()
    const server = await chatServer((response, request) => {
      const { socket } = response
      if (!socket || served.has(socket)) return reset(response, request)
      served.add(socket)
      completion('No.')(response, request)
    })
    open.push(server.close)
    const chat = openaiChat({ ...limits, model: 'm', baseURL: server.baseURL, maxRetries: 0 })
    for (let call = 0; call < 4; call++)
      expect(await chat(messages)).toEqual({
        text: 'No.',
        usage: { promptTokens: 7, completionTokens: 3 },
      })
    expect(server.requests).toHaveLength(7)
  })

  test('whose date of Retry-After is in the future', async () => {
    // A date has no fractions of a second.
    const until = new Date(
      Math.ceil(performance.timeOrigin + performance.now() + 1100),
    ).toUTCString()
    const server = await chatServer(json({}, 503, { 'retry-after': until }), completion('No.'))
    open.push(server.close)
    const chat = openaiChat({ ...limits, model: 'm', baseURL: server.baseURL })
    const began = performance.now()
    expect((await chat(messages)).text).toBe('No.')
    expect(performance.now() - began).toBeGreaterThan(90)
  })

  test('only until the deadline of the call', async () => {
    const server = await chatServer(json({}, 429, { 'retry-after': '0.05' }))
    open.push(server.close)
    const chat = openaiChat({ ...limits, model: 'm', baseURL: server.baseURL, deadlineMs: 1500 })
    const began = performance.now()
    await expect(chat(messages)).rejects.toMatchObject({ kind: 'rate-limited' })
    expect(performance.now() - began).toBeLessThan(6000)
    expect(server.requests.length).toBeGreaterThan(3)
  })
})

describe('a stream', () => {
  const delta = (content: string) => ({ choices: [{ delta: { content } }] })
  const last = { choices: [{ delta: {}, finish_reason: 'stop' }] }
  const usage = { choices: [], usage: { prompt_tokens: 4, completion_tokens: 2 } }
  const streamed = async (...handlers: readonly Handler[]) => {
    const server = await chatServer(...handlers)
    open.push(server.close)
    const pieces: string[] = []
    const chat = openaiChat({ ...limits, model: 'm', baseURL: server.baseURL })
    const reply = chat(messages, { onText: (piece) => void pieces.push(piece) })
    return { server, reply, pieces }
  }

  test('is heard piece by piece, with the usage at its end', async () => {
    const { server, reply, pieces } = await streamed(
      events(delta('No'), delta(', no.'), last, usage, '[DONE]'),
    )
    expect(await reply).toEqual({
      text: 'No, no.',
      usage: { promptTokens: 4, completionTokens: 2 },
    })
    expect(pieces).toEqual(['No', ', no.'])
    expect(server.requests[0]?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test.each<[string, Handler, ModelFaultKind]>([
    ['that ends before the reply does', events(delta('No')), 'unparsable'],
    ['with a torn piece', events(delta('No'), '{"choices":[{'), 'unparsable'],
    ['with an error in it', events(delta('No'), { error: { message: 'overloaded' } }), 'server'],
    [
      'that stalls',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(delta('No'))}\n\n`)
      },
      'timeout',
    ],
    [
      'that is cut',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(delta('No'))}\n\n`, () => response.destroy())
      },
      'server',
    ],
  ])('%s is a fault', async (_, handler, kind) => {
    const { server, reply } = await streamed(handler)
    await expect(reply).rejects.toMatchObject({ kind })
    expect(server.requests).toHaveLength(3)
    await expect.poll(server.connections).toBeLessThanOrEqual(1)
  })
})
