import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Finding, PatientView } from '../../../../src/case.js'
import { openaiChat } from '../../../../src/chats/openai.js'
import { freePatient } from '../../../../src/envs/patients/free/free.js'
import type { PatientContext } from '../../../../src/patient.js'

const finding = (id: string, rest: Partial<Finding>): [string, Finding] => [
  id,
  { id, kind: 'symptom', state: 'present', knownBy: 'patient', salience: 0.5, stigma: 0, ...rest },
]
const view: PatientView = {
  view: 'patient',
  demographics: { age: { v: 30, unit: 'year' }, sex: 'F', speaker: 'self' },
  complaint: { text: { en: 'I feel ill.', zh: '我不舒服。' }, findings: [] },
  findings: new Map([
    finding('sore-throat', {}),
    finding('cough', { state: 'absent' }),
    finding('temperature', { state: 'high', value: 39.1 }),
    finding('recorded-1', { question: { zh: '咳嗽吗？' }, utterance: { zh: '有点咳。' } }),
  ]),
  persona: {},
  noise: { forget: 0, deny: 0, overReport: 0 },
}
const context: PatientContext = { view, dialogue: [], seed: 5, language: 'en' }

let reply: { readonly status: number; readonly body: unknown }
const asked: { messages: { role: string; content: string }[]; seed?: number }[] = []
const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  asked.push(JSON.parse(text))
  response.writeHead(reply.status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(reply.body))
})
const says = (content: string) => {
  asked.length = 0
  reply = { status: 200, body: { choices: [{ message: { content } }] } }
}
const patient = () => {
  const { port } = server.address() as AddressInfo // a TCP server
  const baseURL = `http://127.0.0.1:${port}/v1`
  return freePatient({ chat: openaiChat({ model: 'm', baseURL, maxRetries: 0 }) })
}
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('freePatient', () => {
  test('answers with the words of the model, and without a knowledge base nobody knows what it told', async () => {
    says('<think>throat</think>My throat hurts.')
    expect(await patient()('What hurts? Since when?', context)).toEqual({
      text: 'My throat hurts.',
      understood: 'answered',
      questions: 2,
      asked: [],
      told: [],
      unread: ['understood', 'asked', 'told'],
      flags: [],
    })
  })

  test('the model reads the facts of the view, the dialogue and the question, and nothing else', async () => {
    says('No.')
    const before = {
      text: 'Yes.',
      understood: 'answered',
      questions: 1,
      asked: [],
      told: [],
    } as const
    await patient()('Any cough?', { ...context, dialogue: [{ utterance: 'Pain?', reply: before }] })
    const [system, ...rest] = asked[0]?.messages ?? []
    expect(system?.content).toContain(
      'The patient: female, 30 years old\nYou came because: I feel ill.\nWhat you know:\n- sore throat: yes\n- cough: no\n- temperature: high (39.1)\n- 咳嗽吗？: 有点咳。',
    )
    expect(JSON.stringify(asked[0])).not.toContain('influenza')
    expect(rest).toEqual([
      { role: 'user', content: 'Pain?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Any cough?' },
    ])
  })

  test('the same question in the same state has the same seed', async () => {
    says('No.')
    const reply = {
      text: 'No.',
      understood: 'answered',
      questions: 1,
      asked: [],
      told: [],
    } as const
    const later = { ...context, dialogue: [{ utterance: 'Pain?', reply }] }
    await patient()('Any cough?', context)
    await patient()('Any cough?', context)
    await patient()('Any fever?', context)
    await patient()('Any cough?', later)
    await patient()('Any cough?', { ...later, dialogue: [{ utterance: 'Rash?', reply }] })
    const seeds = asked.map(({ seed }) => seed)
    expect(seeds[1]).toBe(seeds[0])
    expect(new Set(seeds).size).toBe(4)
  })

  test('speaks the language of the consultation', async () => {
    says('No.')
    await patient()('咳嗽吗？', { ...context, language: 'zh' })
    expect(asked[0]?.messages[0]?.content).toContain('就诊原因：我不舒服。')
  })

  test('a model that fails, or says nothing aloud, is a Fault and never an answer', async () => {
    says('<think>only thoughts')
    await expect(patient()('Any cough?', context)).rejects.toMatchObject({
      code: 'model-unreadable',
    })
    reply = { status: 500, body: {} }
    await expect(patient()('Any cough?', context)).rejects.toMatchObject({
      code: 'model-unavailable',
    })
  })
})
