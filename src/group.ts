/** A group: episodes of one case and one seed, their scores and their advantages. */
import type { Episode } from './episode.js'
import type { Score } from './reward.js'

export interface Group {
  readonly id: string
  readonly caseId: string
  readonly seed: number
  readonly episodes: readonly Episode[]
  readonly scores: readonly Score[]
  /** One number per episode; 0 for an episode without a total. */
  readonly advantages: readonly number[]
  /** `learns`, or why it teaches nothing. */
  readonly status: 'learns' | 'singleton' | 'zero-variance' | 'too-few-scored'
}

/**
 * An advantage estimator: totals of one group's scored members, in, one number each, out.
 * A singleton or constant group gives zeros.
 */
export type AdvantageEstimator = (totals: readonly number[]) => readonly number[]

/**
 * Checks that siblings met the same patient: one case, one seed, one intake, one budget.
 * @throws TypeError naming the first member that differs
 */
export function assertSiblings(episodes: readonly Episode[]): void {
  const first = episodes[0]
  if (!first) return
  const key = (e: Episode) =>
    JSON.stringify([e.caseId, e.seed, e.language, e.intake, e.maxTurns, e.budget])
  const expected = key(first)
  for (const episode of episodes) {
    if (key(episode) !== expected)
      throw new TypeError(
        `Expected siblings of one group to share case, seed, intake and budget: ${first.id} has ${expected}, ${episode.id} has ${key(episode)}`,
      )
  }
}

/**
 * Forms a group: estimates advantages over the members that have a total, and says what it can teach.
 * @param minScored fewer scored members than this and the group teaches nothing @default 2
 */
export function formGroup(
  id: string,
  episodes: readonly Episode[],
  scores: readonly Score[],
  estimate: AdvantageEstimator,
  { minScored = 2 }: { readonly minScored?: number } = {},
): Group {
  const first = episodes[0]
  if (!first || episodes.length !== scores.length)
    throw new TypeError(
      `Expected as many scores as episodes and at least one, got ${episodes.length} episodes and ${scores.length} scores`,
    )
  assertSiblings(episodes)
  const scored = scores.flatMap((score, i) =>
    score.total === null ? [] : [{ i, total: score.total }],
  )
  const totals = scored.map(({ total }) => total)
  const status =
    scored.length === 1
      ? 'singleton'
      : scored.length < Math.max(minScored, 2)
        ? 'too-few-scored'
        : totals.every((total) => total === totals[0])
          ? 'zero-variance'
          : 'learns'
  const advantages = new Array<number>(episodes.length).fill(0)
  if (status === 'learns') {
    const estimated = estimate(totals)
    scored.forEach(({ i }, n) => {
      advantages[i] = estimated[n] ?? 0
    })
  }
  return { id, caseId: first.caseId, seed: first.seed, episodes, scores, advantages, status }
}
