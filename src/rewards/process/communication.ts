/** Communication reward: the share of turns with one clear new question or a new examination. */
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import type { Understanding } from '../../turn.js'
import { defineReward } from '../define.js'

/** Classes of an utterance that was an understood, new question. */
const newQuestion: ReadonlySet<Understanding> = new Set<Understanding>([
  'answered',
  'unknown',
  'exam-only',
  'withheld',
  'open',
])

/** Whether a turn was one understood, new question, or an order with an examination not done before. */
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
  defineReward(
    {
      name: 'communication',
      bounds: [0, 1],
      source: 'one question a turn as in DoctorAgent-RL; act taxonomy of AIE',
    },
    ({ turns }) => {
      const done = new Set<string>()
      let counted = 0
      let good = 0
      for (const turn of turns) {
        if (turn.action.kind === 'diagnose' || turn.action.kind === 'give-up') continue
        counted++
        if (isGoodForm(turn, done)) good++
        for (const exam of turn.facts.exams) done.add(exam)
      }
      return counted === 0 ? notApplicable : ok(good / counted, `${good} of ${counted} turns`)
    },
  )
