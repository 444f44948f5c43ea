/** What each weighted part of a reward contributed to a total. */
import type { Reward, Score } from '../reward.js'

/** What of a total the weighted parts do not explain: gates, clips, anything not listed. */
export const rest = '(rest)'

/**
 * A total taken apart by part: wₖ·vₖ, scaled up as the weighted mean is where parts do not apply; what they leave
 * unexplained is the {@link rest}.
 */
export function contributionsOf(
  { total, parts }: Score,
  weights: NonNullable<Reward['weights']>,
): Map<string, number> {
  let all = 0
  let applied = 0
  const out = new Map<string, number>()
  for (const [name, weight] of Object.entries(weights)) {
    all += weight
    const part = parts[name]
    if (part?.status !== 'ok') continue
    applied += weight
    out.set(name, weight * part.value)
  }
  let explained = 0
  for (const [name, value] of out) {
    const scaled = applied > 0 ? (value * all) / applied : 0
    out.set(name, scaled)
    explained += scaled
  }
  const unexplained = (total ?? 0) - explained
  if (Math.abs(unexplained) > 1e-9) out.set(rest, unexplained)
  return out
}
