/**
 * The signal report: which part of a reward the advantages came from.
 *
 * What trains a policy is not the reward but its spread within a group. Divided by that spread, the last
 * thing that still differs becomes the whole signal, however little it weighs: once every member is right, a
 * bonus of 0.02 a turn saved is learned as hard as the diagnosis was.
 */

import type { Group } from '../group.js'
import type { AccuracyLinks } from './accuracy-correlation.js'
import { accuracyLinks, againstAccuracy } from './accuracy-correlation.js'
import { contributionsOf } from './reward-attribution.js'

export interface SignalReport {
  readonly groups: number
  /** Groups whose totals were all the same. */
  readonly zeroVariance: number
  /** Groups that teach though the standard deviation of their totals is below `nearZeroBelow`. */
  readonly nearZeroVariance: number
  /** A hundredth of what the reward spans, from its low bound to its high one. */
  readonly nearZeroBelow: number
  /** Groups with fewer than two scored members, or fewer than were asked for. */
  readonly dropped: number
  /** Each part's share of the advantages of the groups that teach; they sum to 1, or there are none. */
  readonly shares: Readonly<Record<string, number>>
  /** Mean |advantage| over the scored members of the groups that teach; 0 without one. */
  readonly magnitude: number
  /**
   * ‖advantages‖ / ‖totals − mean‖ of a group, averaged over the groups that teach by the mass of their
   * advantages: 1 where they are merely centred, 1/σ where they are divided by σ; 0 without a group.
   */
  readonly amplification: number
  /** How each part, and the `(total)`, goes with being right; empty where that is not known. */
  readonly accuracy: AccuracyLinks
  readonly warnings: readonly string[]
}

/** What is known beside the groups and the weights. */
export interface SignalOptions {
  /** The reward's bounds. @default [0, 1], also for bounds that are infinite */
  readonly bounds?: readonly [low: number, high: number]
  /** How right each member of each group was, 0 to 1, in their order; null where that is not known. @default none */
  readonly accuracy?: readonly (readonly (number | null)[])[]
}

/** A part weighing less than this is small, and one supplying more than that is most of the signal. */
const small = 0.1
const most = 0.5
/** Totals that differ by less than this share of what the reward spans hardly differ. */
const hardly = 0.01
/** Centring alone amplifies at most twofold (RLOO in a group of two). */
const amplified = 3

interface AttributedMember {
  readonly advantage: number
  readonly total: number
  readonly contributions: ReadonlyMap<string, number>
}

const membersOf = (group: Group, weights: Readonly<Record<string, number>>): AttributedMember[] =>
  group.scores.flatMap((score, i) =>
    score.total === null
      ? []
      : [
          {
            advantage: group.advantages[i] ?? 0,
            total: score.total,
            contributions: contributionsOf(score, weights),
          },
        ],
  )

const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0)

/** |Σᵢ Aᵢ·(cₖᵢ − c̄ₖ)| of each part k: how far its values point along the group's advantages. */
function projections(members: readonly AttributedMember[]): Map<string, number> {
  const names = new Set(members.flatMap((member) => [...member.contributions.keys()]))
  const out = new Map<string, number>()
  for (const name of names) {
    const of = (member: AttributedMember) => member.contributions.get(name) ?? 0
    const centre = sumOf(members, of) / members.length
    out.set(name, Math.abs(sumOf(members, (member) => member.advantage * (of(member) - centre))))
  }
  return out
}

/** ‖advantages‖ / ‖totals − mean‖. */
function amplificationOf(members: readonly AttributedMember[]): number {
  const centre = sumOf(members, ({ total }) => total) / members.length
  const spread = Math.sqrt(sumOf(members, ({ total }) => (total - centre) ** 2))
  return spread > 0 ? Math.sqrt(sumOf(members, ({ advantage }) => advantage ** 2)) / spread : 0
}

/** The standard deviation of the totals of members. */
function deviation(members: readonly AttributedMember[]): number {
  const centre = sumOf(members, ({ total }) => total) / members.length
  return Math.sqrt(sumOf(members, ({ total }) => (total - centre) ** 2) / members.length)
}

function spanOf([low, high]: readonly [number, number]): number {
  const span = high - low
  return Number.isFinite(span) && span > 0 ? span : 1
}

function warningsOf(
  shares: Readonly<Record<string, number>>,
  weights: Readonly<Record<string, number>>,
  amplification: number,
): string[] {
  const all = Object.values(weights).reduce((sum, weight) => sum + weight, 0)
  if (amplification <= amplified) return []
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`
  return Object.entries(shares).flatMap(([name, share]) => {
    const weight = weights[name]
    if (weight === undefined || weight / all >= small || share <= most) return []
    return `\`${name}\` weighs ${percent(weight / all)} of the reward and supplied ${percent(share)} of the signal: advantages were ${amplification.toFixed(1)} times the spread of rewards. Advantages that are not divided by it (Dr. GRPO, RLOO) keep a small part small.`
  })
}

/**
 * Where the advantages of groups came from. In each group that teaches, the mass of the advantages, Σᵢ|Aᵢ|,
 * is divided among the parts in proportion to |Σᵢ Aᵢ·(wₖvₖᵢ − mean)|, the projection of the part's centred,
 * weighted values on the advantages; a part's share is its mass over all groups as a fraction of the whole.
 * What the weighted parts leave of the totals (gates, clips, parts without a weight) is `(rest)`.
 *
 * Warns where a part of less than 10 % of the weight supplied more than half of the signal of advantages
 * that were blown up (more than three times the spread of totals), as dividing by a standard deviation does; and
 * where a part was worth more to the wrong than to the right.
 * @param weights what each part adds to the total as it goes from 0 to 1: a reward's own `weights`
 */
export function signalReport(
  groups: readonly Group[],
  weights: Readonly<Record<string, number>>,
  { bounds = [0, 1], accuracy }: SignalOptions = {},
): SignalReport {
  const nearZeroBelow = hardly * spanOf(bounds)
  const teaching = groups.filter(({ status }) => status === 'learns')
  const zeroVariance = groups.filter(({ status }) => status === 'zero-variance').length
  const masses = new Map<string, number>()
  let [mass, scored, amplification, nearZeroVariance] = [0, 0, 0, 0]
  for (const group of teaching) {
    const members = membersOf(group, weights)
    const along = projections(members)
    const all = sumOf([...along.values()], (value) => value)
    const here = sumOf(members, ({ advantage }) => Math.abs(advantage))
    for (const [name, value] of along)
      masses.set(name, (masses.get(name) ?? 0) + (all > 0 ? (here * value) / all : 0))
    if (deviation(members) < nearZeroBelow) nearZeroVariance += 1
    mass += here
    scored += members.length
    amplification += here * amplificationOf(members)
  }
  const shareOf = (value: number): number => (mass > 0 ? value / mass : 0)
  const shares = Object.fromEntries([...masses].map(([name, value]) => [name, shareOf(value)]))
  const blown = shareOf(amplification)
  const links = accuracy ? accuracyLinks(groups, accuracy) : {}
  return {
    groups: groups.length,
    zeroVariance,
    nearZeroVariance,
    nearZeroBelow,
    dropped: groups.length - teaching.length - zeroVariance,
    shares,
    magnitude: scored > 0 ? mass / scored : 0,
    amplification: blown,
    accuracy: links,
    warnings: [...warningsOf(shares, weights, blown), ...againstAccuracy(links, weights)],
  }
}
