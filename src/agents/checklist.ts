/** Fixed baselines of an action space: the checklist doctor, and the commonest diagnosis at once. */
import type { Agent } from '../agent.js'
import type { ActionSpace } from '../knowledge/action-space.js'

/**
 * Makes a doctor that asks the action space's questions in order until one turn is left, then gives its first
 * diagnosis, regardless of the answers.
 */
export function checklist({ actionSpace }: { readonly actionSpace: ActionSpace }): Agent {
  const questions = actionSpace.actions.filter(({ kind }) => kind === 'ask')
  const diagnosis = actionSpace.actions.find(({ kind }) => kind === 'diagnose')
  return ({ turns, turnsLeft }) => {
    const question = turnsLeft > 1 ? questions[turns.length] : undefined
    return { action: question ?? diagnosis ?? { kind: 'give-up' } }
  }
}

/**
 * Makes a doctor that gives the action space's first diagnosis on its first turn: of a mined action space, the commonest
 * of the training cases.
 */
export function firstDiagnosis({ actionSpace }: { readonly actionSpace: ActionSpace }): Agent {
  const diagnosis = actionSpace.actions.find(({ kind }) => kind === 'diagnose')
  return () => ({ action: diagnosis ?? { kind: 'give-up' } })
}
