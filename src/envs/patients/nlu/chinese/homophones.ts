/**
 * Typing errors of Chinese input methods: a character typed for another of the same sound (pinyin) is corrected where
 * it stands beside its neighbours in no known phrase and the other one does in many.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../../platform/package-root.js'
import { inRanges, type SlicedWork } from '../../../../platform/slices.js'
import { foldHan } from '../../../../text/phrase-search.js'

const hanRuns = /\p{Script=Han}+/gu

/** How often two characters must stand together in known phrases more than the written ones, in powers of two. */
const minGain = 2

/** Characters of one text that are corrected. */
const maxErrors = 3

/** Readings that are not the most frequent one of their character. */
const otherReadings: readonly (readonly [character: string, syllable: string])[] = [
  ['重', 'chong'],
  ['秘', 'bi'],
  ['血', 'xie'],
  ['长', 'zhang'],
]

/** What input methods take for the same: sh and s, ch and c, zh and z; ang and an, eng and en, ing and in. */
const soundOf = (syllable: string): string =>
  syllable.replace(/^([zcs])h/, '$1').replace(/([aei])ng$/, '$1n')

/** Syllables read between two pauses. */
const syllablesPerSlice = 64

/** Reads the table that `scripts/pinyin-table.js` made: the most frequent reading of each character. */
function* readSounds(): SlicedWork<ReadonlyMap<string, readonly string[]>> {
  const path = join(packageRoot(), 'data', 'text', 'pinyin.json')
  const table: Readonly<Record<string, string>> = JSON.parse(readFileSync(path, 'utf8'))
  const sounds = new Map<string, string[]>()
  for (const [n, [syllable, characters]] of Object.entries(table).entries()) {
    if (n % syllablesPerSlice === 0) yield
    for (const character of characters) sounds.set(character, [soundOf(syllable)])
  }
  for (const [character, syllable] of otherReadings) sounds.get(character)?.push(soundOf(syllable))
  return sounds
}

const pairOf = (a: number, b: number): number => a * 65536 + b

/** Phrases read between two pauses. */
const phrasesPerSlice = 256

/** How often two characters stand together in the phrases. */
function* countPairs(phrases: readonly string[]): SlicedWork<ReadonlyMap<number, number>> {
  const pairs = new Map<number, number>()
  yield* inRanges(phrases.length, phrasesPerSlice, (from, to) => {
    for (let p = from; p < to; p++) {
      const phrase = phrases[p]!
      for (let i = 1; i < phrase.length; i++) {
        const pair = pairOf(phrase.charCodeAt(i - 1), phrase.charCodeAt(i))
        pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
      }
    }
  })
  return pairs
}

/**
 * Makes a function that corrects the homophones in a text by the `known` phrases, which are in normal form; it gives the
 * text with one correction, with two, and so on. Long because its parts share the index of sounds.
 */
export function* makeHomophoneCorrector(
  known: readonly string[],
): SlicedWork<(text: string) => readonly string[]> {
  const sounds = yield* readSounds()
  const pairs = yield* countPairs(known)
  const alike = new Map<string, string[]>()
  for (const character of new Set(known.join('')))
    for (const sound of sounds.get(character) ?? [])
      alike.set(sound, [...(alike.get(sound) ?? []), character])
  // 痛 is written 疼 in normal form, and still sounds like itself.
  alike.get('tong')?.push('痛')
  const together = (a: string | undefined, b: string | undefined): number =>
    a && b ? Math.log2(1 + (pairs.get(pairOf(a.charCodeAt(0), b.charCodeAt(0))) ?? 0)) : 0
  /** The best correction of one character, where there is one. */
  const correctOne = (run: string): string | undefined => {
    const plain = foldHan(run)
    let corrected: string | undefined
    let most = minGain
    for (let i = 0; i < run.length; i++) {
      const fitOf = (character: string): number =>
        together(plain[i - 1], character) + together(character, plain[i + 1])
      const written = fitOf(plain[i]!)
      for (const sound of sounds.get(run[i]!) ?? [])
        for (const other of alike.get(sound) ?? []) {
          const gain = fitOf(foldHan(other)) - written
          if (gain <= most) continue
          corrected = run.slice(0, i) + other + run.slice(i + 1)
          most = gain
        }
    }
    return corrected
  }
  const correctOnce = (text: string): string | undefined => {
    for (const { 0: run, index } of text.matchAll(hanRuns)) {
      const corrected = correctOne(run)
      if (corrected !== undefined)
        return text.slice(0, index) + corrected + text.slice(index + run.length)
    }
    return undefined
  }
  return (text) => {
    const texts: string[] = []
    for (let n = 0; n < maxErrors; n++) {
      const corrected = correctOnce(texts.at(-1) ?? text)
      if (corrected === undefined) break
      texts.push(corrected)
    }
    return texts
  }
}
