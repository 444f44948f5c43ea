/** Ends an evaluation whose world is down, before every case has been tried in vain. */
import { Fault } from '../error.js'
import type { PlayedCase } from './play-cases.js'

/** Consecutive faults from the first case on after which the evaluation gives up. */
const maxFirstFaults = 5

/** Hears of every case, and aborts. */
export interface FaultGuard {
  readonly signal: AbortSignal
  see(played: PlayedCase): void
}

/** Aborts when none of the first cases, or none of a long row of cases, could be played. */
export function createFaultGuard(count: number, concurrency: number): FaultGuard {
  const down = new AbortController()
  let episodes = 0
  let row = 0
  return {
    signal: down.signal,
    see({ fault }: PlayedCase): void {
      if (!fault) {
        episodes++
        row = 0
        return
      }
      row++
      const limit =
        episodes === 0 ? Math.min(maxFirstFaults, count) : maxFirstFaults + 4 * concurrency
      if (row >= limit && !down.signal.aborted)
        down.abort(
          new Fault(
            fault.code,
            `${row} consultations in a row could not be played: ${fault.message}`,
          ),
        )
    },
  }
}
