/** Evaluation: an agent over many cases, every mean with a seeded case-bootstrap interval. */
import type { Agent } from '../agent.js'
import type { Case, GraderView } from '../case.js'
import { graderView } from '../case.js'
import type { Env } from '../env.js'
import type { Episode } from '../episode.js'
import type { Fault } from '../error.js'
import { ofOneWorld } from '../error.js'
import { mapPool } from '../platform/concurrency.js'
import type { Reward, Score } from '../reward.js'
import { rollout } from '../rollout.js'
import { fork } from '../seed.js'
import type { Estimate } from './bootstrap.js'
import { estimate, meanOf } from './bootstrap.js'

/** Rewards every evaluation measures, whatever the agent was trained on. */
export interface Measures {
  readonly reward: Reward
  readonly accuracy: Reward
  readonly partialCredit: Reward
  readonly examF1: Reward
}

/** What every measure says of one episode. */
export async function scoresOf(
  episode: Episode,
  truth: GraderView,
  measures: Measures,
  signal?: AbortSignal,
): Promise<Readonly<Record<keyof Measures, Score>>> {
  const score = (measure: Reward) => measure(episode, truth, { signal })
  return {
    reward: await score(measures.reward),
    accuracy: await score(measures.accuracy),
    partialCredit: await score(measures.partialCredit),
    examF1: await score(measures.examF1),
  }
}

/** One case, played; without an episode when the world failed. */
export interface PlayedCase {
  readonly truth: Case
  readonly episode?: Episode
  readonly scores?: Readonly<Record<keyof Measures, Score>>
  readonly fault?: Fault
}

export interface PlayCasesOptions {
  readonly cases: readonly Case[]
  readonly makeEnv: () => Env
  readonly agent: Agent
  readonly agentName: string
  readonly measures: Measures
  /** @default 0 */
  readonly seed?: number
  /** @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called after each case, in completion order. */
  readonly onPlayed?: (played: PlayedCase) => void
}

/**
 * Plays every case once. The env's seed depends on `seed` and the case alone, so that any two agents meet
 * the same patients. A fault of the world leaves its case without an episode; it is never a score.
 */
export function playCases({
  cases,
  makeEnv,
  agent,
  agentName,
  measures,
  seed = 0,
  concurrency = 8,
  signal,
  onPlayed,
}: PlayCasesOptions): Promise<PlayedCase[]> {
  return mapPool(cases, concurrency, async (truth) => {
    signal?.throwIfAborted()
    await using env = makeEnv()
    const place = fork(seed, 'evaluate', truth.id)
    let played: PlayedCase
    try {
      const episode = await rollout(env, agent, {
        seed: place,
        agentSeed: fork(place, 'agent'),
        options: { case: truth },
        agentName,
        signal,
      })
      const scores = await scoresOf(episode, graderView(truth), measures, signal)
      played = { truth, episode, scores }
    } catch (error) {
      if (!ofOneWorld(error) || signal?.aborted) throw error
      played = { truth, fault: error }
    }
    onPlayed?.(played)
    return played
  })
}

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

/** The numbers of an evaluation; episodes that faulted or have no total are counted, not averaged. */
export function summarise(played: readonly PlayedCase[], seed = 0): Summary {
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
    reward: estimate(totals('reward'), seed),
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

export const anchorOf = (summary: Summary): Anchor => ({
  accuracy: summary.accuracy.mean,
  reward: summary.reward.mean,
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
