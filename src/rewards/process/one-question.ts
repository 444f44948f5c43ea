/** Whether the doctor asked one thing at a time. */
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { questionsIn } from './questions.js'
import { shareOfTurns } from './share-of-turns.js'

export interface OneQuestionOptions {
  /** Findings that one question may be about ("Any cough or cold?"); one that asks for more is a list. @default 2 */
  readonly mostFindings?: number
}

const isOne = (text: string, { facts }: EpisodeTurn, mostFindings: number): boolean =>
  facts.asked.length <= mostFindings && Math.max(questionsIn(text), facts.questions ?? 0) === 1

/**
 * The share of the utterances that asked exactly one question: by their own words, in either script, or by the
 * patient's count, whichever is more. "?" and "？", 吗 and 呢 without a mark, 有没有…有没有…, and "…, and do you …" all
 * count, and a question for more findings than `mostFindings` is several. One that asks nothing is not one question, and
 * a doctor who never asked gets 0.
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
