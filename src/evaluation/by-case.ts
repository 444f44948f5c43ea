/** Statistics of cases that are played more than once: consultations are drawn together with their case. */
import type { Case } from '../case.js'
import {
  type Estimate,
  estimate,
  intervalAtBound,
  ratioEstimate,
  unitBounds,
  type ValueBounds,
} from './bootstrap.js'

/** A value of one consultation. */
interface CaseValue {
  readonly truth: Case
  readonly value: number
}

/** The values of each case, cases in the order of their first one. */
export function valuesByCase(values: readonly CaseValue[]): readonly (readonly number[])[] {
  const byCase = new Map<string, number[]>()
  for (const { truth, value } of values) {
    const known = byCase.get(truth.id)
    if (known) known.push(value)
    else byCase.set(truth.id, [value])
  }
  return [...byCase.values()]
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

/**
 * Estimates the mean over all consultations; its interval resamples cases, each with all its consultations, since those
 * of one case are no independent evidence.
 */
export function estimateByCase(
  values: readonly CaseValue[],
  seed = 0,
  bounds: ValueBounds = unitBounds,
): Estimate {
  const cases = valuesByCase(values)
  if (cases.length === values.length)
    return estimate(
      values.map(({ value }) => value),
      seed,
      { bounds },
    )
  const pairs = cases.map((one) => [sum(one), one.length] as const)
  const { mean, ci95 } = ratioEstimate(pairs, seed)
  const range = values.reduce<readonly [number, number]>(
    ([least, most], { value }) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  )
  return { mean, ci95: intervalAtBound(range, cases.length, bounds) ?? ci95 }
}

/** Chance that at least one of `k` consultations, drawn from `n` of which `right` are right, is right. */
function passChance(n: number, right: number, k: number): number {
  let miss = 1
  for (let i = 0; i < k; i++) miss *= Math.max(0, n - right - i) / (n - i)
  return 1 - miss
}

/** pass@k of an agent. */
export interface PassAt extends Estimate {
  /** Cases with at least k scored consultations; the others are left out. */
  readonly cases: number
}

/**
 * pass@k for k from 1 to `repeats`: how often at least one of k consultations of a case is right (accuracy 1). Unbiased
 * (Chen et al. 2021): the mean, over cases, of 1 − C(n − c, k) / C(n, k), with n scored consultations, c of them right.
 */
export function passAt(
  accuracies: readonly CaseValue[],
  repeats: number,
  seed = 0,
): Readonly<Record<string, PassAt>> {
  const cases = valuesByCase(accuracies)
  return Object.fromEntries(
    Array.from({ length: repeats }, (_, at) => {
      const k = at + 1
      const enough = cases.filter((one) => one.length >= k)
      const chances = enough.map((one) =>
        passChance(one.length, one.filter((value) => value === 1).length, k),
      )
      return [String(k), { ...estimate(chances, seed), cases: enough.length }]
    }),
  )
}
