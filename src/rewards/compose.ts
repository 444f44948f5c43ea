/**
 * Combinators: rewards out of rewards. Bounds propagate, and a missing part is never a 0.
 *
 * Each takes a reward or a bare function. A part that is unavailable makes the whole unavailable; one
 * that does not apply is left out, which should depend on the case alone: where a policy can bring it
 * about (by never asking), {@link otherwise} closes the hole.
 */
import type { Part, Reward, Score } from '../reward.js'
import { ok } from '../reward.js'
import type { RewardFunction, Scoring } from './define.js'
import { asReward, checkBounds, composite } from './define.js'
import { partOf, scoreOf } from './score.js'

type Bounds = readonly [low: number, high: number]
type AnyReward = RewardFunction

/** A weight, and the reward it weighs. */
export type Weighed = readonly [weight: number, reward: AnyReward]

export interface Naming {
  readonly name?: string
  /** @default the sources of what is composed */
  readonly source?: string
}

const rounded = (value: number): number => Number(value.toFixed(3))

const sourcesOf = (...rewards: readonly Reward[]): string =>
  [...new Set(rewards.map(({ source }) => source))].join('; ')

const clamp = (value: number, [low, high]: Bounds): number =>
  value < low ? low : value > high ? high : value

/** Puts into `parts` what `score` amounts to, under `key`, and its own parts as `key/part`. */
function nest(parts: Record<string, Part>, key: string, score: Score): Part {
  const part = partOf(score)
  parts[key] = part
  for (const name in score.parts) {
    const inner = score.parts[name]
    if (inner && inner !== part) parts[`${key}/${name}`] = inner
  }
  return part
}

function checkWeights(names: readonly string[], weights: readonly number[]): number {
  weights.forEach((weight, i) => {
    if (!(Number.isFinite(weight) && weight >= 0))
      throw new RangeError(`Expected weight \`${names[i]}\` to be finite and ≥ 0, got ${weight}`)
  })
  const sum = weights.reduce((all, weight) => all + weight, 0)
  if (sum === 0) throw new RangeError('Expected at least one weight above 0, got none')
  return sum
}

function weightedMean(parts: readonly Part[], weights: readonly number[]): number | null {
  let sum = 0
  let applied = 0
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!
    const weight = weights[i]!
    if (weight === 0 || part.status === 'not-applicable') continue
    if (part.status === 'unavailable') return null
    sum += weight * part.value
    applied += weight
  }
  return applied === 0 ? null : sum / applied
}

/**
 * The weighted mean over the parts that apply: Σ wᵢ·vᵢ / Σ wᵢ. The keys name the parts.
 * The total is null when a part is unavailable or none applies; a part of weight 0 is reported only.
 * @param name @default 'weighted mean'
 * @throws RangeError for a weight that is negative or not finite, or when all are 0
 */
export function weigh(
  weighed: Readonly<Record<string, Weighed>>,
  { name = 'weighted mean', source }: Naming = {},
): Reward {
  const names = Object.keys(weighed)
  const weights = Object.values(weighed).map(([weight]) => weight)
  const rewards = Object.values(weighed).map(([, reward], i) => asReward(reward, names[i]))
  const sum = checkWeights(names, weights)
  const counted = rewards.filter((_, i) => weights[i] !== 0)
  const bounds: Bounds = [
    Math.min(...counted.map((reward) => reward.bounds[0])),
    Math.max(...counted.map((reward) => reward.bounds[1])),
  ]
  const score: Scoring = async (episode, truth, context) => {
    const scores = await Promise.all(rewards.map((reward) => reward(episode, truth, context)))
    const parts: Record<string, Part> = {}
    const mean = weightedMean(
      scores.map((inner, i) => nest(parts, names[i]!, inner)),
      weights,
    )
    // A mean of values within the bounds leaves them by rounding only.
    return { total: mean === null ? null : clamp(mean, bounds), parts }
  }
  return composite(score, {
    name,
    bounds,
    source: source ?? sourcesOf(...rewards),
    weights: Object.fromEntries(names.map((key, i) => [key, weights[i]! / sum])),
  })
}

/**
 * Holds a reward down where `condition` fails (its total is below 1): only `ceiling` of what the reward
 * gave above its lower bound is left, so that better stays better inside a failing group and the gradient
 * survives. A condition that does not apply passes; one that is unavailable makes the total null.
 * @param ceiling from 0 (a cliff) to 1 (no gate) @default 0.25
 * @throws RangeError where the reward has no lower bound; `clip` gives it one
 */
