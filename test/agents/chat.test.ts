import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { chatDoctor } from '../../src/agents/chat.js'
import { diagagentActions } from '../../src/agents/grammars/diagagent.js'
import { toolCalling } from '../../src/agents/grammars/tool-calling.js'
import type { Chat, ChatOptions, Message } from '../../src/chat.js'
import { openaiChat } from '../../src/chats/openai.js'
import type { Observation } from '../../src/env.js'
import { Fault } from '../../src/error.js'

const observation: Observation = {
  intake: { view: 'doctor', demographics: { speaker: 'self' }, complaint: { en: 'I cough.' } },
  turns: [],
  turnsLeft: 3,
  spent: { money: 0, minutes: 0 },
  budget: { money: 300, minutes: 60 },
  language: 'en',
}

/** A model that says the next line of a script, and remembers what it was asked. */
function scripted(...lines: string[]) {
  const calls: { messages: readonly Message[]; options: ChatOptions }[] = []
  const chat: Chat = async (messages, options = {}) => {
    calls.push({ messages, options })
    return { text: lines[calls.length - 1] ?? '', usage: { promptTokens: 1, completionTokens: 1 } }
  }
  return { chat, calls }
}

describe('chatDoctor', () => {
  test('makes a move of the reply, and keeps the reply as it was written', async () => {
    const text = '<think>cough</think>Question: Any fever?'
    const move = await chatDoctor({ chat: scripted(text).chat })(observation, { seed: 1 })
    expect(move).toEqual({ action: { kind: 'ask', text: 'Any fever?' }, text })
  })

  test('an unreadable reply is an invalid action, not an error', async () => {
    const { chat, calls } = scripted('hello')
    const { action } = await chatDoctor({ chat })(observation, { seed: 1 })
    expect(action.kind).toBe('invalid')
    expect(calls).toHaveLength(1)
  })

  test('with retries the model is told why, without its hidden reasoning', async () => {
    const { chat, calls } = scripted('<think>secret</think>hello', 'Order: CT')
    const { action } = await chatDoctor({ chat, maxRetries: 2 })(observation, { seed: 1 })
    expect(action).toEqual({ kind: 'order', exam: 'CT' })
    expect(calls[1]?.messages.slice(-2)).toEqual([
      { role: 'assistant', content: 'hello' },
      { role: 'user', content: expect.stringContaining('Begin a line with') },
    ])
  })

  test('seeds are a function of the agent seed, the turn and the attempt', async () => {
    const seedsOf = async (seed: number) => {
      const { chat, calls } = scripted('a', 'b', 'Order: CT')
      await chatDoctor({ chat, maxRetries: 2 })(observation, { seed })
      return calls.map(({ options }) => options.seed)
    }
    const [first, again, other] = [await seedsOf(1), await seedsOf(1), await seedsOf(2)]
    expect(again).toEqual(first)
    expect(new Set([...first, ...other]).size).toBe(6)
    for (const seed of first) expect(seed).toBeLessThan(2 ** 31)
  })

  test('a model that fails is a Fault, never a move', async () => {
    const chat: Chat = async () => {
      throw new Fault('model-unavailable', 'down')
    }
    const acting = Promise.resolve(chatDoctor({ chat })(observation, { seed: 1 }))
    await expect(acting).rejects.toMatchObject({ code: 'model-unavailable' })
  })

  test('reads its own replies again as it wrote them, without their reasoning, where its grammar keeps them', async () => {
    const order = 'Current diagnosis: gout\nUric acid is needed: uric acid\nReason: the toe.'
    const { chat, calls } = scripted(`<think>secret</think>${order}`, '<think>secret', order, order)
    const agent = chatDoctor({ chat, grammar: diagagentActions() })
    const first = await agent(observation, { seed: 1 })
    expect(first.action).toEqual({ kind: 'order', exam: 'uric acid' })
    const report = { kind: 'examined', text: 'High.' } as const
    const one = [{ action: first.action, outcome: report }]
    const second = await agent({ ...observation, turns: one }, { seed: 1, memory: first.memory })
    const said = (call: number) =>
      calls[call]?.messages.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
    expect(said(1)).toEqual([order])
    // What was hidden whole is read as it was rendered, and so are the turns of somebody else.
    const two = [...one, { action: second.action, outcome: report }]
    await agent({ ...observation, turns: two }, { seed: 1, memory: second.memory })
    expect(said(2)).toEqual([order, '(nothing that could be read)'])
    await agent({ ...observation, turns: two }, { seed: 1 })
    expect(said(3)?.[0]).toMatch(/^Current diagnosis: undetermined\nBased on/)
  })

  test('acts through functions where its grammar has them, and keeps the calls as it wrote them', async () => {
    const called = { name: 'order_exam', arguments: '{"exam":"CT"}' }
    const heard: ChatOptions[] = []
    const chat: Chat = async (_, options = {}) => {
      heard.push(options)
      return {
        ...{
          text: 'A scan.',
          reasoning: 'secret',
          usage: { promptTokens: 1, completionTokens: 1 },
        },
        calls: [{ id: 'a', type: 'function', function: called }],
      }
    }
    const { action, text } = await chatDoctor({ chat, grammar: toolCalling() })(observation, {
      seed: 1,
    })
    expect(action).toEqual({ kind: 'order', exam: 'CT' })
    expect(text).toMatch(
      /^<think>\nsecret\n<\/think>\nA scan\.\n<tool_call>\n.*CT.*\n<\/tool_call>$/,
    )
    expect(heard[0]?.tools?.map(({ name }) => name)).toContain('order_exam')
  })

  test('plays against a real server', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ choices: [{ message: { content: '诊断：感冒\n建议：休息' } }] }),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo // a TCP server
      const chat = openaiChat({ model: 'm', baseURL: `http://127.0.0.1:${port}/v1` })
      const { action } = await chatDoctor({ chat })(observation, { seed: 1 })
      expect(action).toEqual({ kind: 'diagnose', diagnosis: '感冒', recommendation: '休息' })
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
