import { readFileSync } from 'node:fs'
import { pinyin } from 'pinyin-pro'
import { expect, test } from 'vitest'
import { makeHomophoneCorrector } from '../../../../../src/envs/patients/nlu/chinese/homophones.js'
import { finish } from '../../../../../src/platform/slices.js'

// In normal form, and often enough to be no chance.
const known = ['头疼', '腹泻', '胸闷', '恶心呕吐', '心慌', '体重'].flatMap((phrase) => [
  phrase,
  `有没有${phrase}`,
  `${phrase}吗`,
  `${phrase}多久了`,
])
const correct = finish(makeHomophoneCorrector(known))

test.each([
  ['你有没有投痛？', '你有没有头痛？'],
  ['有腹谢吗', '有腹泻吗'],
  ['恶心偶吐多久了', '恶心呕吐多久了'],
  ['svelte 胸门 𠮷', 'svelte 胸闷 𠮷'],
  ['有没有兴慌', '有没有心慌'], // xing for xin
  ['体虫多久了', '体重多久了'], // the rarer reading of 重
])('%s is read as %s', (written, meant) => {
  expect(correct(written)[0]).toBe(meant)
})

test('two errors are corrected one after the other', () => {
  expect(correct('投痛吗，腹谢吗')).toHaveLength(2)
  expect(correct('投痛吗，腹谢吗').at(-1)).toBe('头痛吗，腹泻吗')
})

test.each(['头痛', 'chest pain', '今天天气真好'])('%s has none', (text) => {
  expect(correct(text)).toEqual([])
})

test('the table of the syllables is that of pinyin-pro', () => {
  const file = new URL('../../../../../data/text/pinyin.json', import.meta.url)
  const table: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'))
  const read = Object.entries(table)
  expect(read.length).toBeGreaterThan(400)
  for (const [syllable, characters] of read)
    for (const character of characters)
      expect(pinyin(character, { toneType: 'none' }), character).toBe(syllable)
})
