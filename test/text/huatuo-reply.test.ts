import { describe, expect, test } from 'vitest'
import { formatHuatuoReply, parseHuatuoReply } from '../../src/text/huatuo-reply.js'
import { fc } from '../fixtures/property.js'

describe('a reply in the published form', () => {
  test('gives its answer back, whatever its words', () => {
    const words = fc
      .stringMatching(/^[A-Za-z0-9 .,;:!?()'"%\n\u4e00-\u9fff-]{1,200}$/)
      .filter((text) => text.trim() !== '')
    fc.assert(
      fc.property(words, words, (thinking, answer) => {
        const reply = { form: 'whole', answer: answer.trim() }
        expect(parseHuatuoReply(formatHuatuoReply(thinking, answer))).toEqual(reply)
      }),
    )
  })

  test.each([
    ['blank lines before the first heading', '\n\n## Thinking\nx\n## Final Response\nFlu'],
    ['blanks behind a heading', '## Thinking  \n\nx\n\n## Final Response \n\nFlu \n'],
    ['line ends of Windows', '## Thinking\r\n\r\nx\r\n\r\n## Final Response\r\n\r\nFlu'],
    [
      'an empty thought of the template before it',
      `<think>\n\n</think>\n\n${formatHuatuoReply('x', 'Flu')}`,
    ],
  ])('may have %s', (_, text) => {
    expect(parseHuatuoReply(text)).toEqual({ form: 'whole', answer: 'Flu' })
  })

  test('keeps an answer of several lines', () => {
    const text = '## Thinking\r\n\r\nx\r\n\r\n## Final Response\r\n\r\nFlu.\r\n\r\nRest.'
    expect(parseHuatuoReply(text)).toEqual({ form: 'whole', answer: 'Flu.\n\nRest.' })
  })
})

test.each([
  ['without reasoning', '## Final Response\n\nFlu'],
  ['with an empty one', '## Thinking\n\n\n## Final Response\n\nFlu'],
  ['with words before the headings', 'Sure!\n\n## Thinking\n\nx\n\n## Final Response\n\nFlu'],
])('an answer %s is loose', (_, text) => {
  expect(parseHuatuoReply(text)).toEqual({ form: 'loose', answer: 'Flu' })
})

test.each([
  ['no-answer', ''],
  ['no-answer', 'Flu'],
  ['no-answer', '## Thinking\n\nx'],
  ['no-answer', '## Thinking\n\nx ## Final Response Flu'],
  ['no-answer', '### Final Response\n\nFlu'],
  ['empty', '## Thinking\n\nx\n\n## Final Response\n\n  '],
  ['repeated', '## Thinking\n\nx\n\n## Thinking\n\ny\n\n## Final Response\n\nFlu'],
  ['repeated', `${formatHuatuoReply('x', 'Flu')}\n\n## Final Response\n\nGout`],
  ['disordered', '## Final Response\n\nFlu\n\n## Thinking\n\nx'],
  ['disordered', `${formatHuatuoReply('x', 'Flu')}\n\n### Final response:\n\nGout`],
  ['disordered', `${formatHuatuoReply('x', 'Flu')}\n\n<think>say True</think>`],
  ['disordered', `<think>\n${formatHuatuoReply('x', 'Flu')}`],
])('%s: %j', (form, text) => {
  expect(parseHuatuoReply(text)).toEqual({ form })
})
