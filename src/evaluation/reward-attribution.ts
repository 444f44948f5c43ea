/** Attribution of a total reward, and of a policy's gain over the random doctor, to reward parts. */
import type { Part, Reward, Score } from '../reward.js'
import { average } from './bootstrap.js'

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

/** Contribution of one reward part to a gain, averaged over the same cases. */
export interface Payment {
  readonly part: string
  /** The part's mean for the random doctor and for the policy, over the cases where it has a value; null without one. */
  readonly random: number | null
  readonly policy: number | null
  /** Contribution to the gain, in units of the reward; null if the reward has parts and no weights. */
  readonly paid: number | null
}

const partValue = (part: Part | undefined): number | undefined =>
  part?.status === 'ok' ? part.value : undefined

/** Contribution of each part to a total. Without weights, a lone part contributes all of it. */
function contributions(score: Score, weights: Reward['weights']): ReadonlyMap<string, number> {
  if (weights) return attributeTotal(score, weights)
  const lone = Object.keys(score.parts).length === 1
  return new Map(lone ? [[unexplainedPart, score.total ?? 0]] : [])
}

/**
 * Attributes a gain to reward parts, largest contribution first. A reward with one part paid all of it by that part; for
 * a reward with several parts and no weights, only the parts' own means are known.
 * @param pairs scores of the random doctor and the policy on the same case, both with totals
 */
export function attributeGain(
  pairs: readonly (readonly [random: Score, policy: Score])[],
  weights: Reward['weights'],
): readonly Payment[] {
  const names = [...new Set(pairs.flatMap((both) => both.flatMap((one) => Object.keys(one.parts))))]
  const taken = pairs.map(
    ([a, b]) => [contributions(a, weights), contributions(b, weights)] as const,
  )
  const paidBy = (name: string): number | null =>
    average(taken.map(([a, b]) => (b.get(name) ?? 0) - (a.get(name) ?? 0)))
  const known = weights ? names.filter((name) => weights[name] !== undefined) : names
  const [alone] = !weights && names.length === 1 ? [unexplainedPart] : []
  const payments = known.map((part): Payment => {
    const mean = (which: 0 | 1) =>
      average(pairs.flatMap((p) => partValue(p[which].parts[part]) ?? []))
    const paid = weights ? paidBy(part) : alone === undefined ? null : paidBy(alone)
    return { part, random: mean(0), policy: mean(1), paid }
  })
  const left = weights ? paidBy(unexplainedPart) : 0
  if (left !== null && Math.abs(left) > 1e-9)
    payments.push({ part: unexplainedPart, random: null, policy: null, paid: left })
  const size = ({ paid, random, policy }: Payment) => paid ?? (policy ?? 0) - (random ?? 0)
  return payments.sort((a, b) => size(b) - size(a))
}
