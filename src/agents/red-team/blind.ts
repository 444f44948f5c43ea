/** What a doctor can do who never looks at the patient: the world's words, and the tricks of the red team. */

import type { ActionSpace } from '../../knowledge/action-space.js'
import type { Action } from '../../turn.js'
import { keywords } from './lines.js'
import { repertoireOf } from './repertoire.js'

/** Actions for a blind search. */
export interface BlindActions {
  /** Each may be made once: the world's questions and orders. */
  readonly once: readonly Action[]
  /** May be made every turn: open questions, small talk, flattery, an injection, one question repeated. */
  readonly often: readonly Action[]
  /** Ends the consultation: every diagnosis, the tricks, and giving up. */
  readonly ends: readonly Action[]
}

/** Sorts a vocabulary for a blind search and adds what the red team says. */
export function blindActions(actionSpace: ActionSpace): BlindActions {
  const { lines, questions, orders, diagnoses } = repertoireOf(actionSpace)
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
      ...[injection, keywords, ''].map((text) => conclude(text)),
      { kind: 'give-up' },
    ],
  }
}
