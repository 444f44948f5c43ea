/** Attribution of a total reward to its weighted parts. */
import type { Reward, Score } from '../reward.js'

/** Name of the share that the weighted parts do not explain: gates, clips, parts without a weight. */
export const unexplainedPart = '(rest)'

/**
 * Decomposes a total by part: wₖ·vₖ (weight times value), scaled up as the weighted mean is if parts do not apply. The
 * remainder of the total is under {@link unexplainedPart}.
 */
export function attributeTotal(
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
  if (Math.abs(unexplained) > 1e-9) out.set(unexplainedPart, unexplained)
  return out
}
