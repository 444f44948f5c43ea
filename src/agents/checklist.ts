/** The checklist doctor: asks every patient the same questions and ignores the answers; a fixed baseline. */
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
