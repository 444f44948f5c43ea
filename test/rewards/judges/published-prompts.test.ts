/** The facts of the published prompts: messages, fields in their order, marks, format of the reply, sampling. */
import { describe, expect, test } from 'vitest'
import type { Chat, ChatOptions, Message } from '../../../src/chat.js'
import { chatJudge } from '../../../src/rewards/judges/chat-judge.js'
import type { JudgeContext, JudgeRequest } from '../../../src/rewards/judges/judge.js'
import {
  judgePromptsOf,
  type PublishedPrompts,
  publishedPrompts,
} from '../../../src/rewards/judges/published-prompts.js'
import { presetNames } from '../../../src/rewards/named.js'

const dialogue = [
  { role: 'doctor', text: '<reason>R1</reason>Any D1?' },
  { role: 'patient', text: 'P1 {diagnosis}' },
] as const
const requests = {
  conduct: {
    ...{ task: 'patient-conduct', profile: 'SELF', dialogue },
    ...{ diagnosis: 'GOLD', recommendation: 'ADVICE' },
  },
  same: { task: 'same-diagnosis', reference: 'GOLD', answer: 'SAID' },
  ordered: {
    ...{ task: 'count-matched', items: ["St. Jude's", 'CBC'], list: ['ECG'], itemsAre: 'ordered' },
  },
  required: { task: 'count-matched', items: ['ECG'], list: ['CBC'], itemsAre: 'required' },
  similar: { task: 'similarity', of: 'diagnosis', reference: 'GOLD', answer: 'SAID' },
  graded: { task: 'consultation', grade: 'all', disease: 'GOLD', diagnosis: 'SAID', dialogue },
} as const satisfies Readonly<Record<string, JudgeRequest>>

/** What the chat is asked: messages and options. */
async function rendered(
  prompts: PublishedPrompts | 'own',
  request: JudgeRequest,
  context?: JudgeContext,
): Promise<{ readonly messages: readonly Message[]; readonly options: ChatOptions }> {
  const seen: { messages: readonly Message[]; options: ChatOptions }[] = []
  const chat: Chat = async (messages, options = {}) => {
    seen.push({ messages, options })
    return { text: '', usage: { promptTokens: 0, completionTokens: 0 } }
  }
  await chatJudge({ chat, name: 'm', prompts })(request, context)
  const [first] = seen
  if (!first) throw new Error('the chat was not asked')
  return first
}

/** The parts of a text, each after the one before it. */
function expectInOrder(text: string, parts: readonly string[]): void {
  let from = 0
  for (const part of parts) {
    const at = text.indexOf(part, from)
    expect(at, `${JSON.stringify(part)} after ${from} in ${text}`).toBeGreaterThanOrEqual(0)
    from = at + part.length
  }
}

test.each<[PublishedPrompts, keyof typeof requests, ChatOptions, readonly string[]]>([
  [
    'takestwo',
    'conduct',
    { temperature: 0.6, seed: 0 },
    [
      'Original self-report: SELF\nDiagnosis: GOLD\nRecommendation: ADVICE\n',
      'Doctor：<reason>R1</reason>Any D1?\nPatient：P1 {diagnosis}\n',
      'max(0, 1 - 0.2 ×',
      'max(0, 1 - 0.2 ×',
      'min(1, 1 - 0.2 ×',
      '"information_control_rate": float',
      '"response_completeness_rate": float',
      '"factual_conflict_rate": float\n}',
    ],
  ],
  [
    'diagagent',
    'same',
    { temperature: 0, seed: 42, maxTokens: 1024 },
    ['\n[Correct|Wrong]\n', '\n[pred_diag]\nSAID\n\n[gt_diag]\nGOLD'],
  ],
  [
    'diagagent',
    'ordered',
    { temperature: 0, seed: 42, maxTokens: 1024 },
    ["Key exam list: ['ECG']\nRecommended exam list: [\"St. Jude's\", 'CBC']\n", 'example: 3'],
  ],
  [
    'diagagent',
    'required',
    { temperature: 0, seed: 42, maxTokens: 1024 },
    ["Key exam list: ['ECG']\nRecommended exam list: ['CBC']\n", 'example: 2'],
  ],
  [
    'doctoragent-rl',
    'similar',
    { temperature: 0.01, seed: 0, maxTokens: 256 },
    [
      ...['\n5: ', '\n4: ', '\n3: ', '\n2: ', '\n1: ', '\n0: '],
      'Models\' Prediction: "SAID"\nGround-truth: "GOLD"\n',
      '<think>',
      '</think><answer>',
    ],
  ],
  [
    'grpodx-readme',
    'graded',
    { temperature: 0.2, seed: 0, maxTokens: 256 },
    [
      'The patient had: GOLD\n',
      ...['\n1. ', '\n2. ', '\n3. ', '\n4. '],
      ...['0.9-1.0', '0.7-0.8', '0.5-0.6', '0.3-0.4', '0.0-0.2'],
      'Conversation to evaluate:\nDoctor: <reason>R1</reason>Any D1?\nPatient: P1',
    ],
  ],
  [
    'grpodx-techspec',
    'graded',
    { seed: 0 },
    [
      'The hidden disease was: GOLD.',
      '[0..1]',
      '\n1) ',
      '\n2) ',
      '\n3) ',
      'Conversation:\nDoctor: ',
    ],
  ],
  [
    'grpodx-head',
    'graded',
    { temperature: 0.1, seed: 0, maxTokens: 20 },
    [
      "Hidden condition: GOLD\nDoctor's final diagnosis: SAID\n\nConversation:\nDoctor: ",
      ...['70%', '30%'],
    ],
  ],
])('%s, %s', async (prompts, request, settings, parts) => {
  const { messages, options } = await rendered(prompts, requests[request])
  expect(messages.map(({ role }) => role)).toEqual(
    prompts === 'grpodx-head' ? ['system', 'user'] : ['user'],
  )
  expect(options).toEqual({ ...settings, prompt: `chat-judge-${prompts}/1`, signal: undefined })
  expectInOrder(messages.at(-1)?.content ?? '', parts)
})

