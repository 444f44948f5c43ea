/** Conduct rewards: the share of the doctor's turns that ask one question, ask precisely, repeat nothing and are well-formed. */
import { type Episode, type EpisodeTurn, findDraw } from '../../episode.js'
import { notApplicable, ok, type Part, type Reward } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Understanding } from '../../turn.js'
import { defineReward } from '../define.js'
import { countQuestions, maxQuestions } from './questions.js'

/**
 * Makes a reward that is the mean over the turns judged. Without any it is `none`, by default 0: a doctor who never
 * asked has not asked well, and a part left out would raise the weight of the others.
 * @param judging makes the turn judge of an episode, which is called on its turns in order
 */
export const shareOfTurns = (
  {
    none = ok(0, '0 of 0 turns'),
    ...declared
  }: { readonly name: string; readonly source: string; readonly none?: Part },
  judging: (episode: Episode) => (turn: EpisodeTurn) => number | undefined,
): Reward =>
  defineReward({ ...declared, bounds: [0, 1] }, (episode) => {
    const judge = judging(episode)
    let judged = 0
    let good = 0
    for (const turn of episode.turns) {
      const value = judge(turn)
      if (value === undefined) continue
      judged++
      good += value
    }
    return judged === 0 ? none : ok(good / judged, `${good} of ${judged} turns`)
  })

const newQuestion: ReadonlySet<Understanding> = new Set<Understanding>([
  'answered',
  'unknown',
  'exam-only',
  'withheld',
  'open',
])

function isGoodForm({ action, outcome, facts }: EpisodeTurn, done: ReadonlySet<string>): boolean {
  if (action.kind === 'ask')
    return (
      outcome.kind === 'answered' &&
      facts.questions === 1 &&
      facts.understood !== undefined &&
      newQuestion.has(facts.understood)
    )
  return (
    action.kind === 'order' &&
    outcome.kind === 'examined' &&
    facts.exams.some((exam) => !done.has(exam))
  )
}

/**
 * The share of the turns before the diagnosis that are good form: an ask of exactly one question that was understood,
 * not asked before and not refused, or an order that was carried out and is not a repeat. Unreadable and rejected turns
 * are not. Not applicable where there were no turns, which a policy can bring about: compose it as
 * `otherwise(communication(), 0)`.
 */
export const communication = (): Reward =>
  shareOfTurns(
    {
      name: 'communication',
      source: 'one question a turn as in DoctorAgent-RL; act taxonomy of AIE',
      none: notApplicable,
    },
    () => {
      const done = new Set<string>()
      return (turn) => {
        if (turn.action.kind === 'diagnose' || turn.action.kind === 'give-up') return undefined
        const good = isGoodForm(turn, done)
        for (const exam of turn.facts.exams) done.add(exam)
        return Number(good)
      }
    },
  )

/** Options of {@link oneQuestion}. */
export interface OneQuestionOptions {
  /** Maximum number of findings of one question ("Any cough or cold?"); more make it a list. @default 2 */
  readonly mostFindings?: number
}

const isOne = (text: string, { facts }: EpisodeTurn, mostFindings: number): boolean =>
  facts.asked.length <= mostFindings && Math.max(countQuestions(text), facts.questions ?? 0) === 1

/**
 * The share of the utterances that ask exactly one question, by the larger of two counts: in their own words
 * (`countQuestions`, both scripts) and by the patient. "?" and "？", 吗 and 呢 without a mark, 有没有…有没有…, and "…, and do
 * you …" all count, and a question for more than `mostFindings` findings is several. An utterance that asks nothing does
 * not count as one question, and a doctor who never asked gets 0.
 * @throws RangeError when `mostFindings` is not a positive integer
 */
export function oneQuestion({ mostFindings = 2 }: OneQuestionOptions = {}): Reward {
  if (!Number.isInteger(mostFindings) || mostFindings < 1)
    throw new RangeError(`Expected \`mostFindings\` to be a positive integer, got ${mostFindings}`)
  return shareOfTurns(
    { name: 'one-question', source: 'one question a turn, as asked for in DoctorAgent-RL' },
    () => (turn) =>
      turn.action.kind === 'ask' ? Number(isOne(turn.action.text, turn, mostFindings)) : undefined,
  )
}

const specific: ReadonlySet<Understanding> = new Set<Understanding>([
  'answered',
  'unknown',
  'exam-only',
  'withheld',
])

/** Credit of the first open question, a legitimate way to begin a consultation. */
const opening = 0.5

function isSpecific({ facts }: EpisodeTurn, asked: ReadonlySet<string>): boolean {
  return (
    facts.understood !== undefined &&
    specific.has(facts.understood) &&
    (facts.questions ?? 1) <= maxQuestions &&
    facts.asked.some((finding) => !asked.has(finding))
  )
}

