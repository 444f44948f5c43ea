/** What a model can be asked for: completions, stop strings, JSON, tokens, headers and shared limits. */
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Message } from '../../src/chat.js'
import { openaiChat, openaiCompletion } from '../../src/chats/openai.js'
import type { ModelSettings } from '../../src/chats/settings.js'
import { askJson } from '../../src/chats/structured.js'
import { chatServer, completion, events, type Handler, json } from '../fixtures/chat-server.js'

const messages: readonly Message[] = [{ role: 'user', content: 'Any fever?' }]
const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function serve(...handlers: readonly Handler[]) {
  const server = await chatServer(...handlers)
  open.push(server.close)
  const settings = { model: 'm', baseURL: server.baseURL, backoffMs: 5 }
  return {
    ...server,
    chat: (more: Partial<ModelSettings> = {}) => openaiChat({ ...settings, ...more }),
    complete: (more: Partial<ModelSettings> = {}) => openaiCompletion({ ...settings, ...more }),
  }
}

const continued = (rest = {}) =>
  json({
    choices: [{ text: ' negative', finish_reason: 'stop', ...rest }],
    usage: { prompt_tokens: 2, completion_tokens: 1 },
  })

describe('a completion model', () => {
  test('goes on with a text, with stop strings and a limit', async () => {
    const { complete, requests } = await serve(continued())
    const reply = await complete({ stop: ['\n'], temperature: 0 })('Swab:', {
      maxTokens: 8,
      seed: 3,
    })
    expect(reply).toEqual({ text: ' negative', usage: { promptTokens: 2, completionTokens: 1 } })
    expect(requests[0]).toMatchObject({
      path: '/v1/completions',
      body: { model: 'm', prompt: 'Swab:', stop: ['\n'], temperature: 0, max_tokens: 8, seed: 3 },
    })
  })

  test('goes on with tokens, and gives ids and log-probs where the server does', async () => {
    const { complete, requests } = await serve(
      continued({
        token_ids: [8, 9],
        prompt_token_ids: [5, 6],
        logprobs: { token_logprobs: [-0.5, -1] },
      }),
    )
    const reply = await complete()([5, 6], { logprobs: true, tokenIds: true })
    expect(reply.tokens).toEqual({ ids: [8, 9], promptIds: [5, 6], logprobs: [-0.5, -1] })
    expect(requests[0]?.body).toEqual({
      ...{ model: 'm', prompt: [5, 6], logprobs: 0, return_token_ids: true },
    })
  })

  test('gives the likeliest tokens, in the form of OpenAI or in that of llama.cpp', async () => {
    const place = { id: 4, logprob: -1, top_logprobs: [{ token: ' no', logprob: -0.5, id: 3 }] }
    const { complete, requests } = await serve(
      continued({ logprobs: { token_logprobs: [-1], top_logprobs: [{ ' no': -0.5 }] } }),
      continued({ logprobs: { content: [place] } }),
      continued({ logprobs: { content: [place, place] } }),
    )
    const alternatives = [[{ token: ' no', logprob: -0.5 }]]
    const ask = async () => (await complete()('a', { topLogprobs: 1 })).tokens
    expect(await ask()).toEqual({ logprobs: [-1], alternatives })
    expect(await ask()).toEqual({ ids: [4], logprobs: [-1], alternatives })
    // One token was drawn: these are not its ids.
    expect(await ask()).not.toHaveProperty('ids')
    expect(requests[0]?.body).toMatchObject({ logprobs: 1 })
  })

  test.each([
    ['json', { json: { name: 'x', schema: {} } }],
    ['tools', { tools: [] }],
    ['prefix', { prefix: 'Yes' }],
  ])('is refused what completions cannot ask for: %s', async (name, options) => {
    const { complete, requests } = await serve(continued())
    const asked = complete()('a', options)
    await expect(asked).rejects.toMatchObject({ code: 'bad-input' })
    await expect(asked).rejects.toThrow(`\`${name}\`: expected a chat model`)
    expect(requests).toEqual([])
  })
})

