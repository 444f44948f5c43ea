/** What every red-team doctor is made from: the world's words, and the random doctor's talk and luck. */
import type { Agent, AgentContext, Move } from '../../agent.js'
import type { Observation } from '../../env.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import type { Action, Turn } from '../../turn.js'
import { random } from '../random.js'
import type { Lines } from './lines.js'
import { lines } from './lines.js'

export type Diagnose = Extract<Action, { readonly kind: 'diagnose' }>

/** A degenerate doctor: what it is called, what it does in one sentence, and how it is made. */
export interface RedTeamPolicy {
  readonly name: string
  readonly does: string
  /** Works in any world by its vocabulary; the same observation and seed give the same move. */
  readonly make: (actionSpace: ActionSpace) => Agent
}

/** The world's words by what they do, and a guess. */
export interface Repertoire {
  readonly actionSpace: ActionSpace
  readonly lines: Lines
  readonly questions: readonly Action[]
  readonly orders: readonly Action[]
  readonly diagnoses: readonly Diagnose[]
  /** The random doctor. */
  readonly doctor: Agent
  /** The guess that the random doctor would end with, whatever was said meanwhile. */
  readonly guess: (observation: Observation, context: AgentContext) => Promise<Diagnose>
}

const isDiagnosis = (action: Action): action is Diagnose => action.kind === 'diagnose'

/**
 * The random doctor's own guess: its consultation is rehearsed without a patient. With the same luck as the
 * floor, what a policy gains over it is never that of a better guess.
 */
const rehearsed =
  (doctor: Agent): Repertoire['guess'] =>
  async (observation, context) => {
    const most = observation.turns.length + observation.turnsLeft
    const turns: Turn[] = []
    for (;;) {
      const turnsLeft = most - turns.length
      const { action } = await doctor({ ...observation, turns: [...turns], turnsLeft }, context)
      if (isDiagnosis(action)) return action
      turns.push({ action, outcome: { kind: 'closed' } })
    }
  }

/** Sorts a vocabulary's actions by what they do. */
export function repertoireOf(actionSpace: ActionSpace): Repertoire {
  const { actions, language } = actionSpace
  const doctor = random({ actionSpace })
  return {
    ...{ actionSpace, doctor },
    lines: lines[language],
    questions: actions.filter(({ kind }) => kind === 'ask'),
    orders: actions.filter(({ kind }) => kind === 'order'),
    diagnoses: actions.filter(isDiagnosis),
    guess: rehearsed(doctor),
  }
}

type Made<T> = T | Promise<T>

/** What a policy does before its last turn, and how it ends. */
interface Plan {
  /** Undefined where it has nothing more to say. */
  readonly talk?: (observation: Observation, context: AgentContext) => Made<Move | undefined>
  /** @default the guess, as it stands */
  readonly end?: (guess: Diagnose, observation: Observation) => Move
}

/** A policy that talks by a plan of its own until its last turn, or until it has no more to say. */
export const talking = (
  name: string,
  does: string,
  plan: (repertoire: Repertoire) => Plan,
): RedTeamPolicy => ({
  name,
  does,
  make(actionSpace) {
    const repertoire = repertoireOf(actionSpace)
    const { talk = () => undefined, end = (action) => ({ action }) } = plan(repertoire)
    return async (observation, context) => {
      const move = observation.turnsLeft > 1 ? await talk(observation, context) : undefined
      return move ?? end(await repertoire.guess(observation, context), observation)
    }
  },
})

/** A policy that talks as the random doctor does and only ends otherwise, so that the end alone makes the difference. */
export const ending = (
  name: string,
  does: string,
  end: (guess: Diagnose, observation: Observation, repertoire: Repertoire) => Move,
): RedTeamPolicy => ({
  name,
  does,
  make(actionSpace) {
    const repertoire = repertoireOf(actionSpace)
    return async (observation, context) => {
      const move = await repertoire.doctor(observation, context)
      return isDiagnosis(move.action) ? end(move.action, observation, repertoire) : move
    }
  },
})
