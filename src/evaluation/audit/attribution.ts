/** Which part of a reward paid the difference between two doctors. */

import type { Part, Reward, Score } from '../../reward.js'
import { meanOf } from '../bootstrap.js'
import { contributionsOf, rest } from '../reward-attribution.js'

/** What one part did, on average over the same cases. */
export interface Payment {
  readonly part: string
  /** The part's mean for the random doctor and for the policy, where it was judged. */
  readonly random: number | null
  readonly policy: number | null
  /** What it added to the gain, in the reward's units; null where the reward does not say what its parts weigh. */
  readonly paid: number | null
}

/** The mean of what there is. */
const average = (values: readonly number[]): number | null =>
  values.length > 0 ? meanOf(values) : null

const judgedAs = (part: Part | undefined): number | undefined =>
  part?.status === 'ok' ? part.value : undefined

/** What each part gave; of a reward without weights, a lone part gave it all. */
function shares(score: Score, weights: Reward['weights']): ReadonlyMap<string, number> {
  if (weights) return contributionsOf(score, weights)
  const lone = Object.keys(score.parts).length === 1
  return new Map(lone ? [[rest, score.total ?? 0]] : [])
}

/**
 * The parts by what they paid, most first. A reward of one part paid it all by that part; of a reward with parts
 * and no weights only the parts' own means are known.
 * @param pairs the random doctor's score and the policy's on the same case, both with totals
 */
export function paymentsOf(
  pairs: readonly (readonly [random: Score, policy: Score])[],
  weights: Reward['weights'],
): readonly Payment[] {
  const names = [...new Set(pairs.flatMap((both) => both.flatMap((one) => Object.keys(one.parts))))]
  const taken = pairs.map(([a, b]) => [shares(a, weights), shares(b, weights)] as const)
  const paidBy = (name: string): number | null =>
    average(taken.map(([a, b]) => (b.get(name) ?? 0) - (a.get(name) ?? 0)))
  const known = weights ? names.filter((name) => weights[name] !== undefined) : names
  const [alone] = !weights && names.length === 1 ? [rest] : []
  const payments = known.map((part): Payment => {
    const mean = (which: 0 | 1) =>
      meanOf(pairs.flatMap((p) => judgedAs(p[which].parts[part]) ?? []))
    const paid = weights ? paidBy(part) : alone === undefined ? null : paidBy(alone)
    return { part, random: mean(0), policy: mean(1), paid }
  })
  const left = weights ? paidBy(rest) : 0
  if (left !== null && Math.abs(left) > 1e-9)
    payments.push({ part: rest, random: null, policy: null, paid: left })
  const size = ({ paid, random, policy }: Payment) => paid ?? (policy ?? 0) - (random ?? 0)
  return payments.sort((a, b) => size(b) - size(a))
}
