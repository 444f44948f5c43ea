/** Whether the doctor asked and ordered what was not settled yet. */
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { shareOfTurns } from './share-of-turns.js'

/** What is settled after the turns so far. */
interface Settled {
  readonly findings: Set<string>
  readonly exams: Set<string>
  /** Orders by their words, for those that no examination came of. */
  readonly orders: Set<string>
}

const plain = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()

/** A question that asks for nothing new: a finding that was left open or kept back may be asked for again. */
const isAskedAgain = ({ facts }: EpisodeTurn, { findings }: Settled): boolean =>
  facts.understood === 'repeated' ||
  (facts.asked.length > 0 && facts.asked.every((finding) => findings.has(finding)))

/** An order whose results are there; one whose results have run out is `resulted` again. */
function isOrderedAgain(exam: string, { facts }: EpisodeTurn, { exams, orders }: Settled): boolean {
  if (facts.ordered === 'resulted') return false
  if (facts.ordered === 'repeat' || orders.has(plain(exam))) return true
  return facts.exams.length > 0 && facts.exams.every((one) => exams.has(one))
}

function settle({ action, facts }: EpisodeTurn, { findings, exams, orders }: Settled): void {
  if (action.kind === 'order') orders.add(plain(action.exam))
  for (const exam of facts.exams) exams.add(exam)
  for (const { finding, state } of facts.told) if (state !== 'unknown') findings.add(finding)
}

/** Whether a turn asked for a finding or ordered something, and so could be a repeat; a courtesy cannot. */
const isInquiry = ({ action, facts }: EpisodeTurn): boolean =>
  action.kind === 'order' ||
  (action.kind === 'ask' && (facts.asked.length > 0 || facts.understood === 'repeated'))

/**
 * The share of the questions for findings and of the orders that were no repeats. Findings and examinations are told
 * apart by their ids, so another wording hides nothing; an order that nobody knows, by its words. Asking again for what
 * was left unknown, kept back or not understood is no repeat, nor is an examination whose result has run out. Courtesies
 * are not counted, so they do not thin repeats out. 0 where nothing was asked or ordered.
 */
export const repetition = (): Reward =>
  shareOfTurns({ name: 'repetition', source: 'no repeats, by finding and examination' }, () => {
    const settled: Settled = { findings: new Set(), exams: new Set(), orders: new Set() }
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
