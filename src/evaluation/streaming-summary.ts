/** Scores summed up as they come, in memory that does not grow with their number. */

import type { Part, Score } from '../reward.js'
import { uniformInt } from '../seed.js'
import type { Estimate, ValueBounds } from './bootstrap.js'
import { intervalAtBound, ratioEstimate, unitBounds } from './bootstrap.js'
import type { Correlation } from './correlation.js'
import { correlation } from './correlation.js'
import type { PartSummary } from './summary.js'

/** More cases than these are resampled in as many random bundles, which takes no more memory for more of them. */
export const mostCases = 65_536

/** Sums of values by case, for an interval that resamples cases. */
export interface CaseSums {
  readonly add: (caseId: string, value: number) => void
  /** Mean of all values and its 95 % interval, whatever the order they came in. */
  readonly estimate: (seed: number) => Estimate
  /** True once there were more cases than `most`: bundles of cases are resampled, drawn by their ids. */
  readonly bundled: () => boolean
}

/**
 * @param most cases that are kept apart @default 65536
 * @param bounds of the values @default [0, 1]
 */
export function caseSums(most = mostCases, bounds: ValueBounds = unitBounds): CaseSums {
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

interface PartTally {
  sum: number
  count: number
  unavailable: number
  notApplicable: number
  readonly accuracy: Correlation
}

/** What a reward made of many episodes. */
export interface ScoreSummary {
  readonly reward: Estimate
  readonly parts: Readonly<Record<string, PartSummary>>
  /** Episodes without a total. */
  readonly unavailable: number
}

/** Scores of one reward, summed up. */
export interface ScoreTally {
  /** @param right how right the doctor was, 0 to 1; null where that is not known */
  readonly add: (caseId: string, score: Score, right: number | null) => void
  readonly summary: (seed: number) => ScoreSummary
  /** Of the total and of each part with being right. */
  readonly withAccuracy: () => {
    readonly total: number | null
    readonly parts: Readonly<Record<string, number | null>>
  }
  readonly bundled: () => boolean
}

/** Sums for every part that was met, in the order they were. */
function partTallies() {
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
    each: <T>(of: (tally: PartTally) => T): Readonly<Record<string, T>> =>
      Object.fromEntries([...parts].map(([name, tally]) => [name, of(tally)])),
  }
}

/** A tally of nothing yet. @param bounds of the reward @default [0, 1] */
export function scoreTally(bounds: ValueBounds = unitBounds): ScoreTally {
  const cases = caseSums(mostCases, bounds)
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
      parts: parts.each(({ sum, count, unavailable, notApplicable }) => ({
        mean: count > 0 ? sum / count : null,
        unavailable,
        notApplicable,
      })),
      unavailable: missing,
    }),
    withAccuracy: () => ({
      total: accuracy.value(),
      parts: parts.each((tally) => tally.accuracy.value()),
    }),
    bundled: cases.bundled,
  }
}
