/** Weighted means over the parts that apply, of totals and of turns; weights may change over training (curriculum). */
import type { Part, Reward, Score } from '../../reward.js'
import { asReward, composeReward, type RewardFunction, type ScoreFunction } from '../define.js'
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

/** Name and source of a combined reward. */
export interface CombinatorOptions {
  readonly name?: string
  /** @default the sources of the combined rewards */
  readonly source?: string
}

/** A weight, or its values at training steps in rising order: linear between them, constant before and after. */
export type WeightSchedule = number | readonly (readonly [step: number, weight: number])[]

/** A weight that may change over training, and its reward. */
export type ScheduledReward = readonly [weight: WeightSchedule, reward: RewardFunction]

const pointsOf = (weight: WeightSchedule): readonly (readonly [step: number, weight: number])[] =>
  typeof weight === 'number' ? [[1, weight]] : weight

function checkPoints(name: string, weight: WeightSchedule): void {
  const points = pointsOf(weight)
  if (points.length === 0)
    throw new RangeError(
      `Expected weight \`${name}\` to have a value at one step at least, got none`,
    )
  points.forEach(([step], i) => {
    const before = points[i - 1]?.[0] ?? 0
    if (!(Number.isInteger(step) && step > before))
      throw new RangeError(
        `Expected steps of weight \`${name}\` to be integers that rise from 1, got ${step} after ${before}`,
      )
  })
}

/** The weight at a step, by linear interpolation; the last weight beyond the schedule. */
function weightAt(weight: WeightSchedule, step: number): number {
  const points = pointsOf(weight)
  const next = points.findIndex(([at]) => at >= step)
  if (next < 0) return points.at(-1)?.[1] ?? 0
  const [to, high] = points[next]!
  const [from, low] = points[next - 1] ?? [to, high]
  if (to === from) return high
  // A mean, and not a slope, which can be rounded to below 0.
  const u = (step - from) / (to - from)
  return (1 - u) * low + u * high
}

/**
 * The weighted mean of `weigh`, with weights by training step: a format reward that fades out, a cost that comes in
 * late. The step is that of the context. An episode that is evaluated or rescored has none and gets the weights at the
 * end of the schedule, so that such scores are comparable; `weights` are these last ones too.
 * @param name @default 'scheduled mean'
 * @throws RangeError for a weight that is negative or not finite at one of its steps, for steps that do not rise from
 * 1, or when all weights are 0 at some step
 */
export function schedule(
  scheduled: Readonly<Record<string, ScheduledReward>>,
  { name = 'scheduled mean', source }: CombinatorOptions = {},
): Reward {
  const names = Object.keys(scheduled)
  const weights = Object.values(scheduled).map(([weight]) => weight)
  const rewards = Object.values(scheduled).map(([, reward], i) => asReward(reward, names[i]))
  weights.forEach((weight, i) => {
    checkPoints(names[i]!, weight)
  })
  const at = (step: number) => weights.map((weight) => weightAt(weight, step))
  // Weights are straight between these steps, so what holds at all of them holds everywhere.
  const steps = [...new Set(weights.flatMap((weight) => pointsOf(weight).map(([step]) => step)))]
  for (const step of steps) checkWeights(names, at(step))
  const ever = rewards.filter((_, i) => pointsOf(weights[i]!).some(([, weight]) => weight > 0))
  const bounds = unionBounds(ever)
  const last = at(Number.POSITIVE_INFINITY)
  const sum = checkWeights(names, last)
  const score: ScoreFunction = async (episode, truth, context) => {
    const now = context?.step === undefined ? last : at(context.step)
    const scores = await Promise.all(rewards.map((reward) => reward(episode, truth, context)))
    return weightedScore(names, now, scores, bounds)
  }
  return composeReward(score, {
    name,
    bounds,
    source: source ?? joinSources(...rewards),
    weights: Object.fromEntries(names.map((key, i) => [key, last[i]! / sum])),
  })
}
