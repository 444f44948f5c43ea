/**
 * Reward combinators: weigh, gate, clip, multiply, otherwise. Bounds propagate, and a missing part is never a 0.
 *
 * Each takes a reward or a bare function. An unavailable part makes the whole unavailable; a part that is not
 * applicable is left out. Applicability should depend on the case alone: where a policy can bring it about
 * (by never asking), {@link otherwise} closes the loophole.
 */
import { ok, type Part, type Reward, type Score } from '../../reward.js'
import type { RewardFunction, ScoreFunction } from '../define.js'
import { asReward, checkBounds, composeReward } from '../define.js'
import { partScore, toPart } from '../score.js'
import type { CombinatorOptions, RewardBounds } from './weighted-mean.js'
import { addToLast, clamp, joinSources, nestParts, schedule, unionBounds } from './weighted-mean.js'

/** A weight and its reward. */
export type WeightedReward = readonly [weight: number, reward: RewardFunction]

const round3 = (value: number): number => Number(value.toFixed(3))

/**
 * The weighted mean of rewards over those that apply: Σ wᵢ·vᵢ / Σ wᵢ. The keys name the parts.
 * The total is null when a part is unavailable or none applies; a part of weight 0 is only reported.
 * @param name @default 'weighted mean'
 * @throws RangeError for a weight that is negative or not finite, or when all are 0
 */
export const weigh = (
  weighed: Readonly<Record<string, WeightedReward>>,
  { name = 'weighted mean', ...options }: CombinatorOptions = {},
): Reward => schedule(weighed, { name, ...options })

/** Options of {@link gate}: how much of the reward a failed condition leaves. */
export interface GateOptions {
  /** Share of the reward left where the condition just fails, 0 to 1 (no gate). @default 0.25 */
  readonly ceiling?: number
  /** Share left where the condition is 0, at most `ceiling`; linear in between. @default the ceiling */
  readonly floor?: number
  /** Total of the condition at which it passes, above 0. @default 1 */
  readonly passes?: number
}

function checkGate({ rewardName, bounds }: Reward, options: Required<GateOptions>): void {
  const { ceiling, floor, passes } = options
  if (!(ceiling >= 0 && ceiling <= 1))
    throw new RangeError(`Expected \`ceiling\` to be within [0, 1], got ${ceiling}`)
  if (!(floor >= 0 && floor <= ceiling))
    throw new RangeError(`Expected \`floor\` to be within [0, ${ceiling}], got ${floor}`)
  if (!(passes > 0)) throw new RangeError(`Expected \`passes\` to be more than 0, got ${passes}`)
  if (!Number.isFinite(bounds[0]))
    throw new RangeError(
      `Expected \`${rewardName}\` to have a lower bound to be gated to, got [${bounds}]`,
    )
}

/**
 * Scales a reward down where `condition` fails (its total is below `passes`): only a share of its amount above the
 * lower bound is left, so that inside a failing group better is still better and the gradient survives. With a
 * `floor` the share grows with the condition, from `floor` at 0 to `ceiling` just below passing, so that safer is
 * better too. It is a share, never a bonus: failing never pays more than passing.
 * A condition that is not applicable passes; one that is unavailable makes the total null.
 * @throws RangeError where the reward has no lower bound (`clip` gives it one), and for options out of range
 */
export function gate(
  condition: RewardFunction,
  reward: RewardFunction,
  { ceiling = 0.25, floor = ceiling, passes = 1 }: GateOptions = {},
): Reward {
  const guard = asReward(condition, 'gate')
  const gated = asReward(reward)
  const { bounds } = gated
  checkGate(gated, { ceiling, floor, passes })
  const score: ScoreFunction = async (episode, truth, context) => {
    const [check, inner] = await Promise.all([
      guard(episode, truth, context),
      gated(episode, truth, context),
    ])
    const parts: Record<string, Part> = { ...inner.parts }
    if (guard.rewardName in parts)
      throw new TypeError(
        `Expected the gate to have a name of its own, got \`${guard.rewardName}\` twice`,
      )
    const passed = nestParts(parts, guard.rewardName, check)
    if (passed.status === 'unavailable' || inner.total === null) return { total: null, parts }
    if (passed.status === 'not-applicable' || passed.value >= passes) return { ...inner, parts }
    const left = floor + (ceiling - floor) * Math.max(0, passed.value / passes)
    return { ...scaleDown(inner, inner.total, left, bounds), parts }
  }
  return composeReward(score, {
    name: gated.rewardName,
    bounds,
    source: gated.source,
    weights: gated.weights,
  })
}

