/** The random doctor: uniformly random actions, the floor of every score. */
import type { Agent } from '../agent.js'
import type { ActionSpace } from '../knowledge/action-space.js'
import { pick, uniformInt } from '../seed.js'
import type { Action } from '../turn.js'

const sameAction = (a: Action, b: Action): boolean =>
  (a.kind === 'ask' && b.kind === 'ask' && a.text === b.text) ||
  (a.kind === 'order' && b.kind === 'order' && a.exam === b.exam)

/**
 * Makes a doctor that takes a uniformly random question or order of the action space that it has not taken yet.
 * At a turn drawn uniformly from 2 to the last it gives a uniformly random diagnosis.
 */
export function random({ actionSpace }: { readonly actionSpace: ActionSpace }): Agent {
  const moves = actionSpace.actions.filter(({ kind }) => kind === 'ask' || kind === 'order')
  const diagnoses = actionSpace.actions.filter(({ kind }) => kind === 'diagnose')
  return ({ turns, turnsLeft }, { seed }) => {
    const turn = turns.length + 1
    const last = turns.length + turnsLeft
    const stop = Math.min(last, 2 + uniformInt(Math.max(1, last - 1), seed, 'stop'))
    const fresh =
      turn >= stop
        ? []
        : moves.filter((move) => !turns.some(({ action }) => sameAction(action, move)))
    return { action: pick(fresh.length > 0 ? fresh : diagnoses, seed, 'turn', turn) }
  }
}