describe('a chat model', () => {
  test('gives ids and log-probs where the server does, and nothing where it does not', async () => {
    const { chat } = await serve(
      json({
        prompt_token_ids: [1],
        choices: [
          {
            message: { content: 'No.' },
            finish_reason: 'stop',
            token_ids: [2, 3],
            logprobs: { content: [{ logprob: -0.25 }, { logprob: -2 }] },
          },
        ],
      }),
      completion('No.'),
    )
    const ask = () => chat()(messages, { logprobs: true, tokenIds: true })
    expect((await ask()).tokens).toEqual({ ids: [2, 3], promptIds: [1], logprobs: [-0.25, -2] })
    expect((await ask()).tokens).toBeUndefined()
  })

  test('goes on from a given beginning, which the reply holds whether the server repeats it or not', async () => {
    const { chat, requests } = await serve(completion('No, I'), completion(' I'))
    const ask = async () => (await chat()(messages, { prefix: 'No,' })).text
    expect([await ask(), await ask()]).toEqual(['No, I', 'No, I'])
    expect(requests[0]?.body).toMatchObject({
      messages: [...messages, { role: 'assistant', content: 'No,' }],
      ...{ continue_final_message: true, add_generation_prompt: false },
    })
  })

  test('gives the likeliest tokens', async () => {
    const place = (token: string) => ({ token, logprob: -1 })
    const { chat, requests } = await serve(
      completion('No.', {
        logprobs: { content: [{ ...place('No'), top_logprobs: [place('No'), place('Yes')] }] },
      }),
    )
    const { tokens } = await chat()(messages, { topLogprobs: 2 })
    expect(tokens).toEqual({ logprobs: [-1], alternatives: [[place('No'), place('Yes')]] })
    expect(requests[0]?.body).toMatchObject({ logprobs: true, top_logprobs: 2 })
  })

  test('is sent headers and members of the settings', async () => {
    const { chat, requests } = await serve(completion('No.'))
    const body = { top_k: 5, chat_template_kwargs: { enable_thinking: false } }
    await chat({ headers: { 'x-team': 'a' }, topP: 0.9, body })(messages, { stop: ['###'] })
    expect(requests[0]?.headers['x-team']).toBe('a')
    expect(requests[0]?.body).toMatchObject({ ...body, top_p: 0.9, stop: ['###'] })
  })

  test('takes no key in a header', () => {
    const make = () =>
      openaiChat({ model: 'm', baseURL: 'http://h/v1', headers: { Authorization: 'x-y' } })
    expect(make).toThrow(/apiKeyEnv/)
    expect(make).not.toThrow(/x-y/)
  })

  test('of a hosted server needs a key, and says where it is looked for', () => {
    const make = () =>
      openaiChat({
        model: 'm',
        baseURL: 'https://api.openai.com/v1',
        apiKeyEnv: 'BEDSIDE_TEST_ABSENT',
      })
    expect(make).toThrow(/BEDSIDE_TEST_ABSENT/)
  })

  test('says that it was cut off', async () => {
    const { chat } = await serve(completion('No, I', { finish_reason: 'length' }))
    expect(await chat()(messages)).toMatchObject({ text: 'No, I', cutOff: true })
  })
})

describe('tools', () => {
  const tools = [{ name: 'order_exam', description: 'Orders.', parameters: { type: 'object' } }]
  const called = (given: unknown, rest = {}) => ({
    ...{ id: 'x1', type: 'function' },
    function: { name: 'order_exam', arguments: given },
    ...rest,
  })
  const calling = (...calls: readonly unknown[]) => ({
    message: { role: 'assistant', content: null, tool_calls: calls },
    finish_reason: 'tool_calls',
  })
  const call = called('{"exam":"CT"}')

  test('are sent with the request, and so are earlier calls and their results', async () => {
    const { chat, requests } = await serve(json({ choices: [calling(call)] }))
    const talk: readonly Message[] = [
      { role: 'assistant', content: '', tool_calls: [called('{}') as never] },
      { role: 'tool', content: 'None.', tool_call_id: 'x1' },
    ]
    await chat()(talk, { tools })
    expect(requests[0]?.body).toEqual({
      ...{ model: 'm', messages: talk },
      tools: [{ type: 'function', function: tools[0] }],
    })
  })

  test('give calls, whatever the server makes of ids and arguments', async () => {
    const { chat } = await serve(
      json({ choices: [calling(call, called({ exam: 'CT' }, { id: null }))] }),
    )
    const { text, calls } = await chat()(messages, { tools })
    expect(text).toBe('')
    expect(calls).toEqual([call, { ...call, id: 'call00001' }])
  })

  test('give calls from a stream, piece by piece', async () => {
    const piece = (delta: object, finish: string | null = null) => ({
      choices: [{ delta, finish_reason: finish }],
    })
    const part = (index: number, given: object) => piece({ tool_calls: [{ index, ...given }] })
    const { chat } = await serve(
      events(
        piece({ reasoning_content: 'A ' }),
        piece({ reasoning_content: 'scan.' }),
        part(0, { id: 'x1', function: { name: 'order_exam', arguments: '' } }),
        part(0, { function: { arguments: '{"exam"' } }),
        part(1, { id: 'x2', function: { name: 'order_exam', arguments: '{}' } }),
        part(0, { function: { arguments: ':"CT"}' } }),
        piece({}, 'tool_calls'),
        '[DONE]',
      ),
    )
    const heard: string[] = []
    const onText = (text: string) => heard.push(text)
    const reply = await chat()(messages, { tools, onText })
    expect(reply).toMatchObject({ text: '', reasoning: 'A scan.' })
    expect(reply.calls).toEqual([call, { ...called('{}'), id: 'x2' }])
    expect(heard).toEqual([])
  })

  test('that the server does not have are named in its refusal', async () => {
    const { chat } = await serve(json({ error: { message: 'unknown field' } }, 400))
    await expect(chat()(messages, { tools })).rejects.toThrow(/asked for tool calls, which not/)
  })
})

