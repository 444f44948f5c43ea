/** Splits an utterance into sentences, and a sentence that asks twice into questions. */
import type { NormalisedText, TextClause } from '../../../text/phrase-search.js'
import {
  background,
  doctorStatement,
  exclusion,
  family,
  hasQuestionWord,
  isQuestionClause,
  isRequest,
  isTag,
  nextQuestion,
  statement,
} from './acts.js'
import { isGeneric, looseAttribute } from './attributes.js'
import { instructsAndChecks, planBefore } from './chinese/instructions.js'
import {
  introduces,
  leadsUp,
  onlyPlans,
  putsAside,
  seeksAgreement,
} from './english/spoken-turns.js'

/** One question, or a sentence that asks nothing; `start` and `end` are offsets in the normal form. */
export interface Sentence {
  readonly start: number
  readonly end: number
  readonly text: string
  /** 1 for a question, else 0. */
  readonly questions: number
  /** Whether it asks, by its wording, its question mark or as a request. */
  readonly inquires: boolean
  /** Whether it is short enough to be an elliptical question: "And fever?", "then the cough". */
  readonly fragment: boolean
}

/** Characters of the longest sentence that is read from its beginning; of a longer one, only from where it asks. */
const maxLength = 160

const han = /\p{Script=Han}/u
const latin = /\p{Script=Latin}/u
const isFragment = (text: string): boolean =>
  !statement.test(text) && (han.test(text) ? text.length <= 8 : text.split(' ').length <= 4)

/** A clause, or a part of one that asks its own question. */
interface Piece {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly asks: boolean
  /** Whether "and how …" or the like cuts it from the part before. */
  readonly cut: boolean
}

/** Splits a clause before each "… and do you …". */
function splitClause(text: string, { start, end }: TextClause): Piece[] {
  const whole = text.slice(start, end)
  // The space before a cut belongs to neither part.
  const cuts = [-1, ...[...whole.matchAll(nextQuestion)].map(({ index }) => index), whole.length]
  return cuts.slice(1).map((to, c) => {
    const from = cuts[c]! + 1
    const part = whole.slice(from, to)
    return {
      start: start + from,
      end: start + to,
      text: part,
      asks: isQuestionClause(part) && !background.test(part),
      cut: c > 0,
    }
  })
}

/** Drops the doctor's statements before the question: about themselves, others, or what the patient said. */
function dropPreamble(group: readonly Piece[], marked: boolean): readonly Piece[] {
  // "You've said no fever, but what about shivers?" asks with an interrogative word.
  const asksAt = group.findIndex(
    ({ text, asks }) => !isTag(text) && (asks || (latin.test(text) && hasQuestionWord(text))),
  )
  const leads = (clause: string): boolean =>
    leadsUp(clause) || (latin.test(clause) && exclusion.test(clause))
  const last = group.at(-1)
  // "You said you are tired, where?" asks about what it repeats.
  const names =
    last !== undefined &&
    !isGeneric(last.text) &&
    !isTag(last.text) &&
    looseAttribute(last.text) === undefined
  const isAside = (piece: Piece): boolean =>
    piece !== last &&
    ((names && background.test(piece.text)) || (latin.test(piece.text) && putsAside(piece.text)))
  // "My notes say your father died young, was it his heart?" is about the father.
  const from = group.findIndex(
    (piece, p) =>
      !isAside(piece) &&
      (piece.asks ||
        isRequest(piece.text) ||
        (p < asksAt && family.test(piece.text)) ||
        !(
          doctorStatement.test(piece.text) ||
          introduces(piece.text) ||
          (p < asksAt && leads(piece.text))
        )),
  )
  const whole = from < 0 ? [] : group.slice(from)
  const length = (whole.at(-1)?.end ?? 0) - (whole[0]?.start ?? 0)
  const rest = length > maxLength && asksAt > from ? group.slice(asksAt) : whole
  const asks = marked || rest.some((piece) => piece.asks || isRequest(piece.text))
  return from > 0 && (!asks || rest.every(({ text }) => isTag(text))) ? [] : rest
}

