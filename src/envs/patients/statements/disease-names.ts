/** Names of diseases in a text, however they are written: either language, pinyin, spaced out, in full width. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Knowledge } from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import { packageRoot } from '../../../platform/package-root.js'

const han = /\p{Script=Han}/u

/** Letters alone, without marks, spaces, width or case. */
const lettersOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Words of Latin letters with one space between them, and one at each end. */
const wordsOf = (text: string): string =>
  ` ${text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['’]s?\b/g, '')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()} `

function readSyllables(): ReadonlyMap<string, string> {
  const path = join(packageRoot(), 'data', 'text', 'pinyin.json')
  const table: Readonly<Record<string, string>> = JSON.parse(readFileSync(path, 'utf8'))
  return new Map(
    Object.entries(table).flatMap(([syllable, characters]) =>
      [...characters].map((character) => [character, syllable] as const),
    ),
  )
}

/** Least letters of a name that is looked for without regard to spaces. */
const minRun = 6

interface DiseaseName {
  readonly name: string
  readonly letters: string
  /** A Latin name as whole words; empty for a Chinese one. */
  readonly words: string
  readonly pinyin: string
}

function prepareName(name: string, sounds: ReadonlyMap<string, string>): DiseaseName {
  const letters = lettersOf(name)
  const chinese = han.test(letters)
  const read = chinese ? [...letters].map((character) => sounds.get(character) ?? '?') : []
  const pinyin = read.includes('?') || read.length < 2 ? '' : read.join('')
  return { name, letters, words: chinese ? '' : wordsOf(name), pinyin }
}

const tables = perKnowledge((knowledge): readonly DiseaseName[] => {
  const sounds = readSyllables()
  const names = new Set(
    knowledge.diseases.flatMap(({ name, aliases, codes }) => [
      ...[name.zh, name.en, ...aliases.zh, ...aliases.en],
      ...codes.map(({ code }) => code),
    ]),
  )
  return [...names].map((name) => prepareName(name, sounds))
})

/** Finds the names of the knowledge base's diseases in a text, its codes among them. */
export function findDiseaseNames(knowledge: Knowledge, text: string): readonly string[] {
  const sentences = text.split(/[。！？!?;；\n]|\.(?=\s|$)/)
  const runs = sentences.map(lettersOf)
  const words = wordsOf(text)
  return tables(knowledge)
    .filter(({ letters, words: whole, pinyin }) => {
      if (whole === '') {
        const spelt = pinyin.length >= minRun && runs.some((run) => run.includes(pinyin))
        return spelt || ([...letters].length >= 2 && runs.some((run) => run.includes(letters)))
      }
      if (words.includes(whole)) return true
      // Spaced out, or run together; a short name is part of many words.
      return letters.length >= minRun && runs.some((run) => run.includes(letters))
    })
    .map(({ name }) => name)
}