test.each(['reasoning_content', 'reasoning'])('%s is told apart from the text', async (name) => {
  const choice = (content: string | null) => ({
    choices: [{ message: { content, [name]: 'It may be flu.' }, finish_reason: 'stop' }],
  })
  const { chat } = await serve(json(choice('Any fever?')), json(choice(null)))
  expect(await chat()(messages)).toMatchObject({ text: 'Any fever?', reasoning: 'It may be flu.' })
  // A model that only thought: its own mistake.
  expect(await chat()(messages)).toMatchObject({ text: '', reasoning: 'It may be flu.' })
})

describe('limits are those of the server', () => {
  test('two models of one address share its places', async () => {
    let [now, most] = [0, 0]
    const { chat } = await serve((response, request) => {
      most = Math.max(most, ++now)
      setTimeout(() => {
        now--
        completion('x')(response, request)
      }, 15)
    })
    const [doctor, patient] = [chat({ concurrency: 3 }), chat({ concurrency: 3, model: 'n' })]
    await Promise.all(Array.from({ length: 12 }, (_, n) => (n % 2 ? doctor : patient)(messages)))
    expect(most).toBe(3)
  })

  test('requests per minute are evenly spaced', async () => {
    const starts: number[] = []
    const { chat } = await serve((response, request) => {
      starts.push(performance.now())
      completion('x')(response, request)
    })
    const slow = chat({ requestsPerMinute: 1200 })
    await Promise.all(Array.from({ length: 5 }, () => slow(messages)))
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(4 * 50 - 25)
  })
})

describe('askJson', () => {
  const Shape = z.strictObject({ fever: z.boolean(), days: z.number().int() })
  const ask = (chat: Parameters<typeof askJson>[0]) =>
    askJson(chat, messages, Shape, { name: 'history', seed: 1 })

  test('sends the schema and reads the value, in a fence or after reasoning', async () => {
    const { chat, requests } = await serve(
      completion('{"fever":true,"days":2}'),
      completion('<think>hm</think>```json\n{"fever":false,"days":0}\n```'),
    )
    expect(await ask(chat())).toEqual({ fever: true, days: 2 })
    expect(await ask(chat())).toEqual({ fever: false, days: 0 })
    expect(requests[0]?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: {
        ...{ name: 'history', strict: true },
        schema: { type: 'object', required: ['fever', 'days'], additionalProperties: false },
      },
    })
  })

  test('shows the model what does not fit, once', async () => {
    const { chat, requests } = await serve(
      completion('{"fever":"yes","days":2}'),
      completion('{"fever":true,"days":2}'),
    )
    expect(await ask(chat())).toEqual({ fever: true, days: 2 })
    const shown = z.object({ content: z.string() }).array().parse(requests[1]?.body.messages)
    expect(shown.map(({ content }) => content)).toEqual([
      'Any fever?',
      '{"fever":"yes","days":2}',
      expect.stringContaining('fever'),
    ])
  })

  test.each([
    ['prose', 'I would say yes.'],
    ['a wrong schema', '{"fever":true}'],
  ])('is a fault for %s twice', async (_, reply) => {
    const { chat, requests } = await serve(completion(reply))
    await expect(ask(chat())).rejects.toMatchObject({
      kind: 'unparsable',
      code: 'model-unreadable',
    })
    expect(requests).toHaveLength(2)
  })

  test.each([
    ['object', { type: 'json_object' }],
    ['prompt', undefined],
  ] as const)('asks a server that knows no schemas in words: %s', async (form, format) => {
    const { chat, requests } = await serve(completion('{"fever":true,"days":2}'))
    await ask(chat({ json: form }))
    expect(requests[0]?.body.response_format).toEqual(format)
    expect(JSON.stringify(requests[0]?.body.messages)).toContain('JSON Schema')
  })
})
