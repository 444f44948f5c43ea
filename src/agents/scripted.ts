/** The scripted doctor: plays a list of actions, for tests, demonstrations and replays. */
import type { Agent } from '../agent.js'
import type { Action } from '../turn.js'

/** Makes a doctor that plays the list, one action a turn, then gives up. */
export const scripted =
  (actions: readonly Action[]): Agent =>
  ({ turns }) => ({ action: actions[turns.length] ?? { kind: 'give-up' } })
