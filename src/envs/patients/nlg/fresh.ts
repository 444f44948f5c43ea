/** Choice among sentences of one meaning, so that a patient does not say the same words twice within a few turns. */
import type { Exchange, PatientContext, Reply } from '../../../patient.js'
import { type Key, uniformInt } from '../../../seed.js'
import type { Language } from '../../../turn.js'

/** Turns within which a sentence is not said again, where there is another. */
const memory = 6
/** Turns within which no two sentences begin alike, where there is another. */
const stemMemory = 3

/** `.!?` and `。！？`. */
const isEnd = (code: number): boolean =>
  code === 46 || code === 33 || code === 63 || code === 0x3002 || code === 0xff01 || code === 0xff1f

/** A letter, a digit or an apostrophe; a comma or a space is none. */
const isOfWord = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 39 ||
  code === 0x2019 ||
  (code >= 0xc0 && code < 0x2000) ||
  (code >= 0x3400 && code < 0xa000)

/** Words, or characters in Chinese, by which beginnings are compared. */
const stemLength = { en: 3, zh: 4 } as const

/** The first words or characters from `start` on, and where the sentence ends. */
function scan(text: string, start: number, language: Language): { stem: string; end: number } {
  const most = stemLength[language]
  let [first, last, units] = [-1, -1, 0]
  let inside = false
  let at = start
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isEnd(code)) break
    if (units > most) continue
    const wordy = isOfWord(code)
    if (wordy && (language === 'zh' || !inside)) units++
    inside = wordy
    if (!wordy || units > most) continue
    if (first < 0) first = at
    last = at
  }
  return { stem: first < 0 ? '' : text.slice(first, last + 1).toLowerCase(), end: at }
}

/** How a text begins: its first three words, or four characters in Chinese. */
export const stemOf = (text: string, language: Language): string => scan(text, 0, language).stem

/** How each sentence of a text begins. */
export function stemsOf(text: string, language: Language): readonly string[] {
  const stems: string[] = []
  for (let at = 0; at < text.length; ) {
    const { stem, end } = scan(text, at, language)
    if (stem !== '') stems.push(stem)
    at = end + 1
  }
  return stems
}

/** A reply never changes, and is looked at in each of the next turns. */
const known = new WeakMap<Reply, readonly string[]>()

function stemsOfReply(reply: Reply, language: Language): readonly string[] {
  const before = known.get(reply)
  if (before) return before
  const stems = stemsOf(reply.text, language)
  known.set(reply, stems)
  return stems
}

type Memory = Pick<PatientContext, 'dialogue' | 'language'>

/** Turns since a sentence began with this stem, 0 for within `saying`; Infinity where none of the last three did. */
export function stemAge(stem: string, { dialogue, language }: Memory, saying = ''): number {
  if (saying !== '' && stemsOf(saying, language).includes(stem)) return 0
  const { length } = dialogue
  for (let ago = 1; ago <= stemMemory && ago <= length; ago++) {
    const exchange = dialogue[length - ago]
    if (exchange && stemsOfReply(exchange.reply, language).includes(stem)) return ago
  }
  return Number.POSITIVE_INFINITY
}

/** Turns since a text was said word for word, looking back over `turns`. */
function textAge(text: string, dialogue: readonly Exchange[], turns: number): number {
  const { length } = dialogue
  for (let ago = 1; ago <= turns && ago <= length; ago++)
    if (dialogue[length - ago]?.reply.text.includes(text)) return ago
  return Number.POSITIVE_INFINITY
}

/** How to choose a fresh sentence. */
export interface Freshness {
  /** How many turns back a sentence counts as said. @default 6 */
  readonly turns?: number
  /** What the reply says so far. @default '' */
  readonly saying?: string
}

/**
 * Picks a sentence that was not said in the last turns and begins like none said in the last three, keyed by the seed
 * and `keys`; where there is none, the one whose words are longest ago.
 */
export function pickFresh(
  bank: readonly string[],
  context: Pick<PatientContext, 'dialogue' | 'seed' | 'language'>,
  keys: readonly Key[],
  { turns = memory, saying = '' }: Freshness = {},
): string {
  const { dialogue, seed } = context
  const start = bank.length > 1 ? uniformInt(bank.length, seed, ...keys) : 0
  let best = ''
  let longest = -1
  for (let i = 0; i < bank.length; i++) {
    const text = bank[(start + i) % bank.length] ?? ''
    const stem = stemOf(text, context.language)
    const age = Math.min(textAge(text, dialogue, turns), stemAge(stem, context, saying))
    if (age <= longest) continue
    best = text
    longest = age
    if (age === Number.POSITIVE_INFINITY) break
  }
  return best
}
