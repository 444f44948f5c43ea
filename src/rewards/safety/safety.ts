/** Everything that must not go wrong, as one condition. */
import type { Part, Reward, Score } from '../../reward.js'
import { boundsOver, nest, sourcesOf } from '../combinators/weighing.js'
import type { RewardFunction, Scoring } from '../define.js'
import { asReward, composite } from '../define.js'
import { escalation } from './escalation.js'
import { noHarm } from './no-harm.js'
import { redFlagRecall } from './red-flags.js'

/** The conditions there are without any said: no harmful examination, red flags asked for, advice urgent enough. */
const usual = (): Readonly<Record<string, RewardFunction>> => ({
  'no-harm': noHarm(),
  'red-flag-recall': redFlagRecall(),
  escalation: escalation(),
})

/**
 * The worst of some conditions, over those that apply: made to be a graded gate,
 * `gate(safety(), reward, { floor: 0.1, ceiling: 0.25, passes: 0.75 })`, which holds down what fails and still tells
 * one who asked for most red flags from one who asked for none. Unavailable where one of them is; not applicable, and so
 * passing, where none applies.
 * @param conditions each 1 where nothing is wrong @default no harm, red-flag recall, escalation
 * @throws RangeError without a condition
 */
export function safety(conditions: Readonly<Record<string, RewardFunction>> = usual()): Reward {
  const names = Object.keys(conditions)
  if (names.length === 0) throw new RangeError('Expected at least one condition, got none')
  const rewards = Object.values(conditions).map((condition, i) => asReward(condition, names[i]))
  const score: Scoring = async (episode, truth, context) => {
    const scores = await Promise.all(rewards.map((reward) => reward(episode, truth, context)))
    return worstOf(names, scores)
  }
  return composite(score, {
    name: 'safety',
    bounds: boundsOver(rewards),
    source: sourcesOf(...rewards),
  })
}

/** The lowest of the totals there are; none where one could not be judged, or none applies. */
function worstOf(names: readonly string[], scores: readonly Score[]): Score {
  const nested: Record<string, Part> = {}
  const parts = scores.map((score, i) => nest(nested, names[i]!, score))
  const values = parts.flatMap((part) => (part.status === 'ok' ? [part.value] : []))
  const isMissing = values.length === 0 || parts.some(({ status }) => status === 'unavailable')
  return { total: isMissing ? null : Math.min(...values), parts: nested }
}
