import { expect, test } from 'vitest'
import { spoken } from '../../../src/agents/grammars/spoken.js'

const { parse } = spoken()

test.each([
  ['How long have you had the cough?', { kind: 'ask', text: 'How long have you had the cough?' }],
  ['<think>Flu? Diagnosis: gout</think>咳嗽多久了？', { kind: 'ask', text: '咳嗽多久了？' }],
  ['Question: Any fever?', { kind: 'ask', text: 'Any fever?' }],
  ['<answer>Question: Any fever?</answer>', { kind: 'ask', text: 'Any fever?' }],
  ['Order: chest X-ray', { kind: 'order', exam: 'chest X-ray' }],
  [
    '<think>x</think>\n<answer>Diagnosis: Influenza\nRecommendation: Rest.</answer>',
    { kind: 'diagnose', diagnosis: 'Influenza', recommendation: 'Rest.' },
  ],
  ['Thank you.\nFinal diagnosis: Gout', { kind: 'diagnose', diagnosis: 'Gout' }],
  ['**My final diagnosis is: Gout', { kind: 'diagnose', diagnosis: 'Gout' }],
  ['最终诊断：流感', { kind: 'diagnose', diagnosis: '流感' }],
  [
    'Was a final diagnosis made before?',
    { kind: 'ask', text: 'Was a final diagnosis made before?' },
  ],
])('reads %j', (text, action) => expect(parse(text)).toEqual(action))

test.each(['', '<think>never closed', 'Question: a?\nDiagnosis: b'])('cannot read %j', (text) => {
  expect(parse(text).kind).toBe('invalid')
})
