/**
 * The client against a real server: llama.cpp's own, with a tiny model of random weights. What the model says is
 * nonsense, or what a grammar of the server lets it say; what is tested is the way there and back.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { chatDoctor } from '../../src/agents/chat.js'
import { toolCalling } from '../../src/agents/grammars/tool-calling.js'
import type { Message } from '../../src/chat.js'
import { modelFaultKind } from '../../src/chats/model-fault.js'
import { openaiChat, openaiCompletion } from '../../src/chats/openai.js'
import type { ModelSettings } from '../../src/chats/settings.js'
import { askJson } from '../../src/chats/structured.js'
import { writtenReply } from '../../src/chats/written-reply.js'
import type { Evaluation } from '../../src/evaluation/evaluate.js'
import { logprobVerifier } from '../../src/rewards/outcome/probability-verifiers.js'
import { readSavedEpisodes } from '../../src/storage/episode-files.js'
import { bedside, document } from '../cli/terminal.js'
import { seen } from '../fixtures/consulting.js'
import { describeWithPython, pythonOf } from '../fixtures/python.js'
import { callToken, type ServedModel, serveModel } from '../fixtures/served-model.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const messages: readonly Message[] = [{ role: 'user', content: 'Any fever?' }]

/** A grammar of the server: a doctor who asks one of two questions, or commits. */
const doctorGrammar = [
  'root ::= question | diagnosis',
  'question ::= "Question: " ("Do you cough?" | "Any fever?")',
  'diagnosis ::= "Diagnosis: " ("Influenza" | "Common cold") "\\nRecommendation: Rest."',
].join('\n')

