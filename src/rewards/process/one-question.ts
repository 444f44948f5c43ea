/** One-question reward: the share of the doctor's utterances that ask exactly one question. */
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { countQuestions } from './questions.js'
import { shareOfTurns } from './share-of-turns.js'

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