/**
 * The mean over the doctor's utterances of 1 for a specific question (about a finding not asked about before, or asked
 * but withheld), ½ for the first open question, and 0 for any other: later open ones, ambiguous ones, ones not
 * understood, repeats, lists of more than two questions, requests for the diagnosis, courtesies. 0 where nothing was
 * asked.
 */
export const questionSpecificity = (): Reward =>
  shareOfTurns(
    {
      name: 'question-specificity',
      source:
        'specific and broad inquiries as in the states of AIE (Automatic Interactive Evaluation)',
    },
    () => {
      const asked = new Set<string>()
      let opened = false
      return (turn) => {
        const { action, facts } = turn
        if (action.kind !== 'ask') return undefined
        const isNew = isSpecific(turn, asked)
        if (facts.understood !== 'withheld') for (const finding of facts.asked) asked.add(finding)
        if (isNew) return 1
        if (facts.understood !== 'open' || opened) return 0
        opened = true
        return opening
      }
    },
  )

interface Covered {
  readonly findings: Set<string>
  readonly exams: Set<string>
  /** Orders by their words, for those that led to no examination. */
  readonly orders: Set<string>
}

const plain = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()

/** Whether a question asks for nothing new; a finding that was left open or withheld may be asked for again. */
const isAskedAgain = ({ facts }: EpisodeTurn, { findings }: Covered): boolean =>
  facts.understood === 'repeated' ||
  (facts.asked.length > 0 && facts.asked.every((finding) => findings.has(finding)))

/** Whether an order's results are already known; an order whose results have expired is `resulted` again. */
function isOrderedAgain(exam: string, { facts }: EpisodeTurn, { exams, orders }: Covered): boolean {
  if (facts.ordered === 'resulted') return false
  if (facts.ordered === 'repeat' || orders.has(plain(exam))) return true
  return facts.exams.length > 0 && facts.exams.every((one) => exams.has(one))
}

function settle({ action, facts }: EpisodeTurn, { findings, exams, orders }: Covered): void {
  if (action.kind === 'order') orders.add(plain(action.exam))
  for (const exam of facts.exams) exams.add(exam)
  for (const { finding, state } of facts.told) if (state !== 'unknown') findings.add(finding)
}

/** Whether a turn asked for a finding or ordered something, and so could be a repeat; a courtesy cannot. */
const isInquiry = ({ action, facts }: EpisodeTurn): boolean =>
  action.kind === 'order' ||
  (action.kind === 'ask' && (facts.asked.length > 0 || facts.understood === 'repeated'))

/**
 * The share of questions for findings and of orders that are not repeats. Findings and examinations are compared by
 * id, so rewording does not hide a repeat; unknown orders are compared by their words. Asking again for a finding that
 * was left unknown, withheld or not understood is not a repeat, nor is an examination whose result has expired.
 * Courtesies are not counted, so they do not dilute repeats. 0 where nothing was asked or ordered.
 */
export const repetition = (): Reward =>
  shareOfTurns({ name: 'repetition', source: 'no repeats, by finding and examination' }, () => {
    const settled: Covered = { findings: new Set(), exams: new Set(), orders: new Set() }
    return (turn) => {
      const { action } = turn
      const again =
        action.kind === 'order'
          ? isOrderedAgain(action.exam, turn, settled)
          : isAskedAgain(turn, settled)
      settle(turn, settled)
      return isInquiry(turn) ? (again ? 0 : 1) : undefined
    }
  })

/** End marker: cannot be part of a tag, and does not occur in text. */
const end = '\u{10fffd}'

/** Whether a reply has an unclosed segment of hidden reasoning, which hides everything after it. */
const isUnclosed = (text: string): boolean => !stripHiddenReasoning(`${text}\n${end}`).endsWith(end)

const isWellFormed = (turn: EpisodeTurn): boolean =>
  turn.action.kind !== 'invalid' &&
  findDraw(turn)?.stopReason !== 'length' &&
  (turn.text === undefined || !isUnclosed(turn.text))

/**
 * The share of well-formed replies: parsed by the grammar as exactly one action, all hidden reasoning closed, and not
 * cut off at the token limit. The last two are judged where the reply's text or tokens are recorded. Every reply counts,
 * the diagnosis too; no reply at all is 0. It ignores the content, so any terse doctor gets it: use a small weight, or
 * `gate(replyFormat(), …)`.
 */
export const replyFormat = (): Reward =>
  shareOfTurns(
    { name: 'format', source: 'share of readable replies, after the format rewards of R1' },
    () => (turn) => (isWellFormed(turn) ? 1 : 0),
  )
