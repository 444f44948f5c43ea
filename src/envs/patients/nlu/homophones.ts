/** Homophone errors of Chinese input methods: a phrase typed with other characters of the same sound (pinyin). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../platform/package-root.js'
import type { SlicedWork } from '../../../platform/slices.js'

const hanRuns = /\p{Script=Han}+/gu
/** Characters of the longest phrase that is corrected. */
const maxLength = 6

/** The syllable of each character, without its tone. */
type Syllables = ReadonlyMap<string, string>

/** Syllables read between two pauses. */
const syllablesPerSlice = 64

/** Reads the table that `scripts/pinyin-table.js` made: the most frequent reading of each character. */
function* readSyllables(): SlicedWork<Syllables> {
  const path = join(packageRoot(), 'data', 'text', 'pinyin.json')
  const table: Readonly<Record<string, string>> = JSON.parse(readFileSync(path, 'utf8'))
  const syllables = new Map<string, string>()
  for (const [n, [syllable, characters]] of Object.entries(table).entries()) {
    if (n % syllablesPerSlice === 0) yield
    for (const character of characters) syllables.set(character, syllable)
  }
  return syllables
}

/** What a run of characters sounds like; a character without a reading is its own sound. */
const soundsOf = (run: string, syllables: Syllables): string[] =>
  Array.from(run, (character) => syllables.get(character) ?? character)

/** Whether `phrase` may correct `written`: equally long, not the same, and at least half of the characters equal. */
function mayStandFor(written: string, phrase: string): boolean {
  if (written === phrase) return false
  let same = 0
  for (let i = 0; i < phrase.length; i++) if (written[i] === phrase[i]) same++
  return same >= Math.max(1, Math.floor(phrase.length / 2))
}

/** Corrects the first misspelt phrase of one run of characters; longer phrases are tried first. */
function correctRun(
  run: string,
  phrases: ReadonlyMap<string, readonly string[]>,
  syllables: Syllables,
): string {
  const sounds = soundsOf(run, syllables)
  if (sounds.length !== run.length) return run // with characters of two code units
  for (let length = Math.min(maxLength, run.length); length >= 2; length--)
    for (let at = 0; at + length <= run.length; at++) {
      const written = run.slice(at, at + length)
      const known = phrases.get(sounds.slice(at, at + length).join(' '))
      const phrase = known?.find((one) => mayStandFor(written, one))
      if (phrase !== undefined) return run.slice(0, at) + phrase + run.slice(at + length)
    }
  return run
}

/** Phrases read between two pauses. */
const phrasesPerSlice = 16

/** Makes a function that replaces misspelt homophones of the `known` phrases in a text by the phrases. */
export function* makeHomophoneCorrector(
  known: readonly string[],
): SlicedWork<(text: string) => string> {
  const syllables = yield* readSyllables()
  const phrases = new Map<string, string[]>()
  for (const [n, phrase] of known.entries()) {
    if (n % phrasesPerSlice === 0) yield
    if (phrase.length < 2 || phrase.length > maxLength || !/^\p{Script=Han}+$/u.test(phrase))
      continue
    const key = soundsOf(phrase, syllables).join(' ')
    const alike = phrases.get(key)
    if (alike) alike.push(phrase)
    else phrases.set(key, [phrase])
  }
  return (text) => text.replace(hanRuns, (run) => correctRun(run, phrases, syllables))
}