test('the answer that is judged stands after everything that is ours, or where the release has it', async () => {
  const { messages } = await rendered('diagagent', requests.same)
  expect(messages[0]?.content.endsWith('[pred_diag]\nSAID\n\n[gt_diag]\nGOLD')).toBe(true)
})

test.each([
  ['doctoragent-rl', 'same'],
  ['takestwo', 'graded'],
] as const)('%s has no prompt for %s: ours is asked', async (prompts, request) => {
  const [own, other] = [
    await rendered('own', requests[request]),
    await rendered(prompts, requests[request]),
  ]
  expect(other.messages).toEqual(own.messages)
  expect(own.options.prompt).toBe('chat-judge/1')
})

describe('each try', () => {
  test.each([
    ['own', 'same', [0, 1, 200, 201]],
    ['takestwo', 'conduct', [0, 1, 200, 201]],
    // As released: the same seed ten times.
    ['diagagent', 'ordered', [42, 42, 42, 42]],
  ] as const)('%s: %s has the seed', async (prompts, request, seeds) => {
    const tries = [{}, { attempt: 1 }, { vote: 2 }, { vote: 2, attempt: 1 }]
    const asked = await Promise.all(tries.map((one) => rendered(prompts, requests[request], one)))
    expect(asked.map(({ options }) => options.seed)).toEqual(seeds)
  })

  test('may show what is compared the other way round, with the same data', async () => {
    const [one, other] = await Promise.all(
      [false, true].map((swapped) => rendered('own', requests.same, { swapped })),
    )
    const [first, second] = [one, other].map((asked) => asked?.messages[1]?.content ?? '')
    expectInOrder(first ?? '', ['"reference"', '"answer"'])
    expectInOrder(second ?? '', ['"answer"', '"reference"'])
    expect(JSON.parse(second ?? '')).toEqual(JSON.parse(first ?? ''))
  })
})

test('our own prompt does not show what only a published one does', async () => {
  const { messages } = await rendered('own', requests.conduct)
  expect(Object.keys(JSON.parse(messages[1]?.content ?? ''))).toEqual(['profile', 'dialogue'])
})

test('every released form with a judge has the prompts of its system, every other our own', () => {
  const used = presetNames.map((name) => [name, judgePromptsOf(name)] as const)
  expect(used.filter(([, prompts]) => prompts !== 'own')).toEqual([
    ['takestwo-patient-parity', 'takestwo'],
    ['doctoragent-judge-parity', 'doctoragent-rl'],
    ['diagagent-parity', 'diagagent'],
    ['diagagent-paper-parity', 'diagagent'],
    ['grpodx-readme-parity', 'grpodx-readme'],
    ['grpodx-head-parity', 'grpodx-head'],
  ])
  expect(Object.keys(publishedPrompts)).toEqual(
    expect.arrayContaining(used.map(([, prompts]) => prompts).filter((one) => one !== 'own')),
  )
})
