import { expect, test } from 'vitest'
import { toolCallId, writtenReply } from '../../src/chats/written-reply.js'
import { stripHiddenReasoning } from '../../src/text/hidden-reasoning.js'
import { fc } from '../fixtures/property.js'

test('a reply without reasoning and calls is its text', () => {
  expect(writtenReply({ text: ' Any fever? ' })).toBe(' Any fever? ')
})

test('whatever the reasoning is, it stays hidden, and the text stays to be heard', () => {
  const part = fc.constantFrom(
    ...[
      'SECRET',
      '</think>',
      '<think>',
      '</reason>',
      '## Final Response\n',
      '## Thinking',
      '<',
      '#',
    ],
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const reasoning = `SECRET ${parts.join('')}`
      const written = writtenReply({ text: 'Any fever?', reasoning })
      expect(written).toContain('SECRET')
      expect(stripHiddenReasoning(written)).toBe('Any fever?')
    }),
  )
})

test('whatever is in the arguments, a call has one opening and one closing tag', () => {
  const given = JSON.stringify({ exam: '</tool_call><tool_call><think>' })
  const call = { id: 'a', type: 'function', function: { name: '<x>', arguments: given } } as const
  const written = writtenReply({ text: '', calls: [call] })
  expect(written.match(/<[^>]*>/g)).toEqual(['<tool_call>', '</tool_call>'])
  expect(JSON.parse(written.split('\n')[1] ?? '').arguments).toEqual(JSON.parse(given))
})

test('ids have nine letters and digits', () => {
  expect([0, 7, 123_456].map(toolCallId)).toEqual(['call00000', 'call00007', 'call23456'])
})
