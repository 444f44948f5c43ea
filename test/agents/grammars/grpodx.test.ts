import { expect, test } from 'vitest'
import { grpodx } from '../../../src/agents/grammars/grpodx.js'
import type { Action } from '../../../src/turn.js'
import { answered, seen } from '../../fixtures/consulting.js'

const { parse, render } = grpodx()

test.each<[string, Action]>([
  ['<reason>flu?</reason> Do you have a fever?', { kind: 'ask', text: 'Do you have a fever?' }],
  [
    '<reason>Final diagnosis: gout</reason>Where does it hurt?',
    { kind: 'ask', text: 'Where does it hurt?' },
  ],
  ['Thank you.\nFinal diagnosis: Influenza', { kind: 'diagnose', diagnosis: 'Influenza' }],
  ['谢谢。\n最终诊断：流感', { kind: 'diagnose', diagnosis: '流感' }],
])('reads %j', (reply, action) => expect(parse(reply)).toEqual(action))

test.each(['Final diagnosis:', 'Final diagnosis: a\nFinal diagnosis: b', '<reason>never closed'])(
  'refuses %j',
  (reply) => expect(parse(reply).kind).toBe('invalid'),
)

test('the prompt counts the questions, and says when the last reply is due', () => {
  const question = answered({ kind: 'ask', text: 'Any fever?' }, 'No.')
  const [system, , said, heard] = render(seen([question], { turnsLeft: 1 }))
  expect(system?.content).toContain('at most 1,')
  expect(said?.content).toBe('Any fever?')
  expect(heard?.content).toBe('No.\n[Last turn: commit to a diagnosis now]')
  expect(render(seen([question], { turnsLeft: 2 }))[3]?.content).toBe('No.')
})
