import { describe, expect, test } from 'vitest'
import { huatuo } from '../../../src/agents/grammars/huatuo.js'
import type { Observation } from '../../../src/env.js'
import { formatHuatuoReply } from '../../../src/text/huatuo-reply.js'
import { fc } from '../../fixtures/property.js'

const { name, parse, render } = huatuo()
const observation: Observation = {
  intake: {
    view: 'doctor',
    demographics: { speaker: 'self', age: { v: 40, unit: 'year' } },
    complaint: { en: 'What causes scurvy?', zh: '坏血病的病因是什么？' },
  },
  turns: [],
  turnsLeft: 1,
  spent: { money: 0, minutes: 0 },
  budget: { money: 0, minutes: 1 },
  language: 'en',
}

describe('the prompt', () => {
  test('is the bare question, in the language of the consultation', () => {
    expect(name).toBe('huatuo')
    expect(render(observation)).toEqual([{ role: 'user', content: 'What causes scurvy?' }])
    expect(render({ ...observation, language: 'zh' })).toEqual([
      { role: 'user', content: '坏血病的病因是什么？' },
    ])
  })

  test('goes on with what was answered, so that the same answer is read from it', () => {
    const action = { kind: 'diagnose', diagnosis: 'Lack of vitamin C' } as const
    const turns = [{ action, outcome: { kind: 'closed' } }] as const
    const [, reply, ...rest] = render({ ...observation, turns })
    expect([reply?.role, rest]).toEqual(['assistant', []])
    expect(parse(reply?.content ?? '')).toEqual(action)
  })

  test('goes on with what could not be read and why', () => {
    const action = { kind: 'invalid', text: 'Hm.', why: 'No answer.' } as const
    const turns = [{ action, outcome: { kind: 'rejected', text: 'No answer.' } }] as const
    expect(render({ ...observation, turns }).slice(1)).toEqual([
      { role: 'assistant', content: 'Hm.' },
      { role: 'user', content: 'No answer.' },
    ])
  })
})

describe('a reply', () => {
  test('is answered by what stands behind the one Final Response', () => {
    const answer = { kind: 'diagnose', diagnosis: 'Lack of vitamin C.' }
    expect(parse(formatHuatuoReply('Bleeding gums.', 'Lack of vitamin C.'))).toEqual(answer)
    expect(parse('## Final Response\n\nLack of vitamin C.')).toEqual(answer)
  })

  test.each([
    ['Lack of vitamin C.', /^No answer was found/],
    ['## Thinking\n\nIt is Lack of vitamin C.', /^No answer was found/],
    ['## Thinking\n\nx\n\n## Final Response\n', /^Nothing stands under/],
    [`${formatHuatuoReply('x', 'a')}\n## Final Response\nb`, /stands twice/],
    ['## Final Response\n\na\n\n## Thinking\n\nx', /out of order/],
    ['维生素C', /^没有找到答案/],
  ])('that holds no answer says why: %j', (text, why) => {
    expect(parse(text)).toMatchObject({ kind: 'invalid', why: expect.stringMatching(why) })
  })

  test('of any text never throws and never shows its reasoning', () => {
    const part = fc.constantFrom('## Thinking\n', '## Final Response\n', 'secret ', '<think>', '\n')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = `## Thinking\nsecret\n${parts.join('')}`
        const action = parse(text)
        if (action.kind === 'invalid' && !text.includes('## Final Response'))
          expect(action.text).not.toContain('secret')
      }),
    )
  })
})
