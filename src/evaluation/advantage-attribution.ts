/**
 * Signal report: attribution of advantages to reward parts.
 *
 * A policy learns from the spread of rewards within a group. If advantages are divided by that spread, the last part
 * that still differs becomes the whole signal, however small its weight: once every member is right, a bonus of 0.02
 * per turn saved is learned as hard as the diagnosis was.
 */
import type { Group } from '../group.js'
import type { AccuracyCorrelations } from './accuracy-correlation.js'
import { accuracyWarnings, correlateWithAccuracy } from './accuracy-correlation.js'
import { attributeTotal } from './reward-attribution.js'

/** Attribution of the advantages of some groups to the parts of their reward. */
export interface SignalReport {
  readonly groups: number
  /** Number of groups whose totals are all equal. */
  readonly zeroVariance: number
  /** Number of learning groups whose totals have a standard deviation below `nearZeroBelow`. */
  readonly nearZeroVariance: number
  /** A hundredth of the width of the reward's bounds. */
  readonly nearZeroBelow: number
  /** Number of groups with fewer than two scored members, or fewer than required. */
  readonly dropped: number
  /** Each part's share of the advantages of the learning groups. Shares sum to 1, or there are none. */
  readonly shares: Readonly<Record<string, number>>
  /** Mean |advantage| over the scored members of the learning groups; 0 without one. */
  readonly magnitude: number
  /**
   * ‖advantages‖ / ‖totals − mean‖ of a group, averaged over the learning groups weighted by Σ|advantage|: 1 for
   * centred advantages, 1/σ for advantages divided by σ; 0 without a group.
   */
  readonly amplification: number
  /** Correlation of each part, and of the `(total)`, with accuracy; empty if accuracy is unknown. */
  readonly accuracy: AccuracyCorrelations
  readonly warnings: readonly string[]
}

/** Options of {@link signalReport}. */
export interface SignalOptions {
  /** The reward's bounds. @default [0, 1], also for infinite bounds */
  readonly bounds?: readonly [low: number, high: number]
  /** Accuracy of each member of each group, 0 to 1, in their order; null if unknown. @default none */
  readonly accuracy?: readonly (readonly (number | null)[])[]
}

/** A warning names parts of less than this share of the weight that supplied more than that share of the signal. */
const smallWeight = 0.1
const dominantShare = 0.5
/** A standard deviation below this share of the reward's width is near zero. */
const nearZero = 0.01
/** A higher amplification is due to scaling: centring alone amplifies at most twofold (RLOO in a group of two). */
const maxAmplification = 3

interface AttributedMember {
  readonly advantage: number
  readonly total: number
  readonly contributions: ReadonlyMap<string, number>
}

const attributeMembers = (
  group: Group,
  weights: Readonly<Record<string, number>>,
): AttributedMember[] =>
  group.scores.flatMap((score, i) =>
    score.total === null
      ? []
      : [
          {
            advantage: group.advantages[i] ?? 0,
            total: score.total,
            contributions: attributeTotal(score, weights),
          },
        ],
  )

const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0)

/** |Σᵢ Aᵢ·(cₖᵢ − c̄ₖ)| of each part k: projection of its contributions c on the group's advantages A. */
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

function squaredDeviations(members: readonly AttributedMember[]): number {
  const centre = sumOf(members, ({ total }) => total) / members.length
  return sumOf(members, ({ total }) => (total - centre) ** 2)
}

function amplificationOf(members: readonly AttributedMember[]): number {
  const spread = Math.sqrt(squaredDeviations(members))
  return spread > 0 ? Math.sqrt(sumOf(members, ({ advantage }) => advantage ** 2)) / spread : 0
}

function boundsWidth([low, high]: readonly [number, number]): number {
  const width = high - low
  return Number.isFinite(width) && width > 0 ? width : 1
}

function signalWarnings(
  shares: Readonly<Record<string, number>>,
  weights: Readonly<Record<string, number>>,
  amplification: number,
): string[] {
  const all = Object.values(weights).reduce((sum, weight) => sum + weight, 0)
  if (amplification <= maxAmplification) return []
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`
  return Object.entries(shares).flatMap(([name, share]) => {
    const weight = weights[name]
    if (weight === undefined || weight / all >= smallWeight || share <= dominantShare) return []
    return `\`${name}\` weighs ${percent(weight / all)} of the reward and supplied ${percent(share)} of the signal: advantages were ${amplification.toFixed(1)} times the spread of rewards. Advantages that are not divided by it (Dr. GRPO, RLOO) keep a small part small.`
  })
}

/**
 * Attributes the advantages of groups to reward parts. In each learning group, the mass of the advantages, Σᵢ|Aᵢ|, is
 * divided among the parts in proportion to |Σᵢ Aᵢ·(wₖvₖᵢ − mean)|, the projection of the part's centred, weighted
 * values on the advantages. A part's share is its mass over all groups as a fraction of the whole. The remainder of the
 * totals (gates, clips, parts without a weight) is `(rest)`.
 *
 * Warns if a part of less than 10 % of the weight supplied more than half of the signal while advantages were amplified
 * (more than three times the spread of totals), as division by a standard deviation does; and if a part correlates
 * negatively with accuracy.
 * @param weights a reward's own `weights`: what each part adds to the total as it goes from 0 to 1
 */
export function signalReport(
  groups: readonly Group[],
  weights: Readonly<Record<string, number>>,
  { bounds = [0, 1], accuracy }: SignalOptions = {},
): SignalReport {
  const nearZeroBelow = nearZero * boundsWidth(bounds)
  const learning = groups.filter(({ status }) => status === 'learns')
  const zeroVariance = groups.filter(({ status }) => status === 'zero-variance').length
  const masses = new Map<string, number>()
  let [mass, scored, amplification, nearZeroVariance] = [0, 0, 0, 0]
  for (const group of learning) {
    const members = attributeMembers(group, weights)
    const along = projections(members)
    const all = sumOf([...along.values()], (value) => value)
    const here = sumOf(members, ({ advantage }) => Math.abs(advantage))
    for (const [name, value] of along)
      masses.set(name, (masses.get(name) ?? 0) + (all > 0 ? (here * value) / all : 0))
    if (Math.sqrt(squaredDeviations(members) / members.length) < nearZeroBelow)
      nearZeroVariance += 1
    mass += here
    scored += members.length
    amplification += here * amplificationOf(members)
  }
  const shareOf = (value: number): number => (mass > 0 ? value / mass : 0)
  const shares = Object.fromEntries([...masses].map(([name, value]) => [name, shareOf(value)]))
  const meanAmplification = shareOf(amplification)
  const correlations = accuracy ? correlateWithAccuracy(groups, accuracy) : {}
  return {
    ...{ groups: groups.length, zeroVariance, nearZeroVariance, nearZeroBelow },
    dropped: groups.length - learning.length - zeroVariance,
    shares,
    magnitude: scored > 0 ? mass / scored : 0,
    amplification: meanAmplification,
    accuracy: correlations,
    warnings: [
      ...signalWarnings(shares, weights, meanAmplification),
      ...accuracyWarnings(correlations, weights),
    ],
  }
}
