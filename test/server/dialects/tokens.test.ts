import { describe, expect, test } from 'vitest'
import { open } from '../../trainers/tokens/conversation.js'
import { questions, testServer } from '../client.js'

const limits = { max_tokens: 60, context_length: 10_000 }

/** A session in tokens, and a model that says what it is told to. */
async function tokenClient(options: object = {}) {
  const tokenizer = await open('qwen')
  const tested = await testServer({ tokenizer })
  const opened = await tested.request('POST', '/v1/token-sessions', { ...limits, ...options })
  const path = `/v1/token-sessions/${opened.body.session}`
  const drawn = (index: number, text: string) => {
    const tokens = [...tokenizer.encode(text, { special: false }), tokenizer.ends[0] ?? 0]
    return { index, tokens, logprobs: tokens.map((_, n) => -n / 8), version: 3 }
  }
  const draw = (index: number, text: string) =>
    tested.request('POST', `${path}/draws`, drawn(index, text))
  return { ...tested, tokenizer, opened, path, drawn, draw }
}

describe('sessions in tokens', () => {
  test('read and score what a session in words does', async () => {
    const { request, tokenizer, opened, draw } = await tokenClient({ seed: 7 })
    expect(opened.status).toBe(201)
    const words = await request('POST', '/v1/sessions', { seed: 7 })
    const { prompt } = words.body.observation
    expect(opened.body).toMatchObject({
      ...{ done: false, index: 0, max_tokens: 60 },
      prompt: tokenizer.encodeChat(prompt, { addGenerationPrompt: true }),
      stop: tokenizer.ends,
    })
    const path = `/v1/sessions/${words.body.session}/steps`
    let before: number[] = opened.body.prompt
    for (const [index, message] of questions.entries()) {
      const { body } = await draw(index, message)
      const said = await request('POST', path, { action: { message } })
      expect(body.prompt.slice(0, before.length)).toEqual(before)
      expect(tokenizer.decode(body.prompt.slice(-body.heard))).toContain(
        said.body.observation.message,
      )
      expect(body.index).toBe(index + 1)
      before = body.prompt
    }
    const end = await draw(questions.length, 'Diagnosis: influenza')
    const last = await request('POST', path, { action: { message: 'Diagnosis: influenza' } })
    expect(end.body).toMatchObject({
      ...{ done: true, forks: 0, turns: questions.length + 1 },
      ...{ reward: last.body.reward, score: last.body.observation.score },
    })
  })

  test('take a draw once, and go on at another server', async () => {
    const { draw, drawn, request, path } = await tokenClient({ seed: 2 })
    const first = await draw(0, questions[0] ?? '')
    expect(await draw(0, questions[0] ?? '')).toEqual(first)
    expect((await draw(0, questions[1] ?? '')).status).toBe(409)
    expect((await draw(5, questions[1] ?? '')).status).toBe(409)
    const { session: _, ...at } = (await request('GET', path)).body
    expect(at).toEqual({ options: { seed: 2 }, ...first.body })
    const again = await tokenClient({ seed: 2, draws: [drawn(0, questions[0] ?? '')] })
    expect(again.opened.body).toMatchObject(first.body)
  })

  test.each([
    [{ tokens: [] }, '`tokens`'],
    [{ tokens: [1.5] }, 'tokens'],
    [{ tokens: [1], logprobs: [] }, '`logprobs`'],
    [{ tokens: [1], logprobs: [0.5] }, 'at most 0'],
    [{ token: [1] }, 'did you mean tokens?'],
  ])('refuse the draw %j by name', async (over, says) => {
    const { request, path, failures } = await tokenClient()
    const { status, body } = await request('POST', `${path}/draws`, {
      ...{ index: 0, tokens: [1], logprobs: [-1], version: 0 },
      ...over,
    })
    expect(status).toBe(400)
    expect(body.error.message).toContain(says)
    expect(failures).toEqual([])
  })

  test('are not sessions in words, end once, and need a tokenizer', async () => {
    const { request, opened, path } = await tokenClient()
    expect((await request('GET', `/v1/sessions/${opened.body.session}`)).status).toBe(404)
    const words = await request('POST', '/v1/sessions', {})
    expect((await request('GET', `/v1/token-sessions/${words.body.session}`)).status).toBe(404)
    expect((await request('DELETE', path)).status).toBe(204)
    expect((await request('DELETE', path)).status).toBe(410)
    const { request: without } = await testServer()
    const refused = await without('POST', '/v1/token-sessions', limits)
    expect(refused.body.error.message).toContain('--tokenizer')
  })
})
