/** Question specificity: the mean credit of the doctor's utterances, specific questions 1, the first open one ½. */
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import type { Understanding } from '../../turn.js'
import { maxQuestions } from './questions.js'
import { shareOfTurns } from './share-of-turns.js'

/** Classes of an utterance that asked about particular findings, whatever the answer. */
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
