/**
 * Writes `data/text/pinyin.json`: for each syllable, without its tone, the characters that are most often read so.
 * The readings are those of pinyin-pro (MIT). Run after a change of its version: `node scripts/pinyin-table.js`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { pinyin } from 'pinyin-pro'

const first = 0x4e00
const last = 0x9fa5 // the last of the CJK Unified Ideographs of Unicode 1.1
const characters = new Map()
for (let code = first; code <= last; code++) {
  const character = String.fromCharCode(code)
  const [syllable] = pinyin(character, { toneType: 'none', type: 'array' })
  if (/^[a-zü]+$/.test(syllable))
    characters.set(syllable, (characters.get(syllable) ?? '') + character)
}
const folder = new URL('../data/text/', import.meta.url)
mkdirSync(folder, { recursive: true })
const lines = [...characters].sort(([a], [b]) => (a < b ? -1 : 1))
const body = lines.map(([syllable, own]) => `  ${JSON.stringify(syllable)}: "${own}"`).join(',\n')
writeFileSync(new URL('pinyin.json', folder), `{\n${body}\n}\n`)
console.log(
  `${lines.length} syllables, ${lines.reduce((sum, [, own]) => sum + own.length, 0)} characters`,
)
