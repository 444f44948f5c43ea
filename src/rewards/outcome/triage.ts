/** Triage reward: how near the stated triage level is to the case's. */
import type { GraderView } from '../../case.js'
import { diagnosisOf, type Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { notApplicable, ok, type Part, type Reward } from '../../reward.js'
import { defineReward } from '../define.js'

/** Triage levels; every scale has five, 1 being the most urgent. */
const levels = [1, 2, 3, 4, 5] as const
const widest = levels.length - 1

const isLevel = (level: number | undefined): level is number =>
  level !== undefined && Number.isInteger(level) && level >= 1 && level <= levels.length

/** 1 − gap, less κ·gap where the stated level is less urgent; the gap is a share of the widest. */
function worth(stated: number, actual: number, underTriage: number): number {
  const gap = Math.abs(stated - actual) / widest
  return 1 - gap - (stated > actual ? underTriage * gap : 0)
}

/** Options of {@link triage}. */
export interface TriageOptions {
  /** κ ≥ 1: extra cost of a level that is not urgent enough over one that is too urgent. @default 1 */
  readonly underTriage?: number
  /** Frequency of the levels 1 to 5 among the cases, to correct for chance. @default no correction */
  readonly frequency?: readonly number[]
}

/** The frequency of each triage level in a knowledge base, by the base rates of its diseases; sums to 1. */
export function triageFrequency({ diseases }: Knowledge): readonly number[] {
  const sums = levels.map((level) =>
    diseases.reduce((sum, { triage, prior }) => sum + (triage === level ? prior.base : 0), 0),
  )
  const all = sums.reduce((sum, n) => sum + n, 0)
  return sums.map((n) => n / all)
}

function checkFrequency(frequency: readonly number[]): void {
  const isShare = (n: number) => Number.isFinite(n) && n >= 0
  if (
    frequency.length !== levels.length ||
    !frequency.every(isShare) ||
    !frequency.some((n) => n > 0)
  )
    throw new RangeError(
      `Expected \`frequency\` to be 5 numbers ≥ 0, not all 0, got [${frequency}]`,
    )
}

interface ChanceCorrection {
  readonly chance: number
  readonly lowest: number
}

const corrected = (value: number, { chance, lowest }: ChanceCorrection): number =>
  Math.max(lowest, (value - chance) / (1 - chance))

/** The correction under which the best constant level earns 0 on average; none where all cases have one level. */
function chanceCorrection(
  frequency: readonly number[],
  underTriage: number,
): ChanceCorrection | undefined {
  checkFrequency(frequency)
  const sum = frequency.reduce((all, n) => all + n, 0)
  const most = Math.max(...frequency) / sum
  if (most === 1) return undefined
  // Where most cases have one level, −1 for the others would not outweigh a constant's hits.
  const lowest = -Math.max(1, (2 * most) / (1 - most))
  const mean = (stated: number, correction: ChanceCorrection) =>
    levels.reduce((all, level, i) => {
      const value = corrected(worth(stated, level, underTriage), correction)
      return all + frequency[i]! * value
    }, 0)
  let [low, high] = [-1, 1]
  for (let step = 0; step < 60; step++) {
    const chance = (low + high) / 2
    if (levels.some((stated) => mean(stated, { chance, lowest }) > 0)) low = chance
    else high = chance
  }
  return { chance: low, lowest }
}

function scoreTriage(
  episode: Episode,
  { gold }: GraderView,
  value: (stated: number, actual: number) => number,
): Part {
  const actual = gold.triage?.level
  if (actual === undefined) return notApplicable
  if (!isLevel(actual))
    throw new Fault('bad-input', `gold.triage.level: expected 1 to 5, got ${actual}`)
  const stated = diagnosisOf(episode)?.triage
  if (!isLevel(stated)) return ok(0, 'no level')
  return ok(value(stated, actual), `level ${stated} for ${actual}`)
}

/**
 * 1 − gap − κ·gap[less urgent than the truth], with gap = |stated − true| / 4: from −κ (5 stated where 1 is true) to 1.
 * Too urgent costs too: always 1 earns 0 for a patient who can wait. No level earns 0.
 * Not applicable where the case has no level.
 *
 * Uncorrected, a constant earns a lot: over 400 generated cases always 3 earns .69, always 2 .62, always 1 .41. With
 * `frequency` the value is (value − c) / (1 − c), cut off at −1 (lower where a third of the cases or more have one
 * level), with c such that the best constant earns 0 at those frequencies. With `triageFrequency` it earns .07 over the
 * same cases, whose ages and sexes move the levels a little.
 * @throws RangeError for an `underTriage` below 1 or an invalid frequency
 */
export function triage({ underTriage = 1, frequency }: TriageOptions = {}): Reward {
  if (!(Number.isFinite(underTriage) && underTriage >= 1))
    throw new RangeError(`Expected \`underTriage\` to be finite and ≥ 1, got ${underTriage}`)
  const declared = {
    name: 'triage',
    source: 'ordinal triage, under-triage weighed, after HAEnv and NurseSim',
  }
  if (!frequency)
    return defineReward({ ...declared, bounds: [-underTriage, 1] }, (episode, truth) =>
      scoreTriage(episode, truth, (stated, actual) => worth(stated, actual, underTriage)),
    )
  const correction = chanceCorrection(frequency, underTriage)
  // Where all cases have one level, there is nothing to judge.
  if (!correction) return defineReward({ ...declared, bounds: [0, 1] }, () => notApplicable)
  return defineReward({ ...declared, bounds: [correction.lowest, 1] }, (episode, truth) =>
    scoreTriage(episode, truth, (stated, actual) =>
      corrected(worth(stated, actual, underTriage), correction),
    ),
  )
}
