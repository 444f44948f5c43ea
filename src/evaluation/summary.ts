/** Summaries of played cases: means with their intervals, reference anchors, and scores between them. */
import type { Episode } from '../episode.js'
import type { Score } from '../reward.js'
import type { Estimate, ValueBounds } from './bootstrap.js'
import { estimate, meanOf, unitBounds } from './bootstrap.js'
import type { Measures, PlayedCase } from './play-cases.js'

/** What a part of a reward did over all episodes. */
export interface PartSummary {
  readonly mean: number | null
  readonly unavailable: number
  readonly notApplicable: number
}

export interface Summary {
  readonly cases: number
  readonly episodes: number
  readonly unavailable: number
  readonly reward: Estimate
  readonly accuracy: Estimate
  readonly partialCredit: Estimate
  readonly examF1: Estimate & { readonly notApplicable: number }
  readonly parts: Readonly<Record<string, PartSummary>>
  readonly turns: number | null
  readonly questions: number | null
  readonly exams: number | null
  readonly money: number | null
  readonly minutes: number | null
  readonly stops: Readonly<Record<string, number>>
}

/** Summaries of every named part of a list of scores. */
export function summariseParts(scores: readonly Score[]): Readonly<Record<string, PartSummary>> {
  const names = [...new Set(scores.flatMap((score) => Object.keys(score.parts)))]
  return Object.fromEntries(
    names.map((name) => {
      const parts = scores.flatMap((score) => score.parts[name] ?? [])
      const values = parts.flatMap((part) => (part.status === 'ok' ? [part.value] : []))
      return [
        name,
        {
          mean: values.length > 0 ? meanOf(values) : null,
          unavailable: parts.filter((part) => part.status === 'unavailable').length,
          notApplicable: parts.filter((part) => part.status === 'not-applicable').length,
        },
      ]
    }),
  )
}

/**
 * The numbers of an evaluation; episodes that faulted or have no total are counted, not averaged.
 * @param seed seeds the bootstrap
 * @param rewardBounds of the reward among the measures; every other measure is within [0, 1]
 */
export function summarise(
  played: readonly PlayedCase[],
  seed = 0,
  rewardBounds: ValueBounds = unitBounds,
): Summary {
  const done = played.flatMap(({ episode, scores }) =>
    episode && scores ? [{ episode, scores }] : [],
  )
  const totals = (name: keyof Measures): number[] =>
    done.flatMap(({ scores }) => scores[name].total ?? [])
  const average = (of: (episode: Episode) => number): number | null =>
    done.length > 0 ? meanOf(done.map(({ episode }) => of(episode))) : null
  const count = (kind: string) => (episode: Episode) =>
    episode.turns.filter(({ action }) => action.kind === kind).length
  const stops: Record<string, number> = {}
  for (const { episode } of done) stops[episode.stop] = (stops[episode.stop] ?? 0) + 1
  return {
    cases: played.length,
    episodes: done.length,
    unavailable: played.length - totals('reward').length,
    reward: estimate(totals('reward'), seed, { bounds: rewardBounds }),
    accuracy: estimate(totals('accuracy'), seed),
    partialCredit: estimate(totals('partialCredit'), seed),
    examF1: {
      ...estimate(totals('examF1'), seed),
      notApplicable: done.filter(({ scores }) => scores.examF1.total === null).length,
    },
    parts: summariseParts(done.map(({ scores }) => scores.reward)),
    turns: average((episode) => episode.turns.length),
    questions: average(count('ask')),
    exams: average(count('order')),
    money: average((episode) => episode.spent.money),
    minutes: average((episode) => episode.spent.minutes),
    stops,
  }
}

/** Accuracy and reward of a reference doctor on the same cases, seeds and budgets. */
export interface Anchor {
  readonly accuracy: number | null
  readonly reward: number | null
}

/** A reference doctor's means with their 95 % intervals. */
export interface ReferenceAnchor extends Anchor {
  readonly ci95: Readonly<Record<keyof Anchor, Estimate['ci95']>>
}

/** The anchor that a reference doctor's summary gives. */
export const anchorOf = ({ accuracy, reward }: Summary): ReferenceAnchor => ({
  accuracy: accuracy.mean,
  reward: reward.mean,
  ci95: { accuracy: accuracy.ci95, reward: reward.ci95 },
})

/** The anchor where no reference was played. */
export const noAnchor: ReferenceAnchor = Object.freeze({
  accuracy: null,
  reward: null,
  ci95: Object.freeze({ accuracy: null, reward: null }),
})

/** (mean - floor) / (ceiling - floor), not clipped; null where an end is missing or both coincide. */
export function normalised(
  mean: number | null,
  floor: number | null,
  ceiling: number | null,
): number | null {
  if (mean === null || floor === null || ceiling === null || ceiling === floor) return null
  return (mean - floor) / (ceiling - floor)
}

/** What is missing to the ceiling; null where an end is missing. */
export const regret = (mean: number | null, ceiling: number | null): number | null =>
  mean === null || ceiling === null ? null : ceiling - mean
