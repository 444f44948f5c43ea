import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { ChatReply } from '../../../src/chat.js'
import type { ClassifierVerifierOptions } from '../../../src/rewards/outcome/probability-verifiers.js'
import {
  classifierVerifier,
  logprobVerifier,
} from '../../../src/rewards/outcome/probability-verifiers.js'

const usage = { promptTokens: 0, completionTokens: 0 }
const chances = (...of: readonly (readonly [string, number])[]) =>
  of.map(([token, p]) => ({ token, logprob: Math.log(p) }))

describe('the log-prob verifier', () => {
  const judged = (text: string, tokens?: ChatReply['tokens']) =>
    logprobVerifier({ chat: async () => ({ text, usage, ...(tokens ? { tokens } : {}) }) })(
      'q',
      'r',
      'a',
    )

  test.each<[string, ChatReply['tokens'], number]>([
    ['True', { logprobs: [Math.log(0.8)] }, 0.8],
    ['False', { logprobs: [Math.log(0.8)] }, 0.2],
    ['**True**', { logprobs: [Math.log(0.9), Math.log(0.6), Math.log(0.99)] }, 0.6],
    ['True', { alternatives: [chances(['True', 0.6], ['False', 0.2], ['Yes', 0.2])] }, 0.75],
    ['False', { alternatives: [chances([' False', 0.5], ['true', 0.25], ['False', 0.25])] }, 0.25],
    [
      '"True"',
      {
        logprobs: [0, -9, 0],
        alternatives: [chances(['"', 1]), chances(['True', 0.9], ['False', 0.1])],
      },
      0.9,
    ],
  ])('%#: reads %j', async (text, tokens, p) => {
    expect(await judged(text, tokens)).toBeCloseTo(p, 12)
  })

  test.each<[string, ChatReply['tokens'], RegExp]>([
    ['True', undefined, /log-probs/],
    ['True', { logprobs: [] }, /log-probs/],
    ['Yes', { logprobs: [0] }, /expected True or False, got `Yes`/],
  ])('cannot read %j', async (text, tokens, message) => {
    const verdict = judged(text, tokens)
    await expect(verdict).rejects.toMatchObject({ code: 'model-unreadable' })
    await expect(verdict).rejects.toThrow(message)
  })

  test('makes a model that would think first begin with its verdict', async () => {
    const prefix = 'Verdict: '
    const verifier = logprobVerifier({
      prefix,
      chat: async (_, options) => {
        expect(options).toMatchObject({ prefix, topLogprobs: 5 })
        const alternatives = [chances(['True', 0.3], ['False', 0.1])]
        return { text: `${prefix}True`, usage, tokens: { alternatives } }
      },
    })
    expect(await verifier('q', 'r', 'a')).toBeCloseTo(0.75, 12)
  })

  test('asks for log-probs, and for one word', async () => {
    const verifier = logprobVerifier({
      chat: async (_, options) => {
        expect(options).toMatchObject({ logprobs: true, temperature: 0, maxTokens: 8 })
        return { text: 'True', usage, tokens: { logprobs: [0] } }
      },
    })
    expect(await verifier('q', 'r', 'a')).toBe(1)
  })
})

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server that answers each request in turn, the last answer for ever; and the bodies it was sent. */
async function serving(...answers: readonly ((response: ServerResponse) => void)[]) {
  const bodies: unknown[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const answer = answers[Math.min(bodies.push(JSON.parse(text)), answers.length) - 1]
      answer?.(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // listening on a port, not on a pipe
  return { url: `http://127.0.0.1:${port}/classify`, bodies }
}
const saying =
  (body: unknown, status = 200) =>
  (response: ServerResponse) => {
    response.statusCode = status
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
const vllm = (...probs: readonly number[]) => saying({ data: [{ index: 0, label: 'x', probs }] })

describe('the classifier verifier', () => {
  const quick = { backoffMs: 1, timeoutMs: 2000 }

  test('sends the two blocks of the published input, without the question and hidden reasoning', async () => {
    const { url, bodies } = await serving(vllm(0.3, 0.7))
    const options = { url, model: 'verifier', instruction: 'True or False?', end: '<end>' }
    const verifier = classifierVerifier(options)
    expect(await verifier('the question', 'Gout', '<think>hm</think>Podagra')).toBeCloseTo(0.7)
    expect(bodies).toEqual([
      {
        model: 'verifier',
        input:
          '<Model Response>\nPodagra\n</Model Response>\n\n<Reference Answer>\nGout\n</Reference Answer>\n\nTrue or False? <end>',
        add_special_tokens: false,
      },
    ])
  })

  test.each<
    [string, Partial<ClassifierVerifierOptions>, (response: ServerResponse) => void, number]
  >([
    ['the other class of vLLM', { label: 0 }, vllm(0.3, 0.7), 0.3],
    [
      'text-embeddings-inference',
      { wire: 'tei' },
      saying([
        { score: 0.9, label: 'LABEL_1' },
        { score: 0.1, label: 'LABEL_0' },
      ]),
      0.9,
    ],
    [
      'the same in a list, by name',
      { wire: 'tei', label: 'right' },
      saying([
        [
          { score: 0.6, label: 'wrong' },
          { score: 0.4, label: 'right' },
        ],
      ]),
      0.4,
    ],
  ])('%s', async (_, options, answer, p) => {
    const { url } = await serving(answer)
    expect(await classifierVerifier({ url, ...options })('', 'r', 'a')).toBeCloseTo(p, 12)
  })

  test('tries again where the server fails, and no more than it may', async () => {
    const once = await serving(saying('busy', 503), vllm(0, 1))
    expect(await classifierVerifier({ url: once.url, ...quick })('', 'r', 'a')).toBe(1)
    const down = await serving(saying('busy', 503))
    const verdict = classifierVerifier({ url: down.url, ...quick, maxRetries: 2 })('', 'r', 'a')
    await expect(verdict).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining('HTTP 503: busy'),
    })
    expect(down.bodies).toHaveLength(3)
    const refused = await serving(saying('no such model', 404))
    await expect(classifierVerifier({ url: refused.url, ...quick })('', 'r', 'a')).rejects.toThrow(
      /404/,
    )
    expect(refused.bodies).toHaveLength(1)
  })

  test.each<[string, unknown]>([
    ['prose', 'True'],
    ['one class', { data: [{ probs: [1] }] }],
    ['logits', { data: [{ probs: [-2.1, 3.4] }] }],
    ['probabilities that do not sum to 1', { data: [{ probs: [0.9, 0.9] }] }],
    ['an error with status 200', { error: 'out of memory' }],
    ['nothing', ''],
  ])('%s is no probability', async (_, body) => {
    const { url } = await serving(saying(body))
    await expect(
      classifierVerifier({ url, ...quick, maxRetries: 0 })('', 'r', 'a'),
    ).rejects.toMatchObject({ code: 'model-unreadable' })
  })

  test('a class that does not exist, a stalled body, an abort', async () => {
    const { url } = await serving(vllm(0.3, 0.7))
    await expect(classifierVerifier({ url, label: 2 })('', 'r', 'a')).rejects.toThrow(
      /2 among them/,
    )
    const stalled = await serving((response) => response.write('{"data":'))
    const slow = { url: stalled.url, backoffMs: 1, timeoutMs: 50, maxRetries: 0 }
    await expect(classifierVerifier(slow)('', 'r', 'a')).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining('no reply within 50 ms'),
    })
    const stop = new AbortController()
    const verdict = classifierVerifier({ ...slow, timeoutMs: 60_000 })('', 'r', 'a', {
      signal: stop.signal,
    })
    stop.abort(new Error('enough'))
    await expect(verdict).rejects.toMatchObject({ code: 'aborted' })
  })

  test.each(['localhost:8000', 'ftp://x/classify', 'http://me:secret@host/classify'])(
    '%s is no address',
    (url) => {
      expect(() => classifierVerifier({ url })).toThrow(/Expected/)
      expect(() => classifierVerifier({ url })).not.toThrow(/secret/)
    },
  )
})
