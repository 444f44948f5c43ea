import { expect, test } from 'vitest'
import { thinkAnswer } from '../../../src/agents/grammars/think-answer.js'
import type { Action } from '../../../src/turn.js'
import { answered, seen } from '../../fixtures/consulting.js'

const { parse, render } = thinkAnswer()

test.each<[string, Action]>([
  ['<think>a</think><answer>Question: Any fever?</answer>', { kind: 'ask', text: 'Any fever?' }],
  ['<think>a</think>\n<answer>Any fever?</answer>\n', { kind: 'ask', text: 'Any fever?' }],
  // The prompt's template had opened the reasoning.
  ['so?</think><answer>咳嗽多久了？</answer>', { kind: 'ask', text: '咳嗽多久了？' }],
  ['I wonder. <answer>Order: CT</answer>', { kind: 'order', exam: 'CT' }],
  [
    '<answer>Diagnosis: Influenza\nRecommendation: Rest.</answer>',
    { kind: 'diagnose', diagnosis: 'Influenza', recommendation: 'Rest.' },
  ],
])('reads %j', (reply, action) => expect(parse(reply)).toEqual(action))

test.each<[string, RegExp]>([
  ['Question: Any fever?', /exactly one <answer>/],
  ['<answer>Any fever?', /exactly one <answer>/],
  ['<answer>a?</answer><answer>b?</answer>', /exactly one <answer>/],
  ['<answer>a?</answer> and then', /exactly one <answer>/],
  ['</answer>a?<answer>', /exactly one <answer>/],
  ['<think><answer>a?</answer>', /exactly one <answer>/],
  ['<answer> \n</answer>', /^Nothing is said/],
  ['<answer>Question: a?\nDiagnosis: b</answer>', /^More than one action/],
  ['<answer>你好', /请写且只写一对/],
])('refuses %j', (reply, why) => {
  expect(parse(reply)).toMatchObject({ kind: 'invalid', why: expect.stringMatching(why) })
})

test('the prompt is one message, and replies say which turn it is', () => {
  const [task, reply, heard, ...rest] = render(
    seen([answered({ kind: 'ask', text: 'Any fever?' }, 'No.')]),
  )
  expect(task?.role).toBe('user')
  expect(task?.content).toMatch(
    /\nPatient's description:\nPatient: female, 30 years old\.\nComplaint: I keep coughing\.\n\n\nDecide next action:\nAlways output: <think>/,
  )
  expect(reply?.content).toBe('<answer>Question: Any fever?</answer>')
  expect(heard).toEqual({ role: 'user', content: 'No.\n\nTurn 1/10.' })
  expect(rest).toEqual([])
})
