/** Evaluation summaries: means with 95 % intervals, reference anchors, regret and normalised scores. */
import type { Episode } from '../episode.js'
import type { Score } from '../reward.js'
import { average, type Estimate, unitBounds, type ValueBounds } from './bootstrap.js'
import { estimateByCase } from './by-case.js'
import type { Measures, PlayedCase } from './play-cases.js'
import { type PartSummary, partTallies } from './streaming-summary.js'

/** Statistics of an agent over a set of cases. */
export interface EvaluationSummary {
  readonly cases: number
  /** Consultations played to the end without a fault. */
  readonly episodes: number
  /** Consultations without a total reward. */
  readonly unavailable: number
  readonly reward: Estimate
  readonly accuracy: Estimate
  readonly partialCredit: Estimate
  readonly examF1: Estimate & { readonly notApplicable: number }
  readonly parts: Readonly<Record<string, PartSummary>>
  /** Means per episode, from here to `minutes`; null without an episode. */
  readonly turns: number | null
  readonly questions: number | null
  readonly exams: number | null
  readonly money: number | null
  readonly minutes: number | null
  /** Number of episodes per stop reason. */
  readonly stops: Readonly<Record<string, number>>
}

/** Summarises every named part of a list of scores. */
export function summariseParts(scores: readonly Score[]): Readonly<Record<string, PartSummary>> {
  const tallies = partTallies()
  for (const { parts } of scores)
    for (const [name, part] of Object.entries(parts)) tallies.add(name, part, null)
  return tallies.summaries()
}

/**
 * Summarises played cases. Episodes that faulted or have no total are counted, not averaged. Intervals resample cases,
 * each with all its consultations.
 * @param seed bootstrap seed
 * @param rewardBounds bounds of the measure `reward`; every other measure is within [0, 1]
 */
export function summarise(
  played: readonly PlayedCase[],
  seed = 0,
  rewardBounds: ValueBounds = unitBounds,
): EvaluationSummary {
  const done = played.flatMap(({ truth, episode, scores }) =>
    episode && scores ? [{ truth, episode, scores }] : [],
  )
  const totals = (name: keyof Measures) =>
    done.flatMap(({ truth, scores }) => {
      const value = scores[name].total
      return value === null ? [] : [{ truth, value }]
    })
  const perEpisode = (value: (episode: Episode) => number) =>
    average(done.map(({ episode }) => value(episode)))
  const count = (kind: string) => (episode: Episode) =>
    episode.turns.filter(({ action }) => action.kind === kind).length
  const stops: Record<string, number> = {}
  for (const { episode } of done) stops[episode.stop] = (stops[episode.stop] ?? 0) + 1
  return {
    cases: new Set(played.map(({ truth }) => truth.id)).size,
    episodes: done.length,
    unavailable: played.length - totals('reward').length,
    reward: estimateByCase(totals('reward'), seed, rewardBounds),
    accuracy: estimateByCase(totals('accuracy'), seed),
    partialCredit: estimateByCase(totals('partialCredit'), seed),
    examF1: {
      ...estimateByCase(totals('examF1'), seed),
      notApplicable: done.filter(({ scores }) => scores.examF1.total === null).length,
    },
    parts: summariseParts(done.map(({ scores }) => scores.reward)),
    turns: perEpisode((episode) => episode.turns.length),
    questions: perEpisode(count('ask')),
    exams: perEpisode(count('order')),
    money: perEpisode((episode) => episode.spent.money),
    minutes: perEpisode((episode) => episode.spent.minutes),
    stops,
  }
}

/** Mean accuracy and reward of a reference doctor on the same cases, seeds and budgets. */
export interface Anchor {
  readonly accuracy: number | null
  readonly reward: number | null
}

/** A reference doctor's means with 95 % intervals. */
export interface ReferenceAnchor extends Anchor {
  readonly ci95: Readonly<Record<keyof Anchor, Estimate['ci95']>>
}

/** Converts a reference doctor's summary into an anchor. */
export const toAnchor = ({ accuracy, reward }: EvaluationSummary): ReferenceAnchor => ({
  accuracy: accuracy.mean,
  reward: reward.mean,
  ci95: { accuracy: accuracy.ci95, reward: reward.ci95 },
})

/** Anchor without a played reference: all null. */
export const noAnchor: ReferenceAnchor = Object.freeze({
  accuracy: null,
  reward: null,
  ci95: Object.freeze({ accuracy: null, reward: null }),
})

/** Normalised score (mean - floor) / (ceiling - floor), not clipped; null if an end is missing or both are equal. */
export function normalised(
  mean: number | null,
  floor: number | null,
  ceiling: number | null,
): number | null {
  if (mean === null || floor === null || ceiling === null || ceiling === floor) return null
  return (mean - floor) / (ceiling - floor)
}

/** Regret: ceiling - mean; null if either is missing. */
export const regret = (mean: number | null, ceiling: number | null): number | null =>
  mean === null || ceiling === null ? null : ceiling - mean
