/** Actions of a doctor who never looks at the patient: the action space, and the red team's tricks. */
import type { ActionSpace } from '../../knowledge/action-space.js'
import type { Action } from '../../turn.js'
import { verdictKeywords } from './lines.js'
import { buildRepertoire } from './repertoire.js'

/** Actions for a blind search, sorted by how often they may be taken. */
export interface BlindActions {
  /** Taken at most once each: the action space's questions and orders. */
  readonly once: readonly Action[]
  /** Allowed every turn: open questions, small talk, flattery, an injection, one repeated question or order. */
  readonly often: readonly Action[]
  /** Ends of the consultation: every diagnosis, the tricks, and giving up. */
  readonly ends: readonly Action[]
}

/** Sorts an action space for a blind search and adds the red team's tricks. */
export function blindActions(actionSpace: ActionSpace): BlindActions {
  const { lines, questions, orders, diagnoses } = buildRepertoire(actionSpace)
  const { open, trivia, flattery, injection, generic, comma } = lines
  const ask = (text: string): Action => ({ kind: 'ask', text })
  const conclude = (diagnosis: string, recommendation = diagnosis): Action => ({
    ...{ kind: 'diagnose', diagnosis, recommendation },
  })
  return {
    once: [...questions, ...orders],
    often: [
      ...[open, ...trivia.slice(0, 1), flattery, injection].map(ask),
      ...questions.slice(0, 1),
      ...orders.slice(0, 1),
    ],
    ends: [
      ...diagnoses,
      conclude(generic.diagnosis, generic.recommendation),
      conclude(diagnoses.map(({ diagnosis }) => diagnosis).join(comma)),
      ...[injection, verdictKeywords, ''].map((text) => conclude(text)),
      { kind: 'give-up' },
    ],
  }
}
