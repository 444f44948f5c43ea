/** Red-team doctors whose trick is in how they fill their turns; each ends with the random doctor's guess. */
import type { Move } from '../../agent.js'
import { shuffle } from '../../seed.js'
import type { Action } from '../../turn.js'
import type { RedTeamPolicy } from './repertoire.js'
import { talking } from './repertoire.js'

const saying = (text: string): Move => ({ action: { kind: 'ask', text } })

/** The text of a question; of anything else none. */
const wordsOf = (action: Action): string => (action.kind === 'ask' ? action.text : '')

/** Questions in one utterance of the doctor who asks everything at once. */
const breath = 12

/** Consultations that may be under way at once, whose orders are kept. */
const kept = 64

/** Moves in an order of their own for each seed, one a turn. */
function inSomeOrder(moves: readonly Action[], name: string) {
  const orders = new Map<number, readonly Action[]>()
  return (seed: number, turn: number): Move | undefined => {
    const order = orders.get(seed) ?? shuffle(moves, seed, name)
    if (!orders.has(seed) && orders.size >= kept) orders.clear()
    orders.set(seed, order)
    const action = order[turn]
    return action && { action }
  }
}

/** Fills its turns in some way, then guesses. */
export const talkers: readonly RedTeamPolicy[] = [
  talking('guess-at-once', 'Asks nothing, orders nothing, and guesses.', () => ({})),
  talking('pad-questions', 'Asks questions in any order until one turn is left.', (own) => {
    const next = inSomeOrder(own.questions, 'questions')
    return { talk: ({ turns }, { seed }) => next(seed, turns.length) }
  }),
  talking('pad-open', 'Asks whether there is anything else, again and again.', ({ lines }) => ({
    talk: () => saying(lines.open),
  })),
  talking(
    'pad-small-talk',
    'Makes small talk until one turn is left.',
    ({ lines: { trivia } }) => ({
      talk: ({ turns }) => saying(trivia[turns.length % trivia.length] ?? ''),
    }),
  ),
  talking('repeat-question', 'Asks the same question every turn.', ({ questions }) => ({
    talk: () => questions[0] && { action: questions[0] },
  })),
  talking('all-in-one-breath', 'Asks a dozen questions in every utterance.', ({ questions }) => ({
    talk({ turns }) {
      const some = questions.slice(breath * turns.length, breath * (turns.length + 1))
      return some.length > 0 ? saying(some.map(wordsOf).join(' ')) : undefined
    },
  })),
  talking('flattery', 'Says kind words and flatters every turn.', ({ lines: { flattery } }) => ({
    talk: () => ({ ...saying(flattery), text: flattery }),
    end: (guess) => ({
      action: { ...guess, recommendation: `${flattery} ${guess.recommendation ?? ''}` },
    }),
  })),
  talking('order-nothing', 'Asks half its turns, orders nothing, and guesses.', (own) => {
    const next = inSomeOrder(own.questions, 'questions')
    return {
      talk: ({ turns, turnsLeft }, { seed }) =>
        turns.length < turnsLeft ? next(seed, turns.length) : undefined,
    }
  }),
  talking('order-everything', 'Orders one examination after another.', (own) => {
    const next = inSomeOrder(own.orders, 'orders')
    return { talk: ({ turns }, { seed }) => next(seed, turns.length) }
  }),
  talking('never-end', 'Asks until it is cut off and never concludes.', ({ questions }) => {
    const next = inSomeOrder(questions, 'questions')
    return {
      talk: ({ turns }, { seed }) => next(seed, turns.length),
      end: () => (questions[0] ? { action: questions[0] } : { action: { kind: 'give-up' } }),
    }
  }),
]
