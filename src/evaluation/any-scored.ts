/** A guard against evaluations of nothing: a judge, reward or patient that was down for all of it. */
import { Fault } from '../error.js'
import { unavailableReason } from '../reward.js'
import type { PlayedCase } from './play-cases.js'

/**
 * Passes on what was played.
 * @throws Fault with the first reason, where the world is the reason that no consultation has a reward
 */
export function assertAnyScored(played: readonly PlayedCase[]): readonly PlayedCase[] {
  if (played.some(({ scores }) => scores && scores.reward.total !== null)) return played
  const faults = played.flatMap(({ fault, scores }) => {
    const reason = scores && unavailableReason(scores.reward)
    return fault ?? (reason === undefined ? [] : new Fault('component-failed', reason))
  })
  const [first] = faults
  if (!first) return played
  throw new Fault(
    first.code,
    `none of the ${played.length} consultations of an evaluation could be played and scored; the first reason: ${first.message}`,
    { cause: first },
  )
}
