/** The random doctor: the floor of every score. */
import type { Agent } from '../agent.js'
import type { ActionSpace } from '../knowledge/action-space.js'
import { below, pick } from '../seed.js'
import type { Action } from '../turn.js'

const same = (a: Action, b: Action): boolean =>
  (a.kind === 'ask' && b.kind === 'ask' && a.text === b.text) ||
  (a.kind === 'order' && b.kind === 'order' && a.exam === b.exam)

/**
 * Makes a doctor that says things of the vocabulary it has not said yet, all equally likely, and gives a
 * diagnosis, all equally likely, at a turn drawn evenly from 2 to its last.
 */
export function random({ actionSpace }: { readonly actionSpace: ActionSpace }): Agent {
  const moves = actionSpace.actions.filter(({ kind }) => kind === 'ask' || kind === 'order')
  const diagnoses = actionSpace.actions.filter(({ kind }) => kind === 'diagnose')
  return ({ turns, turnsLeft }, { seed }) => {
    const turn = turns.length + 1
    const last = turns.length + turnsLeft
    const stop = Math.min(last, 2 + below(Math.max(1, last - 1), seed, 'stop'))
    const fresh =
      turn >= stop ? [] : moves.filter((move) => !turns.some(({ action }) => same(action, move)))
    return { action: pick(fresh.length > 0 ? fresh : diagnoses, seed, 'turn', turn) }
  }
}
