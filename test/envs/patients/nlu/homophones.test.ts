import { readFileSync } from 'node:fs'
import { pinyin } from 'pinyin-pro'
import { expect, test } from 'vitest'
import { makeHomophoneCorrector } from '../../../../src/envs/patients/nlu/homophones.js'
import { finish } from '../../../../src/platform/slices.js'

const correct = finish(makeHomophoneCorrector(['头痛', '腹泻', '胸闷', 'chest pain', '恶心呕吐']))

test.each([
  ['你有没有头疼同？', '你有没有头疼同？'], // another word, not a homophone of one
  ['你有没有投痛？', '你有没有头痛？'],
  ['有腹谢吗', '有腹泻吗'],
  ['恶心偶吐多久了', '恶心呕吐多久了'],
  ['头痛', '头痛'],
  ['svelte 胸门 𠮷', 'svelte 胸闷 𠮷'],
])('%s is read as %s', (written, meant) => {
  expect(correct(written)).toBe(meant)
})

test('the table of the syllables is that of pinyin-pro', () => {
  const file = new URL('../../../../data/text/pinyin.json', import.meta.url)
  const table: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'))
  const read = Object.entries(table)
  expect(read.length).toBeGreaterThan(400)
  for (const [syllable, characters] of read)
    for (const character of characters)
      expect(pinyin(character, { toneType: 'none' }), character).toBe(syllable)
})