describeWithPython('a model behind llama.cpp', 'served', () => {
  const interpreter = pythonOf('served') ?? ''
  let server: ServedModel
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bedside-real-'))
    server = await serveModel(interpreter)
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  const settings = (more: Partial<ModelSettings> = {}): ModelSettings => ({
    ...{ model: server.model, baseURL: server.baseURL, maxTokens: 24, maxRetries: 0 },
    ...more,
  })
  const chat = (more?: Partial<ModelSettings>) => openaiChat(settings(more))

  describe('in a chat', () => {
    test('says the same to the same seed, and counts its tokens', async () => {
      const say = (seed: number) => chat()(messages, { seed })
      const first = await say(3)
      expect(first.usage.promptTokens).toBeGreaterThan(5)
      expect(first.usage.completionTokens).toBeGreaterThan(0)
      expect((await say(3)).text).toBe(first.text)
      const others = await Promise.all([4, 5, 6].map(say))
      expect(new Set([first, ...others].map(({ text }) => text)).size).toBeGreaterThan(1)
    })

    test('gives ids, log-probs and the likeliest tokens', async () => {
      const body = { grammar: 'root ::= "yes" | "no"' }
      const { text, tokens } = await chat({ body })(messages, { topLogprobs: 3, seed: 1 })
      expect(['yes', 'no']).toContain(text)
      const { ids = [], logprobs = [], alternatives = [] } = tokens ?? {}
      expect(logprobs.length).toBeGreaterThan(0)
      for (const logprob of logprobs) expect(logprob).toBeLessThanOrEqual(0)
      expect([ids.length, alternatives.length]).toEqual([logprobs.length, logprobs.length])
      for (const place of alternatives) expect(place).toHaveLength(3)
    })

    test('streams the same reply, piece by piece', async () => {
      const pieces: string[] = []
      const onText = (piece: string) => pieces.push(piece)
      const streamed = await chat()(messages, { seed: 3, onText })
      expect(pieces.length).toBeGreaterThan(1)
      expect(pieces.join('')).toBe(streamed.text)
      const whole = await chat()(messages, { seed: 3 })
      expect(streamed).toMatchObject({ text: whole.text, usage: whole.usage })
    })

    test('stops before a stop string', async () => {
      const body = { grammar: 'root ::= "cough and fever"' }
      const { text } = await chat({ body })(messages, { stop: [' and'] })
      expect(text).toBe('cough')
    })

    test('goes on from a given beginning', async () => {
      const { text } = await chat()(messages, { prefix: 'Yes, since', maxTokens: 4, seed: 1 })
      expect(text.startsWith('Yes, since')).toBe(true)
      expect(text.length).toBeGreaterThan('Yes, since'.length)
    })

    test('gives JSON of a schema', async () => {
      const Shape = z.strictObject({ days: z.number().int(), fever: z.boolean() })
      const given = await askJson(chat({ maxTokens: 400 }), messages, Shape, {
        ...{ name: 'history', seed: 2, temperature: 0.2 },
      })
      expect(Shape.parse(given)).toEqual(given)
    })

    test('calls a function, and reads its result in the next turn', async () => {
      // The bias makes a model that knows nothing begin a call; the server holds it to the shape.
      const body = { tool_choice: 'required', logit_bias: { [callToken]: 100 } }
      const model = chat({ body, maxTokens: 400, stop: ['</tool_call>'] })
      const exam = { type: 'string', maxLength: 12 }
      const parameters = { type: 'object', properties: { exam }, required: ['exam'] }
      const tools = [{ name: 'order_exam', description: 'Orders.', parameters }]
      const { text, calls = [], ...reply } = await model(messages, { tools, seed: 1 })
      expect([text, calls.length, reply.cutOff]).toEqual(['', 1, undefined])
      expect(JSON.parse(calls[0]?.function.arguments ?? '')).toEqual({ exam: expect.any(String) })
      expect(toolCalling().parse(writtenReply({ text, calls })).kind).toBe('order')
      const talk: readonly Message[] = [
        ...[...messages, { role: 'assistant', content: '', tool_calls: calls } as const],
        { role: 'tool', content: 'Normal.', tool_call_id: calls[0]?.id ?? '' },
      ]
      const next = await model(talk, { tools, seed: 2 })
      expect(next.calls?.[0]?.function.name).toBe('order_exam')
      expect(next.usage.promptTokens).toBeGreaterThan(reply.usage.promptTokens)
    })

    test('is not the world that fails where the model breaks off a call', async () => {
      const body = { tool_choice: 'required', logit_bias: { [callToken]: 100 } }
      const agent = chatDoctor({ chat: chat({ body, maxTokens: 6 }), grammar: toolCalling() })
      const { action } = await agent(seen([]), { seed: 1 })
      expect(action.kind).toBe('invalid')
    })

    test('gives a verifier its probability', async () => {
      const body = { grammar: 'root ::= "True" | "False"' }
      const verify = logprobVerifier({ chat: chat({ body }), prefix: '<think>\n\n</think>\n\n' })
      const p = await verify('What ails her?', 'influenza', 'flu')
      expect(p).toBeGreaterThan(0)
      expect(p).toBeLessThan(1)
    })
  })

  test('goes on with a text and with tokens', async () => {
    const body = { grammar: 'root ::= (" no" | " cough" | " fever")+' }
    const complete = openaiCompletion(settings({ body }))
    const options = { maxTokens: 6, topLogprobs: 2, seed: 1 }
    const text = await complete('Any fever?', options)
    expect(text.usage.completionTokens).toBeLessThanOrEqual(6)
    expect(text.tokens?.logprobs?.length).toBeGreaterThan(0)
    expect(text.tokens?.alternatives?.[0]).toHaveLength(2)
    const tokens = await complete([5, 6, 7], options)
    expect(tokens.usage.promptTokens).toBe(3)
    const pieces: string[] = []
    const streamed = await complete('Any fever?', {
      ...{ maxTokens: 6, seed: 1 },
      onText: (piece) => pieces.push(piece),
    })
    expect([streamed.text, pieces.join('')]).toEqual([text.text, text.text])
  })

  test.each<[string, readonly Message[], Partial<ModelSettings>]>([
    ['context-length', [{ role: 'user', content: 'fever '.repeat(9000) }], {}],
    ['refused', messages, { body: { grammar: 'root ::= (' } }],
  ])('says why it will not: %s', async (kind, asked, more) => {
    const fault = await chat(more)(asked).catch((error: unknown) => error)
    expect(modelFaultKind(fault)).toBe(kind)
  })

  const flags = (at: ServedModel, ...more: readonly string[]) => [
    ...['--agent', 'chat', '--model', at.model, '--base-url', at.baseURL, ...more],
    ...['--set', `models.doctor.body=${JSON.stringify({ grammar: doctorGrammar })}`],
    ...['--set', 'models.doctor.max-tokens=64', '--set', 'models.doctor.max-retries=0'],
  ]

  test('is a doctor in a consultation', async () => {
    const episode = z
      .object({ turns: z.array(z.object({ action: z.object({ kind: z.string() }) })).min(1) })
      .parse(await document(['consult', ...flags(server)]))
    for (const { action } of episode.turns) expect(['ask', 'diagnose']).toContain(action.kind)
  })

  test('is recorded, and plays again from the recording when the server is gone', async () => {
    await using own = await serveModel(interpreter)
    const cassette = join(folder, 'cassette.jsonl')
    const play = async (name: string, mode: string) =>
      (await document([
        ...['evaluate', ...flags(own, '--cases', '6', '--out', join(folder, name))],
        ...['--set', `models.cassette.file=${cassette}`, '--set', `models.cassette.mode=${mode}`],
      ])) as Evaluation // with --json it is one
    const first = await play('recorded', 'record')
    expect(first.episodes).toBe(6)
    expect(first.usage.doctor?.promptTokens).toBeGreaterThan(100)
    await own.kill()
    const again = await play('replayed', 'strict')
    expect({ ...again, timing: 0 }).toEqual({ ...first, timing: 0 })
    const episodes = (name: string) => readFileSync(join(folder, name, 'episodes.jsonl'), 'utf8')
    expect(episodes('replayed').split('\n').sort()).toEqual(episodes('recorded').split('\n').sort())
  })

  test('that dies in the middle loses what it did not say, and nothing else; started again, the run goes on', async () => {
    await using own = await serveModel(interpreter)
    const out = join(folder, 'killed')
    const port = Number(new URL(own.baseURL).port)
    const argv = ['evaluate', ...flags(own, '--cases', '40', '--concurrency', '2', '--out', out)]
    const running = bedside(argv)
    const file = join(out, 'episodes.jsonl')
    for (let lines = 0; lines < 5; ) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0
    }
    await own.kill()
    const { code, stderr } = await running
    await using restarted = await serveModel(interpreter, port)
    const resumed = (await document(['evaluate', '--resume', out])) as Evaluation
    expect(restarted.baseURL).toBe(own.baseURL)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /\d+ of 40 consultations are kept[\s\S]*evaluate --resume[\s\S]*ECONNREFUSED/,
    )
    expect(resumed.episodes).toBe(40)
    for await (const { episode } of readSavedEpisodes(file))
      for (const { action } of episode.turns) expect(['ask', 'diagnose']).toContain(action.kind)
  })
})
