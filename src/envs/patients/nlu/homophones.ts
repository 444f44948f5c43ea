/** Slips of the input method: Chinese phrases written with other characters of the same sound. */
import { createRequire } from 'node:module'
import type * as Pinyin from 'pinyin-pro'

const require = createRequire(import.meta.url)
const hanRuns = /\p{Script=Han}+/gu
const longest = 6

/** The sound of each character, without its tone. */
type Sounds = (text: string) => readonly string[]

/** Whether one may stand for the other: as long, not the same, and at least half of it written alike. */
function mayStandFor(written: string, phrase: string): boolean {
  if (written === phrase) return false
  let same = 0
  for (let i = 0; i < phrase.length; i++) if (written[i] === phrase[i]) same++
  return same >= Math.max(1, Math.floor(phrase.length / 2))
}

/** One run of characters with the first phrase that sounds in it, longest first, put in its place. */
function mended(
  run: string,
  phrases: ReadonlyMap<string, readonly string[]>,
  sounds: Sounds,
): string {
  const heard = sounds(run)
  if (heard.length !== run.length) return run
  for (let length = Math.min(longest, run.length); length >= 2; length--)
    for (let at = 0; at + length <= run.length; at++) {
      const written = run.slice(at, at + length)
      const known = phrases.get(heard.slice(at, at + length).join(' '))
      const phrase = known?.find((one) => mayStandFor(written, one))
      if (phrase !== undefined) return run.slice(0, at) + phrase + run.slice(at + length)
    }
  return run
}

/**
 * Makes a reader that writes a text as it sounds in the words of `known`, where it holds one of them misspelt.
 * The dictionary of sounds is loaded when it is made, in about a tenth of a second.
 */
export function homophones(known: readonly string[]): (text: string) => string {
  const { pinyin }: typeof Pinyin = require('pinyin-pro')
  const sounds: Sounds = (text) => pinyin(text, { toneType: 'none', type: 'array' })
  const phrases = new Map<string, string[]>()
  for (const phrase of known) {
    if (phrase.length < 2 || phrase.length > longest || !/^\p{Script=Han}+$/u.test(phrase)) continue
    const key = sounds(phrase).join(' ')
    const alike = phrases.get(key)
    if (alike) alike.push(phrase)
    else phrases.set(key, [phrase])
  }
  return (text) => text.replace(hanRuns, (run) => mended(run, phrases, sounds))
}
