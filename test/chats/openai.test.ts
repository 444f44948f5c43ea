import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { Message } from '../../src/chat.js'
import { openaiChat } from '../../src/chats/openai.js'
import type { ModelSettings } from '../../src/chats/settings.js'
import { chatServer, completion, cut, type Handler, json, stall } from '../fixtures/chat-server.js'

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function serve(...handlers: readonly Handler[]) {
  const server = await chatServer(...handlers)
  open.push(server.close)
  const { baseURL } = server
  const chat = (settings: Partial<ModelSettings> = {}) =>
    openaiChat({ baseURL, model: 'm', backoffMs: 10, ...settings })
  return { ...server, chat }
}

const busy = json({ error: { message: 'busy' } }, 503)
const messages: readonly Message[] = [{ role: 'user', content: 'Any fever?' }]

describe('openaiChat speaks to a server', () => {
  test('sends messages, seed, temperature and limit, and reads text and usage', async () => {
    const { chat, requests } = await serve(completion('No.'))
    const reply = await chat({ temperature: 0.3, maxTokens: 50 })(messages, {
      seed: 9,
      maxTokens: 20,
    })
    expect(reply).toEqual({ text: 'No.', usage: { promptTokens: 7, completionTokens: 3 } })
    expect(requests[0]?.body).toEqual({
      model: 'm',
      messages,
      seed: 9,
      temperature: 0.3,
      max_tokens: 20,
    })
  })

  test('sends the key of the named variable, and "none" where there is none', async () => {
    process.env.BEDSIDE_TEST_KEY = 'secret-of-the-test'
    const { chat, requests } = await serve(completion('No.'))
    await chat({ apiKeyEnv: 'BEDSIDE_TEST_KEY' })(messages)
    await chat({ apiKeyEnv: 'BEDSIDE_TEST_ABSENT' })(messages)
    expect(requests.map((r) => r.headers.authorization)).toEqual([
      'Bearer secret-of-the-test',
      'Bearer none',
    ])
  })

  test('runs at most `concurrency` requests at once', async () => {
    let now = 0
    let most = 0
    const { chat } = await serve((response, request) => {
      most = Math.max(most, ++now)
      setTimeout(() => {
        now -= 1
        completion('x')(response, request)
      }, 20)
    })
    const two = chat({ concurrency: 2 })
    await Promise.all(Array.from({ length: 7 }, () => two(messages)))
    expect(most).toBe(2)
  })
})

describe('openaiChat retries what may pass', () => {
  test('two 503 and then an answer is an answer', async () => {
    const { chat, requests } = await serve(busy, busy, completion('late'))
    expect((await chat()(messages)).text).toBe('late')
    expect(requests).toHaveLength(3)
  })

  test('waits as long as a 429 asks', async () => {
    const { chat } = await serve(json({}, 429, { 'retry-after': '0.3' }), completion('late'))
    const start = performance.now()
    expect((await chat()(messages)).text).toBe('late')
    expect(performance.now() - start).toBeGreaterThan(290)
  })

  test('a 429 that asks for an hour fails at once', async () => {
    const { chat, requests } = await serve(json({}, 429, { 'retry-after': '3600' }))
    await expect(chat()(messages)).rejects.toMatchObject({ code: 'model-unavailable' })
    expect(requests).toHaveLength(1)
  })

  test('a connection cut in the middle of the body is tried again', async () => {
    const { chat } = await serve(cut, completion('whole'))
    expect((await chat()(messages)).text).toBe('whole')
  })

  test('gives up after maxRetries, naming address, model and reason', async () => {
    const { chat, requests, port } = await serve(busy)
    await expect(chat({ maxRetries: 2 })(messages)).rejects.toMatchObject({
      code: 'model-unavailable',
      message: `http://127.0.0.1:${port}/v1 (model m): 503 busy (3 requests)`,
    })
    expect(requests).toHaveLength(3)
  })

  test('a refused key is not tried again, and is not in the message', async () => {
    process.env.BEDSIDE_TEST_KEY = 'secret-of-the-test'
    const { chat, requests } = await serve(
      json({ error: { message: 'bad key secret-of-the-test' } }, 401),
    )
    const failed = await chat({ apiKeyEnv: 'BEDSIDE_TEST_KEY' })(messages).catch((error) => error)
    expect(failed).toMatchObject({ code: 'model-unavailable' })
    expect(failed.message).toContain('bad key [key]')
    expect(requests).toHaveLength(1)
  })
})

describe('openaiChat does not wait for ever', () => {
  test('a server that stalls after the headers is given up within the deadline', async () => {
    const { chat, requests } = await serve(stall)
    const start = performance.now()
    await expect(chat({ timeoutMs: 150, maxRetries: 1 })(messages)).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining('no reply within 150 ms'),
    })
    expect(performance.now() - start).toBeLessThan(2000)
    expect(requests).toHaveLength(2)
  })

  test('a server that is down is named, with the reason of the socket', async () => {
    const { port, chat } = await serve(busy)
    for (const close of open.splice(0)) close()
    await expect(chat({ maxRetries: 1 })(messages)).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:${port}/v1.*ECONNREFUSED`)),
    })
  })

  test('the caller aborts a request under way, a wait, and a request not yet made', async () => {
    const stalled = await serve(() => {})
    const waiting = await serve(json({}, 429, { 'retry-after': '30' }))
    const aborted = { code: 'aborted' }
    const soon = () => ({ signal: AbortSignal.timeout(100) })
    const start = performance.now()
    await expect(stalled.chat()(messages, soon())).rejects.toMatchObject(aborted)
    await expect(waiting.chat()(messages, soon())).rejects.toMatchObject(aborted)
    const never = await serve(completion('x'))
    const signal = AbortSignal.abort()
    await expect(never.chat()(messages, { signal })).rejects.toMatchObject(aborted)
    expect(never.requests).toHaveLength(0)
    expect(performance.now() - start).toBeLessThan(3000)
  })
})

describe('a 200 that is no completion is unreadable, and tried once more', () => {
  test.each([
    ['text', (r: ServerResponse) => r.end('<html>gateway</html>')],
    ['no choices', json({ object: 'chat.completion' })],
    ['empty choices', json({ choices: [] })],
    ['no content', json({ choices: [{ message: { role: 'assistant' } }] })],
    ['content that is not text', json({ choices: [{ message: { content: 5 } }] })],
    ['content null', completion(null)],
  ])('%s', async (_, handler) => {
    const { chat, requests } = await serve(handler)
    await expect(chat()(messages)).rejects.toMatchObject({ code: 'model-unreadable' })
    expect(requests).toHaveLength(2)
  })

  test('but a model cut off before its first word said nothing', async () => {
    const { chat } = await serve(completion(null, { finish_reason: 'length' }))
    expect((await chat()(messages)).text).toBe('')
  })
})

describe('a base URL that is none is refused at once', () => {
  test.each(['localhost:8000', 'ftp://x/v1', ''])('%j', (baseURL) => {
    const make = () => openaiChat({ model: 'm', baseURL })
    expect(make).toThrow(expect.objectContaining({ code: 'bad-input' }))
  })

  test('one with credentials too, without printing them', () => {
    const make = () => openaiChat({ model: 'm', baseURL: 'http://me:hidden@host/v1' })
    expect(make).toThrow(/without credentials/)
    expect(make).not.toThrow(/hidden/)
  })
})
