/** Homophone errors of Chinese input methods: a phrase typed with other characters of the same sound (pinyin). */
import { createRequire } from 'node:module'
import type * as Pinyin from 'pinyin-pro'
import type { SlicedWork } from '../../../platform/slices.js'

const require = createRequire(import.meta.url)
const hanRuns = /\p{Script=Han}+/gu
/** Characters of the longest phrase that is corrected. */
const maxLength = 6

/** The pinyin of each character, without its tone. */
type ToPinyin = (text: string) => readonly string[]

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
  toPinyin: ToPinyin,
): string {
  const pinyin = toPinyin(run)
  if (pinyin.length !== run.length) return run
  for (let length = Math.min(maxLength, run.length); length >= 2; length--)
    for (let at = 0; at + length <= run.length; at++) {
      const written = run.slice(at, at + length)
      const known = phrases.get(pinyin.slice(at, at + length).join(' '))
      const phrase = known?.find((one) => mayStandFor(written, one))
      if (phrase !== undefined) return run.slice(0, at) + phrase + run.slice(at + length)
    }
  return run
}

/** Phrases read between two pauses. */
const phrasesPerSlice = 16

/**
 * Makes a function that replaces misspelt homophones of the `known` phrases in a text by the phrases.
 * Making it loads the pinyin dictionary, in about a tenth of a second.
 */
export function* makeHomophoneCorrector(
  known: readonly string[],
): SlicedWork<(text: string) => string> {
  const { pinyin }: typeof Pinyin = require('pinyin-pro')
  const toPinyin: ToPinyin = (text) => pinyin(text, { toneType: 'none', type: 'array' })
  const phrases = new Map<string, string[]>()
  for (const [n, phrase] of known.entries()) {
    if (n % phrasesPerSlice === 0) yield
    if (phrase.length < 2 || phrase.length > maxLength || !/^\p{Script=Han}+$/u.test(phrase))
      continue
    const key = toPinyin(phrase).join(' ')
    const alike = phrases.get(key)
    if (alike) alike.push(phrase)
    else phrases.set(key, [phrase])
  }
  return (text) => text.replace(hanRuns, (run) => correctRun(run, phrases, toPinyin))
}
