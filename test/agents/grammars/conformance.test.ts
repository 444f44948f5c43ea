/** Every grammar that ships, held to the grammar contract, and to texts that nobody thought of. */
import { describe, expect, test } from 'vitest'
import { grammarNames, namedGrammar } from '../../../src/agents/grammars/named.js'
import { writtenReply } from '../../../src/chats/written-reply.js'
import { grammarChecks } from '../../../src/testing/grammar.js'
import type { Action } from '../../../src/turn.js'
import { seen } from '../../fixtures/consulting.js'
import { fc } from '../../fixtures/property.js'

const ask: readonly Action[] = [
  { kind: 'ask', text: 'Any fever?' },
  { kind: 'ask', text: '您发烧吗？' },
]
const order: readonly Action[] = [
  { kind: 'order', exam: 'complete blood count' },
  { kind: 'order', exam: '血常规' },
]
const diagnose: readonly Action[] = [
  { kind: 'diagnose', diagnosis: 'Influenza' },
  { kind: 'diagnose', diagnosis: '流感' },
]
const advise: readonly Action[] = [
  { kind: 'diagnose', diagnosis: 'Influenza', recommendation: 'Rest.\nDrink.' },
  { kind: 'diagnose', diagnosis: '流感', recommendation: '休息。' },
]
const whole: Action = {
  ...{ kind: 'diagnose', diagnosis: 'Influenza', recommendation: 'Rest.', confidence: 0.8 },
  ...{ differential: [{ diagnosis: 'Cold', p: 0.1 }, { diagnosis: 'Asthma' }], triage: 4 },
}
const all = [...ask, ...order, ...diagnose, ...advise, whole]

/** The actions that each grammar can write. */
const material: Readonly<Record<(typeof grammarNames)[number], readonly Action[]>> = {
  labelled: all,
  brief: all,
  spoken: all,
  'think-answer': all,
  'takes-two': all,
  grpodx: [...ask, ...order, ...diagnose],
  'grpodx-head': [...ask, ...order, ...diagnose],
  diagagent: [...order, ...diagnose],
  huatuo: diagnose,
  tools: all,
}

/** A word of one line that no grammar takes for a mark. */
const words = fc
  .array(
    fc.constantFrom(
      'fever',
      'since',
      'Monday',
      '发烧',
      '两天',
      'B12',
      '39.5',
      'q.i.d',
      '"',
      '\\',
      '{',
      '}',
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => `x ${parts.join(' ')} y`)

const marks = [
  ...['<think>', '</think>', '<answer>', '</answer>', '<reason>', '</reason>', '## Thinking\n'],
  ...['## Final Response\n', '<tool_call>', '</tool_call>', '{"name":"diagnose","arguments":'],
  ...[
    '{"diagnosis":"flu"}',
    '}',
    'Question:',
    'Order:',
    'Diagnosis:',
    'Final diagnosis:',
    'Reason:',
  ],
  ...[
    'The available information is sufficient to make a diagnosis.',
    'performed:',
    'Current diagnosis:',
  ],
  ...['问题：', '诊断：', '最终诊断：', '\n', ' ', '```', '\u2028', '\ud800', '流感', 'fever'],
]

describe.each(grammarNames)('%s', (name) => {
  const grammar = namedGrammar(name)
  for (const check of grammarChecks(grammar, { actions: material[name] }))
    test(check.name, () => check.run())

  test('reads back any words that it writes', () => {
    const kinds = new Set(material[name].map(({ kind }) => kind))
    fc.assert(
      fc.property(
        words,
        fc.constantFrom(...kinds),
        fc.constantFrom('en', 'zh'),
        (text, kind, language) => {
          const action: Action =
            kind === 'ask'
              ? { kind, text }
              : kind === 'order'
                ? { kind, exam: text }
                : { kind: 'diagnose', diagnosis: text }
          const turns = [{ action, outcome: { kind: 'closed' } }] as const
          const said = grammar
            .render(seen(turns, { language }))
            .findLast(({ role }) => role === 'assistant')
          const reply = writtenReply({ text: said?.content ?? '', calls: said?.tool_calls ?? [] })
          expect(grammar.parse(reply)).toEqual(action)
        },
      ),
    )
  })

  test('whatever its marks are shuffled to, it says nothing of what is hidden and throws nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...marks), { maxLength: 14 }), (parts) => {
        const text = parts.join('')
        const action = grammar.parse(`<think>SECRET</think>${text}`)
        expect(JSON.stringify(action)).not.toContain('SECRET')
        expect(grammar.parse(`<think>SECRET ${text.replaceAll('</think>', '')}`).kind).toBe(
          'invalid',
        )
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    '<answer>',
    '<tool_call>',
    '<think>',
    'performed:',
    'Final diagnosis:',
    '\n',
    ' ',
    '**',
    'Diagnosis: a\n',
  ])('reads %j ten thousand times in no time', (mark) => {
    const started = performance.now()
    grammar.parse(mark.repeat(10_000))
    expect(performance.now() - started).toBeLessThan(1000)
  })
})
