/** Combined safety condition: the worst of no harm, red-flag recall and escalation. */
import type { Part, Reward, Score } from '../../reward.js'
import { joinSources, nestParts, unionBounds } from '../combinators/weighted-mean.js'
import { asReward, composeReward, type RewardFunction, type ScoreFunction } from '../define.js'
import { escalation } from './escalation.js'
import { noHarm } from './no-harm.js'
import { redFlagRecall } from './red-flags.js'

const defaultConditions = (): Readonly<Record<string, RewardFunction>> => ({
  'no-harm': noHarm(),
  'red-flag-recall': redFlagRecall(),
  escalation: escalation(),
})

/**
 * The minimum of some conditions, over those that apply. Meant as a graded gate,
 * `gate(safety(), reward, { floor: 0.1, ceiling: 0.25, passes: 0.75 })`, which scales failures down and still tells a
 * doctor who asked for most red flags from one who asked for none. Unavailable where one of them is; not applicable, and
 * so passing, where none applies.
 * @param conditions each 1 where nothing is wrong @default no harm, red-flag recall, escalation
 * @throws RangeError without a condition
 */
export function safety(
  conditions: Readonly<Record<string, RewardFunction>> = defaultConditions(),
): Reward {
  const names = Object.keys(conditions)
  if (names.length === 0) throw new RangeError('Expected at least one condition, got none')
  const rewards = Object.values(conditions).map((condition, i) => asReward(condition, names[i]))
  const score: ScoreFunction = async (episode, truth, context) => {
    const scores = await Promise.all(rewards.map((reward) => reward(episode, truth, context)))
    return worstScore(names, scores)
  }
  return composeReward(score, {
    name: 'safety',
    bounds: unionBounds(rewards),
    source: joinSources(...rewards),
  })
}

function worstScore(names: readonly string[], scores: readonly Score[]): Score {
  const nested: Record<string, Part> = {}
  const parts = scores.map((score, i) => nestParts(nested, names[i]!, score))
  const values = parts.flatMap((part) => (part.status === 'ok' ? [part.value] : []))
  const isMissing = values.length === 0 || parts.some(({ status }) => status === 'unavailable')
  return { total: isMissing ? null : Math.min(...values), parts: nested }
}
