/**
 * Tokenizer of the embedded policy, whose vocabulary is whole utterances.
 *
 * A token stream is: the statements and words of the intake, the clock; then for each turn the action that was drawn,
 * the statements of the reply and the words of its long ones, the clock. Ids below `actions` are actions; the rest are hashed words, hashed
 * statements and clock ticks (turns left). Only what the doctor reads is encoded.
 */

import { textInLanguage } from '../../case.js'
import type { Observation } from '../../env.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { fork } from '../../seed.js'
import type { Action, Turn } from '../../turn.js'

/** Words and statements are hashed to this many bits; as in any hashing tokenizer, two may share an id. */
const wordBits = 20
/** Number of word ids, and of statement ids. */
export const wordBuckets = 1 << wordBits

const han = /\p{Script=Han}+/gu
const statementWord = /\p{Script=Han}+|[a-z]+(?:'[a-z]+)?/gu
const latin = /[a-z]+(?:'[a-z]+)?|\d+/g

/** English words without polarity or content. Leaving them out saves time and keeps the meaning. */
const stopWords = new Set(
  `a am an and are as at be been but by did do does for from get got had has have i i'd i'm i've in is it
  it's its me my of on or so that the their there this to was were when with you your he he's his she
  she's her him`.split(/\s+/),
)

/** Ends of statements: full stops that are no decimal points, colons, and their Chinese forms. */
const statementEnd = /[.:;!?](?=\s|$)|[。；！？：]/u
/** Figures, their reference ranges, and openings that only repeat the polarity of what follows. */
const figures = /\((?:reference|参考)[^)]*\)|（参考[^）]*）|\d+(?:\.\d+)?/gu
const opening = /^(?:no|yes|yeah|doctor|没有|没|有|是的|不)$/u
/** Chinese pronouns and particles, which do not tell statements apart. */
const particles = /[我他她您你的了呢啊吧]/gu

/**
 * The statements of a text, each reduced to its content words: figures, pronouns and a leading yes or no are left out, so
 * that "No, his breathing is quiet." and "My breathing is quiet." are one statement.
 */
export function extractStatements(text: string): string[] {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(figures, ' ')
    .split(statementEnd)
    .flatMap((part) => {
      const words = (part.replaceAll(particles, '').match(statementWord) ?? []).filter(
        (word) => !stopWords.has(word),
      )
      while (words.length > 1 && opening.test(words[0]!)) words.shift()
      return words.length > 0 ? [words.join(' ')] : []
    })
}

/** Splits a text into words: English words without stop words, Chinese character pairs, numbers by their tens. */
export function extractWords(text: string): string[] {
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

/** Identity of an action in the vocabulary. Recommendations do not tell diagnoses apart. */
export const actionKey = (action: Action): string =>
  action.kind === 'ask'
    ? `ask ${action.text}`
    : action.kind === 'order'
      ? `order ${action.exam}`
      : action.kind === 'diagnose'
        ? `diagnose ${action.diagnosis}`
        : action.kind

/** Statements of more words than this are hardly ever said twice: they are read by their words as well. */
const shortStatement = 6

/** Number of words of a statement; two Chinese characters count as one. */
const countWords = (statement: string): number =>
  statement
    .split(' ')
    .reduce((sum, word) => sum + (/\p{Script=Han}/u.test(word) ? Math.ceil(word.length / 2) : 1), 0)

/** Whether a statement says only yes or no, so that its question is part of what it says. */
const isBare = (statement: string): boolean => opening.test(statement)

/** The words of a reply that are read beside its statements: those of long statements. */
const wordsBeside = (statements: readonly string[]): string[] =>
  statements.filter((one) => countWords(one) > shortStatement).flatMap(extractWords)

/** Maximum number of cached texts; replies repeat, so most turns cost one lookup. */
const cacheSize = 20_000

/** Ids of statements and words, each once, words from `firstWord` on and statements after them; cached by key. */
function createTextEncoder(firstWord: number) {
  const cache = new Map<string, readonly number[]>()
  const hash = (part: string): number => fork(0, part) >>> (32 - wordBits)
  return (
    key: string,
    read: () => { readonly statements: readonly string[]; readonly words: readonly string[] },
  ): readonly number[] => {
    const known = cache.get(key)
    if (known) return known
    const { statements, words } = read()
    const ids = [
      ...new Set(statements.map((one) => firstWord + wordBuckets + hash(one))),
      ...new Set(words.map((word) => firstWord + hash(word))),
    ]
    if (cache.size >= cacheSize) cache.clear()
    cache.set(key, ids)
    return ids
  }
}

/** Readers of intakes and replies, whose word ids begin at `firstWord`. */
function textReaders(firstWord: number) {
  const encodeText = createTextEncoder(firstWord)
  return {
    readIntake: (text: string): readonly number[] =>
      encodeText(`intake ${text}`, () => ({
        statements: extractStatements(text),
        words: extractWords(text),
      })),
    /** A bare yes or no is another statement after each question. */
    readReply: (asked: number | undefined, text: string): readonly number[] => {
      const after = asked ?? ''
      return encodeText(`${after} ${text}`, () => {
        const statements = extractStatements(text)
        return {
          statements: statements.map((one) => (isBare(one) ? `${one} ${after}` : one)),
          words: wordsBeside(statements),
        }
      })
    },
  }
}

function intakeText({ intake: { complaint, demographics }, language }: Observation): string {
  const { age, sex } = demographics
  return `${textInLanguage(complaint, language)} ${age ? `${Math.floor(age.v)} ${age.unit}` : ''} ${sex ?? ''}`
}

const replyText = ({ outcome }: Turn): string => (outcome.kind === 'closed' ? '' : outcome.text)

/** Creates the tokenizer of a policy over an action space. */
export function tokenizer(actionSpace: ActionSpace) {
  const actions = actionSpace.actions.length
  const ids = new Map(actionSpace.actions.map((action, id) => [actionKey(action), id] as const))
  const firstClock = actions + 2 * wordBuckets
  const { readIntake, readReply } = textReaders(actions)
  const actionId = (action: Action): number | undefined => ids.get(actionKey(action))
  return {
    /** Number of actions. */
    actions,
    /** Token id of an action; `undefined` outside the action space. */
    actionId,
    /** Tokens of everything the doctor has read and done so far; ends with the clock. */
    encode(observation: Observation): number[] {
      const { turns, turnsLeft } = observation
      const tokens = [...readIntake(intakeText(observation)), firstClock + turnsLeft + turns.length]
      turns.forEach((turn, t) => {
        const id = actionId(turn.action)
        if (id !== undefined) tokens.push(id)
        for (const part of readReply(id, replyText(turn))) tokens.push(part)
        tokens.push(firstClock + turnsLeft + turns.length - t - 1)
      })
      return tokens
    },
    /** True for token ids that are statements. */
    isStatement: (token: number): boolean => token >= actions + wordBuckets && token < firstClock,
    /** True for token ids that are clock ticks. */
    isClock: (token: number): boolean => token >= firstClock,
    /** The clock token of so many turns left. */
    clockOf: (turnsLeft: number): number => firstClock + turnsLeft,
    /** Turns left, of a clock token. */
    turnsLeft: (token: number): number => token - firstClock,
  }
}

/** Encodes observations as token ids. */
export type Tokenizer = ReturnType<typeof tokenizer>
