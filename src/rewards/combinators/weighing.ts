/** The arithmetic of the combinators: weighted means over what applies, of totals and turn by turn. */
import type { Part, Reward, Score } from '../../reward.js'
import { partOf } from '../score.js'

export type Bounds = readonly [low: number, high: number]

export const clamp = (value: number, [low, high]: Bounds): number =>
  value < low ? low : value > high ? high : value

export const sourcesOf = (...rewards: readonly Reward[]): string =>
  [...new Set(rewards.map(({ source }) => source))].join('; ')

/** Puts into `parts` what `score` amounts to, under `key`, and its own parts as `key/part`. */
export function nest(parts: Record<string, Part>, key: string, score: Score): Part {
  const part = partOf(score)
  parts[key] = part
  for (const name in score.parts) {
    const inner = score.parts[name]
    if (inner && inner !== part) parts[`${key}/${name}`] = inner
  }
  return part
}

/** Their sum. @throws RangeError for a weight that is negative or not finite, or when all are 0 */
export function checkWeights(names: readonly string[], weights: readonly number[]): number {
  weights.forEach((weight, i) => {
    if (!(Number.isFinite(weight) && weight >= 0))
      throw new RangeError(`Expected weight \`${names[i]}\` to be finite and ≥ 0, got ${weight}`)
  })
  const sum = weights.reduce((all, weight) => all + weight, 0)
  if (sum === 0) throw new RangeError('Expected at least one weight above 0, got none')
  return sum
}

/** From the lowest to the highest of what any of them can give. */
export const boundsOver = (rewards: readonly Reward[]): Bounds => [
  Math.min(...rewards.map(({ bounds }) => bounds[0])),
  Math.max(...rewards.map(({ bounds }) => bounds[1])),
]

/** `values` with `more` added to the last of them. */
export const withLast = (values: readonly number[], more: number): readonly number[] =>
  more === 0 ? values : values.map((value, t) => (t === values.length - 1 ? value + more : value))

/** The series of a weighted mean, where one of what is weighed has one; the others pay at the last turn. */
function weighedTurns(
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
  return withLast(sum, rest)
}

/**
 * The weighted mean of `scores` over those that apply, with their parts under `names`. No total where one that
 * weighs anything is unavailable, or none applies.
 */
export function weightedScore(
  names: readonly string[],
  weights: readonly number[],
  scores: readonly Score[],
  bounds: Bounds,
): Score {
  const nested: Record<string, Part> = {}
  const parts = scores.map((score, i) => nest(nested, names[i]!, score))
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
  // A mean of values within the bounds leaves them by rounding only.
  const total = clamp(sum / applied, bounds)
  const turns = scores.some((score) => score.turns)
    ? weighedTurns(
        scores,
        parts,
        weights.map((weight) => weight / applied),
      )
    : undefined
  return turns ? { total, parts: nested, turns } : { total, parts: nested }
}
