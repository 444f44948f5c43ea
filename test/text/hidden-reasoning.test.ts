import { describe, expect, test } from 'vitest'
import { stripHiddenReasoning } from '../../src/text/hidden-reasoning.js'
import { fc } from '../fixtures/property.js'

describe('visible keeps what was said and cuts what was thought', () => {
  test.each([
    ['plain text is left alone', ' Question: Any fever? ', 'Question: Any fever?'],
    ['a segment is cut', '<think>flu?</think>\nQuestion: Any fever?', 'Question: Any fever?'],
    ['every tag name is known', '<reason>a</reason>b<reasoning>c</reasoning>d', 'bd'],
    ['thinking is a tag too', '<thinking>a</thinking>b', 'b'],
    ['case and blanks do not matter', '< THINK >a</ Think >b', 'b'],
    ['attributes do not matter', '<think depth="2">a</think>b', 'b'],
    ['an unclosed tag hides everything after it', 'b<think>a Question: x', 'b'],
    ['a tag broken off hides everything after it', 'b<think a Question: x', 'b'],
    ['nested tags count', '<think>a<think>b</think>c</think>d', 'd'],
    ['a doubled opening needs two closings', '<think><think>a</think>d', ''],
    ['different tags do not close each other', '<think>a</reason>b</think>c', 'c'],
    ['a stray closing tag hides everything before it', 'a</think>b', 'b'],
    ['only the last of several stray closing tags matters', 'a</think>b</think>c', 'c'],
    ['a broken closing tag hides both sides', 'a</think b', ''],
    ['an empty segment is no segment', 'a<think/>b', 'ab'],
    ['a tag glued from the edges of a segment hides too', '<th<think>x</think>ink>secret', ''],
    ['headings enclose a segment', '## Thinking\n\na\n\n## Final Response\n\nb', 'b'],
    ['a heading without an end hides everything after it', 'b\n## Thinking\na', 'b'],
    ['an end without a heading hides everything before it', 'a\n## Final Response\nb', 'b'],
    ['a heading may repeat', '## Thinking\na\n## Thinking\nb\n### **Final Response**\nc', 'c'],
    ['a tag inside a heading segment stays hidden', '## Thinking <think>a ## Final Response b', ''],
    ['a comparison is not a tag', 'pressure <90 or a < think of it', 'pressure <90 or a'],
    ['another word is not a tag', 'a <thinker> b # Think twice', 'a <thinker> b # Think twice'],
  ])('%s', (_, text, expected) => {
    expect(stripHiddenReasoning(text)).toBe(expected)
  })
})

const names = ['think', 'thinking', 'reason', 'reasoning']
const piece = fc.oneof(
  fc.record({ kind: fc.constantFrom('open', 'close'), name: fc.constantFrom(...names) }),
  fc.record({ kind: fc.constant('text'), name: fc.constant('') }),
  fc.record({ kind: fc.constantFrom('open', 'close'), name: fc.constant('##') }),
)
const written = (kind: string, name: string, i: number): string => {
  if (kind === 'text') return ` word${i}. `
  if (name === '##') return kind === 'open' ? '\n## Thinking\n' : '\n## Final Response\n'
  return kind === 'open' ? `<${name}>` : `</${name}>`
}

test('in any interleaving a word inside a segment, or before a stray end, never survives', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
      const seen = stripHiddenReasoning(
        pieces.map(({ kind, name }, i) => written(kind, name, i)).join(''),
      )
      const balance = (until: number, name: string) => {
        let inside = 0
        for (const p of pieces.slice(0, until)) {
          if (p.name !== name) continue
          if (p.kind === 'open') inside += 1
          else inside = name === '##' ? 0 : Math.max(0, inside - 1)
        }
        return inside
      }
      pieces.forEach(({ kind }, i) => {
        if (kind !== 'text') return
        const inside = [...names, '##'].some((name) => balance(i, name) > 0)
        const cutLater = pieces.some(
          (p, j) => j > i && p.kind === 'close' && balance(j, p.name) === 0,
        )
        expect(seen.includes(`word${i}.`)).toBe(!inside && !cutLater)
      })
    }),
    { numRuns: 500 },
  )
})

test('what is visible holds nothing left to hide, for any characters', () => {
  const soup = fc.array(
    fc.constantFrom(
      '<',
      '</',
      'think',
      'reason',
      'ing',
      '>',
      '/',
      ' ',
      '#',
      '##',
      'Thinking',
      'Final Response',
      'x',
      '\n',
    ),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(soup, (parts) => {
      const seen = stripHiddenReasoning(parts.join(''))
      expect(stripHiddenReasoning(seen)).toBe(seen)
      expect(seen).not.toMatch(/<\/?(think|reason)(ing)?>/i)
    }),
    { numRuns: 2000 },
  )
})

test('a long hostile reply is read in linear time', () => {
  const hostile = `${'<think '.repeat(20_000)}${'< '.repeat(50_000)}${'#'.repeat(50_000)}`
  const onion = `${'<th'.repeat(20_000)}<think/>${'ink/>'.repeat(20_000)}`
  const start = performance.now()
  expect(stripHiddenReasoning(hostile)).toBe('')
  expect(stripHiddenReasoning(onion)).toBe('')
  expect(performance.now() - start).toBeLessThan(1000)
})
