/** An utterance in questions: its sentences, cut where one sentence asks twice, and which of them ask at all. */
import type { Clause, Normal } from '../../../text/phrase-search.js'
import {
  hasQuestionWord,
  isQuestionClause,
  isRequest,
  isTag,
  nextQuestion,
  ofDoctor,
  statement,
} from './acts.js'

/** One question, or a sentence that asks none. */
export interface Sentence {
  readonly start: number
  readonly end: number
  readonly text: string
  /** 1 where it asks, by its wording, its question mark or as a request. */
  readonly questions: number
  readonly inquires: boolean
  /** It is short enough to be the rest of a question: "And fever?", "then the cough". */
  readonly fragment: boolean
}

const han = /\p{Script=Han}/u
const isFragment = (text: string): boolean =>
  !statement.test(text) && (han.test(text) ? text.length <= 8 : text.split(' ').length <= 4)

interface Piece {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly asks: boolean
}

/** A clause, cut before each "… and do you …". */
function pieces(text: string, { start, end }: Clause): Piece[] {
  const whole = text.slice(start, end)
  // The space before the cut belongs to nobody.
  const cuts = [-1, ...[...whole.matchAll(nextQuestion)].map(({ index }) => index), whole.length]
  return cuts.slice(1).map((to, c) => {
    const from = cuts[c]! + 1
    const part = whole.slice(from, to)
    return { start: start + from, end: start + to, text: part, asks: isQuestionClause(part) }
  })
}

/** What the doctor says of themselves or of others before asking is left out. */
function trimmed(group: readonly Piece[], marked: boolean): readonly Piece[] {
  const from = group.findIndex(({ text, asks }) => asks || !ofDoctor.test(text) || isRequest(text))
  const rest = from < 0 ? [] : group.slice(from)
  const asks = marked || rest.some((piece) => piece.asks || isRequest(piece.text))
  return from > 0 && (!asks || rest.every(({ text }) => isTag(text))) ? [] : rest
}

function sentence(text: string, group: readonly Piece[], marked: boolean): Sentence | undefined {
  const kept = trimmed(group, marked)
  const first = kept[0]
  const last = kept.at(-1)
  if (!first || !last) return undefined
  const whole = text.slice(first.start, last.end)
  const inquires =
    marked || kept.some(({ asks }) => asks) || hasQuestionWord(whole) || isRequest(whole)
  return {
    start: first.start,
    end: last.end,
    text: whole,
    questions: inquires ? 1 : 0,
    inquires,
    fragment: isFragment(whole),
  }
}

/** The questions within one sentence: each begins with a clause that asks, the first with what comes before. */
function grouped(all: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = []
  let asked = false
  for (const piece of all) {
    const group = groups.at(-1)
    const opens = piece.asks && !isTag(piece.text)
    if (!group || (opens && asked)) groups.push([piece])
    else group.push(piece)
    asked = opens || (asked && group !== undefined)
  }
  return groups
}

/** The questions and other sentences of an utterance, in order. */
export function sentencesOf({ text, clauses }: Normal): Sentence[] {
  const sentences: Sentence[] = []
  let from = 0
  clauses.forEach(({ mark }, c) => {
    if (mark === 'comma' && c < clauses.length - 1) return
    const groups = grouped(clauses.slice(from, c + 1).flatMap((clause) => pieces(text, clause)))
    groups.forEach((group, g) => {
      const made = sentence(text, group, mark === 'question' && g === groups.length - 1)
      if (made) sentences.push(made)
    })
    from = c + 1
  })
  return sentences
}
