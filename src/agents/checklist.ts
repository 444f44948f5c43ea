/** The checklist doctor: asks the same questions of everybody and never listens; a fixed-prior baseline. */
import type { Agent } from '../agent.js'
import type { ActionSpace } from '../knowledge/action-space.js'

/**
 * Makes a doctor that asks the vocabulary's questions in order until one turn is left, then gives the
 * vocabulary's first diagnosis whatever was answered.
 */
export function checklist({ actionSpace }: { readonly actionSpace: ActionSpace }): Agent {
  const questions = actionSpace.actions.filter(({ kind }) => kind === 'ask')
  const diagnosis = actionSpace.actions.find(({ kind }) => kind === 'diagnose')
  return ({ turns, turnsLeft }) => {
    const question = turnsLeft > 1 ? questions[turns.length] : undefined
    return { action: question ?? diagnosis ?? { kind: 'give-up' } }
  }
}