export function gate(
  condition: AnyReward,
  reward: AnyReward,
  { ceiling = 0.25 }: { readonly ceiling?: number } = {},
): Reward {
  const guard = asReward(condition, 'gate')
  const gated = asReward(reward)
  const { bounds } = gated
  if (!(ceiling >= 0 && ceiling <= 1))
    throw new RangeError(`Expected \`ceiling\` to be within [0, 1], got ${ceiling}`)
  if (!Number.isFinite(bounds[0]))
    throw new RangeError(
      `Expected \`${gated.rewardName}\` to have a lower bound to be gated to, got [${bounds}]`,
    )
  const score: Scoring = async (episode, truth, context) => {
    const [check, inner] = await Promise.all([
      guard(episode, truth, context),
      gated(episode, truth, context),
    ])
    const parts: Record<string, Part> = { ...inner.parts }
    if (guard.rewardName in parts)
      throw new TypeError(
        `Expected the gate to have a name of its own, got \`${guard.rewardName}\` twice`,
      )
    const passed = nest(parts, guard.rewardName, check)
    if (passed.status === 'unavailable' || inner.total === null) return { total: null, parts }
    if (passed.status === 'not-applicable' || passed.value >= 1)
      return { total: inner.total, parts }
    return { total: clamp(bounds[0] + ceiling * (inner.total - bounds[0]), bounds), parts }
  }
  return composite(score, {
    name: gated.rewardName,
    bounds,
    source: gated.source,
    weights: gated.weights,
  })
}

/** Holds a reward's total within [low, high]; its parts are reported as they were. */
export function clip(reward: AnyReward, low: number, high: number): Reward {
  checkBounds('clip', [low, high])
  const clipped = asReward(reward)
  const within: Bounds = [low, high]
  const score: Scoring = async (episode, truth, context) => {
    const { total, parts } = await clipped(episode, truth, context)
    return { total: total === null ? null : clamp(total, within), parts }
  }
  return composite(score, {
    name: clipped.rewardName,
    bounds: [clamp(clipped.bounds[0], within), clamp(clipped.bounds[1], within)],
    source: clipped.source,
    weights: clipped.weights,
  })
}

const times = (x: number, y: number): number => (x === 0 || y === 0 ? 0 : x * y)

/**
 * One reward times another, as one part: what the second pays, it pays only as far as the first does.
 * Unavailable where either is, not applicable where either does not apply.
 */
export function product(first: AnyReward, second: AnyReward): Reward {
  const [a, b] = [asReward(first, 'first'), asReward(second, 'second')]
  const name = `${a.rewardName} × ${b.rewardName}`
  const corners = a.bounds.flatMap((x) => b.bounds.map((y) => times(x, y)))
  const score: Scoring = async (episode, truth, context) => {
    const scores = await Promise.all([a(episode, truth, context), b(episode, truth, context)])
    const [x, y] = [partOf(scores[0]), partOf(scores[1])]
    if (x.status === 'unavailable') return scoreOf(name, x)
    if (y.status !== 'ok') return scoreOf(name, y)
    if (x.status !== 'ok') return scoreOf(name, x)
    return scoreOf(name, ok(times(x.value, y.value), `${rounded(x.value)} × ${rounded(y.value)}`))
  }
  const bounds: Bounds = [Math.min(...corners), Math.max(...corners)]
  return composite(score, { name, bounds, source: sourcesOf(a, b) })
}

/** `reward` where it applies; where it does not, `instead`: another reward, or a constant. */
export function otherwise(reward: AnyReward, instead: AnyReward | number): Reward {
  const preferred = asReward(reward)
  const fallback =
    typeof instead === 'number' ? constant(preferred.rewardName, instead) : asReward(instead)
  const score: Scoring = async (episode, truth, context) => {
    const first = await preferred(episode, truth, context)
    return partOf(first).status === 'not-applicable' ? fallback(episode, truth, context) : first
  }
  return composite(score, {
    name: preferred.rewardName,
    bounds: [
      Math.min(preferred.bounds[0], fallback.bounds[0]),
      Math.max(preferred.bounds[1], fallback.bounds[1]),
    ],
    source: sourcesOf(preferred, fallback),
  })
}

function constant(name: string, value: number): Reward {
  const score = scoreOf(name, ok(value, 'a constant, for what does not apply'))
  return composite(async () => score, { name, bounds: [value, value], source: 'a constant' })
}
