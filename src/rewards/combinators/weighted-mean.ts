/** Arithmetic of the combinators: weighted means over applicable parts, of totals and of turns. */
import type { Part, Reward, Score } from '../../reward.js'
import { toPart } from '../score.js'

/** The least and the greatest total of a reward. */
export type RewardBounds = readonly [low: number, high: number]

/** Clips a value to bounds. */
export const clamp = (value: number, [low, high]: RewardBounds): number =>
  value < low ? low : value > high ? high : value

/** The different sources of some rewards, joined by `; `. */
export const joinSources = (...rewards: readonly Reward[]): string =>
  [...new Set(rewards.map(({ source }) => source))].join('; ')

/** Adds a score to `parts`: its total as a part under `key`, and its own parts as `key/part`. Returns the first. */
export function nestParts(parts: Record<string, Part>, key: string, score: Score): Part {
  const part = toPart(score)
  parts[key] = part
  for (const name in score.parts) {
    const inner = score.parts[name]
    if (inner && inner !== part) parts[`${key}/${name}`] = inner
  }
  return part
}

/** Checks weights and returns their sum. @throws RangeError for one that is negative or not finite, or when all are 0 */
export function checkWeights(names: readonly string[], weights: readonly number[]): number {
  weights.forEach((weight, i) => {
    if (!(Number.isFinite(weight) && weight >= 0))
      throw new RangeError(`Expected weight \`${names[i]}\` to be finite and ≥ 0, got ${weight}`)
  })
  const sum = weights.reduce((all, weight) => all + weight, 0)
  if (sum === 0) throw new RangeError('Expected at least one weight above 0, got none')
  return sum
}

/** Bounds that hold for all of the rewards: the lowest and the highest of theirs. */
export const unionBounds = (rewards: readonly Reward[]): RewardBounds => [
  Math.min(...rewards.map(({ bounds }) => bounds[0])),
  Math.max(...rewards.map(({ bounds }) => bounds[1])),
]

/** `values` with `more` added to the last of them. */
export const addToLast = (values: readonly number[], more: number): readonly number[] =>
  more === 0 ? values : values.map((value, t) => (t === values.length - 1 ? value + more : value))

/** The turn rewards of a weighted mean, where a weighted score has them; scores without pay at the last turn. */
function weightedTurns(
  scores: readonly Score[],
  parts: readonly Part[],
  shares: readonly number[],
): readonly number[] | undefined {
  const first = scores.find(({ turns }, i) => turns && shares[i]! > 0)?.turns
  if (!first) return undefined
  const sum = first.map(() => 0)
  let rest = 0
  scores.forEach(({ turns }, i) => {
    const part = parts[i]!
    const share = shares[i]!
    if (share === 0 || part.status !== 'ok') return
    if (turns)
      turns.forEach((value, t) => {
        sum[t]! += share * value
      })
    else rest += share * part.value
  })
  return addToLast(sum, rest)
}

/**
 * The weighted mean of `scores` over those that apply, with their parts under `names`. The total is null where a score
 * of positive weight is unavailable, or none applies.
 */
export function weightedScore(
  names: readonly string[],
  weights: readonly number[],
  scores: readonly Score[],
  bounds: RewardBounds,
): Score {
  const nested: Record<string, Part> = {}
  const parts = scores.map((score, i) => nestParts(nested, names[i]!, score))
  let sum = 0
  let applied = 0
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!
    const weight = weights[i]!
    if (weight === 0 || part.status === 'not-applicable') continue
    if (part.status === 'unavailable') return { total: null, parts: nested }
    sum += weight * part.value
    applied += weight
  }
  if (applied === 0) return { total: null, parts: nested }
  // A mean of values within the bounds can leave them only by rounding.
  const total = clamp(sum / applied, bounds)
  const turns = scores.some((score) => score.turns)
    ? weightedTurns(
        scores,
        parts,
        weights.map((weight) => weight / applied),
      )
    : undefined
  return turns ? { total, parts: nested, turns } : { total, parts: nested }
}
