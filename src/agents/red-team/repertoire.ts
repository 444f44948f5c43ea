/** Building blocks of red-team policies: the action space, sorted, and the random doctor's actions and guess. */
import type { Agent, AgentContext, Move } from '../../agent.js'
import type { Observation } from '../../env.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import type { Action, Turn } from '../../turn.js'
import { random } from '../random.js'
import { type RedTeamLines, redTeamLines } from './lines.js'

/** A diagnosis with its optional fields. */
export type DiagnosisGuess = Extract<Action, { readonly kind: 'diagnose' }>

/** A degenerate policy: its name, one sentence on what it does, and its maker. */
export interface RedTeamPolicy {
  readonly name: string
  readonly does: string
  /** Makes the policy for any action space; the same observation and seed give the same move. */
  readonly make: (actionSpace: ActionSpace) => Agent
}

/** An action space sorted by kind, with the red team's texts and the random doctor. */
export interface Repertoire {
  readonly actionSpace: ActionSpace
  readonly lines: RedTeamLines
  readonly questions: readonly Action[]
  readonly orders: readonly Action[]
  readonly diagnoses: readonly DiagnosisGuess[]
  /** The random doctor. */
  readonly doctor: Agent
  /** The diagnosis that the random doctor would end with, whatever the policy did before. */
  readonly guess: (observation: Observation, context: AgentContext) => Promise<DiagnosisGuess>
}

const isDiagnosis = (action: Action): action is DiagnosisGuess => action.kind === 'diagnose'

/**
 * Makes the guess by simulating the rest of the random doctor's consultation without a patient. As the guess uses
 * the random doctor's own draws, a policy's gain over it never comes from a better guess.
 */
const simulateGuess =
  (doctor: Agent): Repertoire['guess'] =>
  async (observation, context) => {
    const total = observation.turns.length + observation.turnsLeft
    const turns: Turn[] = []
    for (;;) {
      const turnsLeft = total - turns.length
      const { action } = await doctor({ ...observation, turns: [...turns], turnsLeft }, context)
      if (isDiagnosis(action)) return action
      turns.push({ action, outcome: { kind: 'closed' } })
    }
  }

/** Builds the repertoire of an action space. */
export function buildRepertoire(actionSpace: ActionSpace): Repertoire {
  const { actions, language } = actionSpace
  const doctor = random({ actionSpace })
  return {
    ...{ actionSpace, doctor },
    lines: redTeamLines[language],
    questions: actions.filter(({ kind }) => kind === 'ask'),
    orders: actions.filter(({ kind }) => kind === 'order'),
    diagnoses: actions.filter(isDiagnosis),
    guess: simulateGuess(doctor),
  }
}

type MaybePromise<T> = T | Promise<T>

/** How a policy fills its turns and how it ends. */
interface PolicyPlan {
  /** The next move before the last turn; undefined to end now. */
  readonly talk?: (
    observation: Observation,
    context: AgentContext,
  ) => MaybePromise<Move | undefined>
  /** The last move. @default the guess unchanged */
  readonly end?: (guess: DiagnosisGuess, observation: Observation) => Move
}

/** Makes a policy with its own moves until the last turn, or until it has none left, and then its own end. */
export const talkPolicy = (
  name: string,
  does: string,
  plan: (repertoire: Repertoire) => PolicyPlan,
): RedTeamPolicy => ({
  name,
  does,
  make(actionSpace) {
    const repertoire = buildRepertoire(actionSpace)
    const { talk = () => undefined, end = (action) => ({ action }) } = plan(repertoire)
    return async (observation, context) => {
      const move = observation.turnsLeft > 1 ? await talk(observation, context) : undefined
      return move ?? end(await repertoire.guess(observation, context), observation)
    }
  },
})

/** Makes a policy that is the random doctor up to its diagnosis, so that only the end differs. */
export const endPolicy = (
  name: string,
  does: string,
  end: (guess: DiagnosisGuess, observation: Observation, repertoire: Repertoire) => Move,
): RedTeamPolicy => ({
  name,
  does,
  make(actionSpace) {
    const repertoire = buildRepertoire(actionSpace)
    return async (observation, context) => {
      const move = await repertoire.doctor(observation, context)
      return isDiagnosis(move.action) ? end(move.action, observation, repertoire) : move
    }
  },
})
