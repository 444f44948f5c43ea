/**
 * Reading for a policy whose words are whole utterances.
 *
 * A token stream is: the words of the intake, the clock; then for each turn the move that was drawn, the
 * words of the reply, the clock. Ids below `actions` are moves; the rest are hashed words and clock ticks.
 * Only what the doctor reads goes in.
 */

import { inLanguage } from '../../case.js'
import type { Observation } from '../../env.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { fork } from '../../seed.js'
import type { Action, Turn } from '../../turn.js'

/** Words are hashed to this many bits; the ids of two words may coincide, as in any hashing tokenizer. */
const wordBits = 20
export const wordSpace = 1 << wordBits

const han = /\p{Script=Han}+/gu
const latin = /[a-z]+(?:'[a-z]+)?|\d+/g

/** English words that carry neither polarity nor content; what is left reads faster and means the same. */
const stopWords = new Set(
  `a am an and are as at be been but by did do does for from get got had has have i i'd i'm i've in is it
  it's its me my of on or so that the their there this to was were when with you your`.split(/\s+/),
)

/** The words of a text: English words but for stop words, Chinese character pairs, numbers by their tens. */
export function wordsOf(text: string): string[] {
  const lower = text.normalize('NFKC').toLowerCase()
  const words: string[] = []
  for (const [run] of lower.matchAll(han)) {
    if (run.length === 1) words.push(run)
    for (let i = 0; i + 1 < run.length; i++) words.push(run.slice(i, i + 2))
  }
  for (const [word] of lower.matchAll(latin)) {
    if (stopWords.has(word)) continue
    words.push(/^\d/.test(word) ? `#${word.slice(0, -1)}0` : word)
  }
  return words
}

/** What tells two moves apart: a diagnosis is the same whatever is recommended with it. */
export const actionKey = (action: Action): string =>
  action.kind === 'ask'
    ? `ask ${action.text}`
    : action.kind === 'order'
      ? `order ${action.exam}`
      : action.kind === 'diagnose'
        ? `diagnose ${action.diagnosis}`
        : action.kind

export interface Tokenizer {
  /** Every token of what the doctor has read and done so far; ends with the clock. */
  encode(observation: Observation): number[]
  /** The id of a move; `undefined` outside the vocabulary. */
  move(action: Action): number | undefined
  readonly actions: number
  /** True for ids that are clock ticks. */
  isClock(token: number): boolean
  /** Turns left, of a clock token. */
  clock(token: number): number
}

/** Texts a tokenizer remembers; replies repeat, so that most turns cost one look-up. */
const remembered = 20_000

export function tokenizer(actionSpace: ActionSpace): Tokenizer {
  const actions = actionSpace.actions.length
  const moves = new Map(actionSpace.actions.map((action, id) => [actionKey(action), id] as const))
  const firstWord = actions
  const firstClock = actions + wordSpace
  const cache = new Map<string, readonly number[]>()

  const words = (text: string): readonly number[] => {
    const known = cache.get(text)
    if (known) return known
    const ids = [...new Set(wordsOf(text))].map(
      (word) => firstWord + (fork(0, word) >>> (32 - wordBits)),
    )
    if (cache.size >= remembered) cache.clear()
    cache.set(text, ids)
    return ids
  }

  const intake = ({ intake: { complaint, demographics }, language }: Observation): string => {
    const { age, sex } = demographics
    return `${inLanguage(complaint, language)} ${age ? `${Math.floor(age.v)} ${age.unit}` : ''} ${sex ?? ''}`
  }

  const reply = ({ outcome }: Turn): string => (outcome.kind === 'closed' ? '' : outcome.text)

  const moveOf = (action: Action): number | undefined => moves.get(actionKey(action))

  return {
    actions,
    move: moveOf,
    encode(observation) {
      const { turns, turnsLeft } = observation
      const tokens = [...words(intake(observation)), firstClock + turnsLeft + turns.length]
      turns.forEach((turn, t) => {
        const move = moveOf(turn.action)
        if (move !== undefined) tokens.push(move)
        for (const id of words(reply(turn))) tokens.push(id)
        tokens.push(firstClock + turnsLeft + turns.length - t - 1)
      })
      return tokens
    },
    isClock: (token) => token >= firstClock,
    clock: (token) => token - firstClock,
  }
}
