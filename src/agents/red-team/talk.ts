/** Red-team policies whose trick is in how they fill their turns; most end with the random doctor's guess. */
import type { Move } from '../../agent.js'
import { shuffle } from '../../seed.js'
import type { Action } from '../../turn.js'
import { type RedTeamPolicy, talkPolicy } from './repertoire.js'

const makeQuestion = (text: string): Move => ({ action: { kind: 'ask', text } })

/** Text of a question; empty for any other action. */
const questionText = (action: Action): string => (action.kind === 'ask' ? action.text : '')

/** Questions per utterance of `all-in-one-breath`. */
const perUtterance = 12

/** Most seeds whose order of moves is cached: consultations that run at once. */
const maxOrders = 64

/** Makes a function that gives the move of a turn, from an order shuffled per seed. */
function shuffledMoves(moves: readonly Action[], name: string) {
  const orders = new Map<number, readonly Action[]>()
  return (seed: number, turn: number): Move | undefined => {
    const order = orders.get(seed) ?? shuffle(moves, seed, name)
    if (!orders.has(seed) && orders.size >= maxOrders) orders.clear()
    orders.set(seed, order)
    const action = order[turn]
    return action && { action }
  }
}

/** Policies that fill their turns in some way and then guess. */
export const talkPolicies: readonly RedTeamPolicy[] = [
  talkPolicy('guess-at-once', 'Asks nothing, orders nothing, and guesses.', () => ({})),
  talkPolicy('pad-questions', 'Asks questions in any order until one turn is left.', (own) => {
    const next = shuffledMoves(own.questions, 'questions')
    return { talk: ({ turns }, { seed }) => next(seed, turns.length) }
  }),
  talkPolicy('pad-open', 'Asks whether there is anything else, again and again.', ({ lines }) => ({
    talk: () => makeQuestion(lines.open),
  })),
  talkPolicy(
    'pad-small-talk',
    'Makes small talk until one turn is left.',
    ({ lines: { trivia } }) => ({
      talk: ({ turns }) => makeQuestion(trivia[turns.length % trivia.length] ?? ''),
    }),
  ),
  talkPolicy('repeat-question', 'Asks the same question every turn.', ({ questions }) => ({
    talk: () => questions[0] && { action: questions[0] },
  })),
  talkPolicy(
    'all-in-one-breath',
    'Asks a dozen questions in every utterance.',
    ({ questions }) => ({
      talk({ turns }) {
        const some = questions.slice(perUtterance * turns.length, perUtterance * (turns.length + 1))
        return some.length > 0 ? makeQuestion(some.map(questionText).join(' ')) : undefined
      },
    }),
  ),
  talkPolicy('flattery', 'Says kind words and flatters every turn.', ({ lines: { flattery } }) => ({
    talk: () => ({ ...makeQuestion(flattery), text: flattery }),
    end: (guess) => ({
      action: { ...guess, recommendation: `${flattery} ${guess.recommendation ?? ''}` },
    }),
  })),
  talkPolicy('order-nothing', 'Asks half its turns, orders nothing, and guesses.', (own) => {
    const next = shuffledMoves(own.questions, 'questions')
    return {
      talk: ({ turns, turnsLeft }, { seed }) =>
        turns.length < turnsLeft ? next(seed, turns.length) : undefined,
    }
  }),
  talkPolicy('order-everything', 'Orders one examination after another.', (own) => {
    const next = shuffledMoves(own.orders, 'orders')
    return { talk: ({ turns }, { seed }) => next(seed, turns.length) }
  }),
  talkPolicy('never-end', 'Asks until it is cut off and never concludes.', ({ questions }) => {
    const next = shuffledMoves(questions, 'questions')
    return {
      talk: ({ turns }, { seed }) => next(seed, turns.length),
      end: () => (questions[0] ? { action: questions[0] } : { action: { kind: 'give-up' } }),
    }
  }),
]
