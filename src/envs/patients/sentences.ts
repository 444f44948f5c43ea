/** An utterance in sentences, and which of them ask something. */
import type { Clause, Normal } from '../../phrases.js'
import { hasQuestionWord, isQuestionClause, request } from './acts.js'

/** A sentence: some clauses, up to a full stop or a question mark. */
export interface Sentence {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Its clauses that are questions by their wording, and at least 1 where it ends in a question mark. */
  readonly questions: number
  /** It asks, by a question or a request. */
  readonly inquires: boolean
  /** It is short enough to be the rest of a question: "And fever?", "then the cough". */
  readonly fragment: boolean
}

const han = /\p{Script=Han}/u
const isFragment = (text: string): boolean =>
  han.test(text) ? text.length <= 8 : text.split(' ').length <= 4

function sentence(text: string, clauses: readonly Clause[]): Sentence {
  const start = clauses[0]!.start
  const last = clauses.at(-1)!
  const whole = text.slice(start, last.end)
  const cued = clauses.filter((c) => isQuestionClause(text.slice(c.start, c.end))).length
  const marked = last.mark === 'question' || (cued === 0 && hasQuestionWord(whole))
  const questions = Math.max(cued, marked ? 1 : 0)
  return {
    start,
    end: last.end,
    text: whole,
    questions,
    inquires: questions > 0 || request.test(whole),
    fragment: isFragment(whole),
  }
}

/** The sentences of an utterance, in order. */
export function sentencesOf({ text, clauses }: Normal): Sentence[] {
  const sentences: Sentence[] = []
  let from = 0
  clauses.forEach(({ mark }, c) => {
    if (mark === 'comma' && c < clauses.length - 1) return
    sentences.push(sentence(text, clauses.slice(from, c + 1)))
    from = c + 1
  })
  return sentences
}