/** Scales a total's amount above its lower bound by `left`. The bound's own remainder is paid at the last turn. */
function scaleDown(
  { turns }: Score,
  total: number,
  left: number,
  bounds: RewardBounds,
): Omit<Score, 'parts'> {
  const low = bounds[0]
  const less = clamp(low + left * (total - low), bounds)
  if (!turns) return { total: less }
  return {
    total: less,
    turns: addToLast(
      turns.map((value) => left * value),
      low * (1 - left),
    ),
  }
}

/** Clips a reward's total to [low, high]. Its parts and the rewards of its turns stay as they are. */
export function clip(reward: RewardFunction, low: number, high: number): Reward {
  checkBounds('clip', [low, high])
  const clipped = asReward(reward)
  const within: RewardBounds = [low, high]
  const score: ScoreFunction = async (episode, truth, context) => {
    const score = await clipped(episode, truth, context)
    return score.total === null ? score : { ...score, total: clamp(score.total, within) }
  }
  return composeReward(score, {
    name: clipped.rewardName,
    bounds: [clamp(clipped.bounds[0], within), clamp(clipped.bounds[1], within)],
    source: clipped.source,
    weights: clipped.weights,
  })
}

const times = (x: number, y: number): number => (x === 0 || y === 0 ? 0 : x * y)

/**
 * The product of two rewards, as one part: the second is paid in proportion to the first.
 * Unavailable where either is unavailable, not applicable where either is not applicable.
 */
export function multiply(first: RewardFunction, second: RewardFunction): Reward {
  const [a, b] = [asReward(first, 'first'), asReward(second, 'second')]
  const name = `${a.rewardName} × ${b.rewardName}`
  const corners = a.bounds.flatMap((x) => b.bounds.map((y) => times(x, y)))
  const score: ScoreFunction = async (episode, truth, context) => {
    const scores = await Promise.all([a(episode, truth, context), b(episode, truth, context)])
    const [x, y] = [toPart(scores[0]), toPart(scores[1])]
    if (x.status === 'unavailable') return partScore(name, x)
    if (y.status !== 'ok') return partScore(name, y)
    if (x.status !== 'ok') return partScore(name, x)
    return partScore(name, ok(times(x.value, y.value), `${round3(x.value)} × ${round3(y.value)}`))
  }
  const bounds: RewardBounds = [Math.min(...corners), Math.max(...corners)]
  return composeReward(score, { name, bounds, source: joinSources(a, b) })
}

/** Uses `reward` where it is applicable, else `instead`: another reward or a constant. */
export function otherwise(reward: RewardFunction, instead: RewardFunction | number): Reward {
  const preferred = asReward(reward)
  const fallback =
    typeof instead === 'number' ? constant(preferred.rewardName, instead) : asReward(instead)
  const score: ScoreFunction = async (episode, truth, context) => {
    const first = await preferred(episode, truth, context)
    return toPart(first).status === 'not-applicable' ? fallback(episode, truth, context) : first
  }
  return composeReward(score, {
    name: preferred.rewardName,
    bounds: unionBounds([preferred, fallback]),
    source: joinSources(preferred, fallback),
  })
}

function constant(name: string, value: number): Reward {
  const score = partScore(name, ok(value, 'a constant, for what does not apply'))
  return composeReward(async () => score, { name, bounds: [value, value], source: 'a constant' })
}

/**
 * The same reward, computed once where several combinators hold it and score one episode: the last score is kept until
 * another episode, truth or context comes. Only for deterministic rewards.
 */
export function memoizeReward(reward: Reward): Reward {
  let last: { readonly asked: readonly unknown[]; readonly score: Promise<Score> } | undefined
  const { rewardName: name, bounds, source, weights } = reward
  return composeReward(
    (...asked) => {
      if (!last || last.asked.some((value, i) => value !== asked[i]))
        last = { asked, score: reward(...asked) }
      return last.score
    },
    { name, bounds, source, weights },
  )
}
