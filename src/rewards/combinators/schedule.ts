/** Weighted mean of rewards whose weights change over training steps (curriculum). */
import type { Reward } from '../../reward.js'
import type { RewardFunction, ScoreFunction } from '../define.js'
import { asReward, composeReward } from '../define.js'
import type { CombinatorOptions } from './compose.js'
import { checkWeights, joinSources, unionBounds, weightedScore } from './weighted-mean.js'

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
