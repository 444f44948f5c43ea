import { expect, test } from 'vitest'
import { toolCalling } from '../../../src/agents/grammars/tool-calling.js'
import { writtenReply } from '../../../src/chats/written-reply.js'
import type { Action } from '../../../src/turn.js'
import { answered, seen } from '../../fixtures/consulting.js'

const { parse, render, tools = [] } = toolCalling()

const calling = (name: string, given: unknown): string =>
  writtenReply({
    text: '',
    calls: [
      {
        ...{ id: 'a', type: 'function' },
        function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
      },
    ],
  })

test.each<[string, unknown, Action]>([
  ['ask_patient', { question: 'Any fever?', mood: 'good' }, { kind: 'ask', text: 'Any fever?' }],
  ['ask_patient', { question: '<think>x</think>发烧吗？' }, { kind: 'ask', text: '发烧吗？' }],
  ['order_exam', { exam: 'CT' }, { kind: 'order', exam: 'CT' }],
  [
    'diagnose',
    { diagnosis: 'Gout', recommendation: '', confidence: null, differential: ['Cold'], triage: 2 },
    { kind: 'diagnose', diagnosis: 'Gout', differential: [{ diagnosis: 'Cold' }], triage: 2 },
  ],
])('%s(%j)', (name, given, action) => expect(parse(calling(name, given))).toEqual(action))

test.each<[string, unknown, RegExp]>([
  ['prescribe', { drug: 'x' }, /^There is no function `prescribe`.*ask_patient, order_exam, diagn/],
  ['ask_patient', {}, /^`question`: expected a text/],
  ['ask_patient', { question: 7 }, /^`question`: expected a text/],
  ['ask_patient', { question: '<think>only' }, /^`question`: expected a text/],
  ['ask_patient', { question: 'a'.repeat(2001) }, /2001 characters of at most 2000/],
  ['order_exam', '{"exam": "C', /^The call is no JSON/],
  ['order_exam', ['CT'], /^The call is no JSON/],
  ['diagnose', { diagnosis: 'a', confidence: 80 }, /^`confidence`: expected 0 … 1/],
  ['diagnose', { diagnosis: 'a', triage: 2.5 }, /^`triage`: expected 1 … 5/],
  ['diagnose', { diagnosis: 'a', differential: 'b' }, /^`differential`: expected a list/],
  ['diagnose', { diagnosis: 'a', differential: [{ p: 1 }] }, /^`differential`: expected a text/],
  ['诊断', { diagnosis: '痛风' }, /^没有函数/],
])('refuses %s(%j)', (name, given, why) => {
  expect(parse(calling(name, given))).toMatchObject({
    kind: 'invalid',
    why: expect.stringMatching(why),
  })
})

test.each<[string, RegExp]>([
  ['I shall ask about a fever.', /^No function was called/],
  [calling('order_exam', { exam: 'CT' }).repeat(2), /^More than one/],
  ['<tool_call>{"name":"order_exam"', /^The call is no JSON/],
  ['<tool_call>null</tool_call>', /^The call is no JSON/],
])('refuses %j', (reply, why) => {
  expect(parse(reply)).toMatchObject({ kind: 'invalid', why: expect.stringMatching(why) })
})

test('the prompt has each turn as a call and its result, under one id', () => {
  const wrong = { kind: 'invalid', text: 'Hm.', why: 'No.' } as const
  const messages = render(
    seen([
      answered({ kind: 'ask', text: 'Any fever?' }, 'No.'),
      { action: wrong, outcome: { kind: 'rejected', text: 'No.' } },
    ]),
  )
  const [, , call, result, said, heard] = messages
  const question = { name: 'ask_patient', arguments: '{"text":"Any fever?"}' }
  expect(call?.tool_calls).toEqual([
    {
      ...{ id: 'call00000', type: 'function' },
      function: { ...question, arguments: '{"question":"Any fever?"}' },
    },
  ])
  expect(result).toEqual({
    ...{ role: 'tool', tool_call_id: 'call00000' },
    content: 'Patient: No.\n[Turns left: 9]',
  })
  expect(said).toEqual({ role: 'assistant', content: 'Hm.' })
  expect(heard).toEqual({ role: 'user', content: 'Not done: No.\n[Turns left: 8]' })
})

test('every tool has a name that all servers take, and a closed shape', () => {
  expect(tools.map(({ name }) => name)).toEqual(['ask_patient', 'order_exam', 'diagnose'])
  for (const { name, parameters } of tools) {
    expect(name).toMatch(/^[a-z_]{1,64}$/)
    expect(parameters).toMatchObject({ type: 'object', additionalProperties: false })
  }
})
