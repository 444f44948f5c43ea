/** Streaming summaries of scores, in memory that does not grow with the number of episodes. */
import type { Part, Score } from '../reward.js'
import { uniformInt } from '../seed.js'
import { type Correlation, correlation } from './accuracy-correlation.js'
import type { Estimate, ValueBounds } from './bootstrap.js'
import { intervalAtBound, ratioEstimate, unitBounds } from './bootstrap.js'

/** Above this number of cases, the bootstrap resamples this many random bundles of cases: bounded memory. */
export const maxExactCases = 65_536

/** Sums of values per case, for a bootstrap over cases. */
export interface CaseSums {
  readonly add: (caseId: string, value: number) => void
  /** Mean of all values and its 95 % interval; independent of the order in which values were added. */
  readonly estimate: (seed: number) => Estimate
  /** Whether there were more cases than `most`, so that bundles of cases (keyed by case id) are resampled. */
  readonly bundled: () => boolean
}

/**
 * Makes empty sums of values per case.
 * @param most number of cases kept apart @default 65536
 * @param bounds bounds of the values @default [0, 1]
 */
export function caseSums(most = maxExactCases, bounds: ValueBounds = unitBounds): CaseSums {
  let sums = new Map<string, [sum: number, count: number]>()
  let range: readonly [least: number, most: number] = [Infinity, -Infinity]
  let bundled = false
  const keyOf = (id: string): string => (bundled ? String(uniformInt(most, 0, 'bundle', id)) : id)
  const put = (id: string, value: number, count: number) => {
    const key = keyOf(id)
    const own = sums.get(key)
    if (!own) {
      sums.set(key, [value, count])
      return
    }
    own[0] += value
    own[1] += count
  }
  return {
    add(id, value) {
      put(id, value, 1)
      range = [Math.min(range[0], value), Math.max(range[1], value)]
      if (bundled || sums.size <= most) return
      bundled = true
      const apart = [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
      sums = new Map()
      for (const [one, [sum, count]] of apart) put(one, sum, count)
    },
    estimate(seed) {
      const pairs = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair)
      const { mean, ci95 } = ratioEstimate(pairs, seed)
      return { mean, ci95: intervalAtBound(range, pairs.length, bounds) ?? ci95 }
    },
    bundled: () => bundled,
  }
}

/** Mean of one reward part over the episodes where it applied, and counts of the others. */
export interface PartSummary {
  readonly mean: number | null
  readonly unavailable: number
  readonly notApplicable: number
}

interface PartTally {
  sum: number
  count: number
  unavailable: number
  notApplicable: number
  readonly accuracy: Correlation
}

/** Statistics of one reward over many episodes. */
export interface ScoreSummary {
  readonly reward: Estimate
  readonly parts: Readonly<Record<string, PartSummary>>
  /** Number of episodes without a total. */
  readonly unavailable: number
}

/** Running statistics of one reward's scores. */
export interface ScoreTally {
  /** Counts one score. @param right accuracy of the episode, 0 to 1; null if unknown */
  readonly add: (caseId: string, score: Score, right: number | null) => void
  readonly summary: (seed: number) => ScoreSummary
  /** Pearson correlation of the total and of each part with accuracy. */
  readonly withAccuracy: () => {
    readonly total: number | null
    readonly parts: Readonly<Record<string, number | null>>
  }
  /** Whether intervals resample bundles of cases, as in {@link CaseSums}. */
  readonly bundled: () => boolean
}

/** Makes empty statistics per reward part, in order of first appearance. */
export function partTallies() {
  const parts = new Map<string, PartTally>()
  const ofPart = (name: string): PartTally => {
    const known = parts.get(name)
    if (known) return known
    const tally = { sum: 0, count: 0, unavailable: 0, notApplicable: 0, accuracy: correlation() }
    parts.set(name, tally)
    return tally
  }
  return {
    add(name: string, part: Part, right: number | null) {
      const tally = ofPart(name)
      if (part.status === 'unavailable') tally.unavailable += 1
      else if (part.status === 'not-applicable') tally.notApplicable += 1
      else {
        tally.sum += part.value
        tally.count += 1
        if (right !== null) tally.accuracy.add(part.value, right)
      }
    },
    summaries: (): Readonly<Record<string, PartSummary>> =>
      mapValues(parts, ({ sum, count, unavailable, notApplicable }) => ({
        mean: count > 0 ? sum / count : null,
        unavailable,
        notApplicable,
      })),
    withAccuracy: () => mapValues(parts, ({ accuracy }) => accuracy.value()),
  }
}

const mapValues = <V, T>(map: ReadonlyMap<string, V>, to: (value: V) => T): Record<string, T> =>
  Object.fromEntries([...map].map(([name, value]) => [name, to(value)]))

/** Makes empty running statistics. @param bounds bounds of the reward @default [0, 1] */
export function scoreTally(bounds: ValueBounds = unitBounds): ScoreTally {
  const cases = caseSums(maxExactCases, bounds)
  const parts = partTallies()
  const accuracy = correlation()
  let missing = 0
  return {
    add(caseId, { total, parts: scored }, right) {
      for (const [name, part] of Object.entries(scored)) parts.add(name, part, right)
      if (total === null) {
        missing += 1
        return
      }
      cases.add(caseId, total)
      if (right !== null) accuracy.add(total, right)
    },
    summary: (seed) => ({
      reward: cases.estimate(seed),
      parts: parts.summaries(),
      unavailable: missing,
    }),
    withAccuracy: () => ({ total: accuracy.value(), parts: parts.withAccuracy() }),
    bundled: cases.bundled,
  }
}
