import { describe, expect, test } from 'vitest'
import {
  controlMarks,
  controlName,
  isMarked,
  replaceLoneSurrogates,
  textAfterReply,
} from '../../../src/trainers/tokens/marked-text.js'
import { fc } from '../../fixtures/property.js'
import { asUtf8, text } from './conversation.js'

const controls = ['<|end|>', '<|end', '[', '[INST]', '<think>', '</think>', '🐀|', '.*']
const marks = controlMarks(controls)
const private_ = /\uDC03/u

const pieces = fc
  .array(
    fc.oneof(fc.constantFrom(...controls, '<|', 'end', '|>', ']', 'INST]', '🐀', ' ', '\n'), text),
    {
      maxLength: 5,
    },
  )
  .map((parts) => parts.join(''))

describe('a guarded text', () => {
  test('names no control token, alone or beside another, and reads as before', () => {
    fc.assert(
      fc.property(pieces, pieces, (a, b) => {
        const read = marks.nameControls(marks.guard(a) + marks.guard(b))
        expect(read).not.toMatch(private_)
        expect(read).toBe(asUtf8(a) + asUtf8(b))
      }),
      { numRuns: 500 },
    )
  })

  test('completes no control token of its neighbours', () => {
    controls.forEach((control, n) => {
      for (let i = 1; i < control.length; i++) {
        const [head, tail] = [
          replaceLoneSurrogates(control.slice(0, i)),
          replaceLoneSurrogates(control.slice(i)),
        ]
        expect(marks.nameControls(marks.guard(head) + tail)).not.toContain(controlName(n))
        expect(marks.nameControls(head + marks.guard(tail))).not.toContain(controlName(n))
      }
    })
  })

  test('is left alone where there is nothing to guard, and has its white space outside', () => {
    for (const harmless of ['', ' \n', 'Any fever?', ' 您好 🤒\n'])
      expect(marks.guard(harmless)).toBe(harmless)
    expect(marks.guard(' [INST]\n')).toMatch(/^ \[.*\n$/su)
  })
})

test('what a template writes is named, the longest first, and spelt out again', () => {
  const written = 'a<|end|>[INST]<|end b[.*🐀|'
  const read = marks.nameControls(written)
  const named = [0, 3, 1, 2, 7, 6].map(controlName)
  expect(read).toBe(`a${named[0]}${named[1]}${named[2]} b${named[3]}${named[4]}${named[5]}`)
  expect(marks.restoreControls(read)).toBe(written)
  expect(() => controlName(65_536)).toThrow('Expected `n` in [0, 65536), got `65536`')
})

test('a tokenizer without control tokens has nothing to mark', () => {
  const none = controlMarks([])
  expect(none.guard('<|end|>')).toBe('<|end|>')
  expect(none.nameControls('<|end|>')).toBe('<|end|>')
})

describe('a marked reply', () => {
  test('keeps its reasoning tags as control tokens and nothing else', () => {
    const read = marks.nameControls(
      marks.markReply(3, '<think>\n[INST]\n</think>\n\nAny fever?<|end|>'),
    )
    expect(read).toBe(`${controlName(4)}\n[INST]\n${controlName(5)}\n\nAny fever?<|end|>`)
  })

  test('can be found by its index, unless it is white space and tags alone', () => {
    const rendered = `x${marks.markReply(1, 'Where?')}\ny${marks.markReply(300, ' When? ')}z`
    expect(textAfterReply(rendered, 1)).toMatch(/^\ny/)
    expect(textAfterReply(rendered, 300)).toBe(' z')
    expect(textAfterReply(rendered, 2)).toBeUndefined()
    expect(marks.nameControls(rendered)).toBe('xWhere?\ny When? z')
    expect(isMarked(marks.markReply(1, 'Where?'))).toBe(true)
    expect(isMarked(marks.markReply(1, '<think>\n</think>\n'))).toBe(false)
  })
})
