/** Repetition reward: the share of questions and orders that are not repeats. */
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { shareOfTurns } from './share-of-turns.js'

/** Findings and examinations known after the turns so far. */
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
