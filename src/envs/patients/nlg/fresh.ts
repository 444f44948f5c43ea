/** Choice among sentences of one meaning, so that a patient does not say the same words twice within a few turns. */
import type { Exchange, PatientContext, Reply } from '../../../patient.js'
import { type Key, uniformInt } from '../../../seed.js'
import type { Language } from '../../../turn.js'

/** Turns within which a sentence is not said again, where there is another. */
const memory = 6
/** Turns within which no two sentences begin alike, where there is another. */
const stemMemory = 3

const sentenceEnd = /[.?!。？！]+/

/** How a sentence begins: its first three words, or four characters in Chinese. */
export function stemOf(sentence: string, language: Language): string {
  if (language === 'zh') return sentence.replace(/[^\p{L}\p{N}]/gu, '').slice(0, 4)
  const words = sentence.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? []
  return words.slice(0, 3).join(' ')
}

/** How each sentence of a text begins. */
export const stemsOf = (text: string, language: Language): readonly string[] =>
  text.split(sentenceEnd).flatMap((sentence) => stemOf(sentence, language) || [])

/** A reply never changes, and is looked at in each of the next turns. */
const known = new WeakMap<Reply, ReadonlySet<string>>()

function stemsOfReply(reply: Reply, language: Language): ReadonlySet<string> {
  const before = known.get(reply)
  if (before) return before
  const stems = new Set(stemsOf(reply.text, language))
  known.set(reply, stems)
  return stems
}

type Memory = Pick<PatientContext, 'dialogue' | 'language'>

/** Turns since a sentence began like this one, 0 for within `saying`; Infinity where none of the last three did. */
export function stemAge(sentence: string, { dialogue, language }: Memory, saying = ''): number {
  const stem = stemOf(sentence.split(sentenceEnd, 1)[0] ?? '', language)
  if (saying !== '' && stemsOf(saying, language).includes(stem)) return 0
  for (let ago = 1; ago <= stemMemory; ago++) {
    const reply: Exchange['reply'] | undefined = dialogue.at(-ago)?.reply
    if (reply && stemsOfReply(reply, language).has(stem)) return ago
  }
  return Number.POSITIVE_INFINITY
}

/** Turns since a text was said word for word, looking back over `turns`. */
function textAge(text: string, dialogue: readonly Exchange[], turns: number): number {
  for (let ago = 1; ago <= Math.min(turns, dialogue.length); ago++)
    if (dialogue.at(-ago)?.reply.text.includes(text)) return ago
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
    const age = Math.min(textAge(text, dialogue, turns), stemAge(text, context, saying))
    if (age <= longest) continue
    best = text
    longest = age
    if (age === Number.POSITIVE_INFINITY) break
  }
  return best
}