function makeSentence(
  text: string,
  group: readonly Piece[],
  marked: boolean,
): Sentence | undefined {
  const left = dropPreamble(group, marked)
  const told = instructsAndChecks(left.map((piece) => piece.text))
  const kept = told ? left : left.slice(planBefore(left.map((piece) => piece.text)))
  const first = kept[0]
  const last = kept.at(-1)
  if (!first || !last) return undefined
  const whole = text.slice(first.start, last.end)
  const wonders = kept.some((piece) => latin.test(piece.text) && hasQuestionWord(piece.text))
  const texts = kept.map((piece) => piece.text)
  const plans =
    !marked &&
    latin.test(whole) &&
    !kept.some(({ asks }) => asks) &&
    !isRequest(whole) &&
    onlyPlans(texts, hasQuestionWord)
  const inquires =
    !plans &&
    (marked ||
      wonders ||
      kept.some(({ asks }) => asks) ||
      hasQuestionWord(whole) ||
      isRequest(whole)) &&
    !seeksAgreement(texts) &&
    !told
  return {
    start: first.start,
    end: last.end,
    text: whole,
    questions: inquires ? 1 : 0,
    inquires,
    fragment: isFragment(whole),
  }
}

const direct = /^(?:(?:and|so|but|ok|now) )*(?:what|where|who|when)\b/
/** Whether an English clause is a question of its own by an interrogative word at its beginning. */
const asks = (clause: string): boolean =>
  direct.test(clause) && hasQuestionWord(clause) && looseAttribute(clause) === undefined

/** Groups clauses into questions: each begins with a clause that asks; the first includes all clauses before it. */
function groupQuestions(all: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = []
  let asked = false
  for (const piece of all) {
    const group = groups.at(-1)
    const before = group?.at(-1)?.text ?? ''
    const opens = piece.asks && !isTag(piece.text)
    // "What's his job, any dust or chemicals?"
    const lists = /^(?:(?:and|or) )?any\b/.test(piece.text) && asks(before)
    // "How long have you had it and does it come and go?"
    const second = piece.cut && latin.test(before) && hasQuestionWord(before)
    if (!group || (opens && asked) || second || (lists && opens)) groups.push([piece])
    else group.push(piece)
    asked = opens || (asked && group !== undefined)
  }
  return groups
}

/** Splits an utterance into its questions and other sentences, in order. */
export function splitSentences({ text, clauses }: NormalisedText): Sentence[] {
  const sentences: Sentence[] = []
  let from = 0
  clauses.forEach(({ mark }, c) => {
    if (mark === 'comma' && c < clauses.length - 1) return
    const pieces = clauses.slice(from, c + 1).flatMap((clause) => splitClause(text, clause))
    const groups = groupQuestions(pieces)
    groups.forEach((group, g) => {
      const made = makeSentence(text, group, mark === 'question' && g === groups.length - 1)
      if (made) sentences.push(made)
    })
    from = c + 1
  })
  return sentences
}

const confirms =
  /^(?:(?:or|and|so) )?(?:is|was) (?:that|this|it) (?:all )?(?:right|correct|so|true)$|^(?:right|correct|is it|isnt it|did you say|is that it)$|^(?:(?:do|can) you (?:still )?(?:remember|recall|know|tell)(?: (?:that|it|at all|exactly|roughly))*|any idea|if you (?:remember|know|can remember))$|^你?(?:还|都)?(?:能)?(?:记得|记不记得|记得清|记得住|想得起来|有印象)(?:吗|不|么|没有?)?$|^(?:对吗|对吧|对不对|是吗|是吧|是不是|是这样吗|没错吧)$/

/** "You have a cough. Is that right?" asks about the cough: the sentence before such a tag inquires. */
export function joinTags(sentences: readonly Sentence[]): readonly Sentence[] {
  return sentences.flatMap((sentence, s) => {
    const after = sentences[s + 1]
    if (after && confirms.test(after.text)) return [{ ...sentence, questions: 1, inquires: true }]
    return s > 0 && confirms.test(sentence.text) ? [] : [sentence]
  })
}
