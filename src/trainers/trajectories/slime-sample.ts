/** Converts trajectories to the dictionaries that slime's `Sample.from_dict` reads. */
import { countDrawnTokens, type TokenSegment } from '../../batch.js'
import type { Trajectory } from './trajectory.js'

/** Integer ids that slime uses in place of names. */
export interface SampleNumbers {
  /** Index of the row. */
  readonly index: number
  /** Shared by all segments of one rollout. */
  readonly rollout: number
  /** Shared by all members of one group. */
  readonly group: number
}

/** The one advantage of all drawn tokens; null where they differ or none was drawn. */
function sharedAdvantage({ mask, advantages }: TokenSegment): number | null {
  const drawn = advantages.filter((_, t) => mask[t] === 1)
  return drawn.length > 0 && drawn.every((value) => value === drawn[0]) ? (drawn[0] ?? null) : null
}

/** Policy versions that drew tokens, each once, in the order of their first token. */
const distinctVersions = ({ mask, policyVersions }: TokenSegment): string[] =>
  [...new Set(policyVersions.filter((_, t) => mask[t] === 1))].map(String)

/** Converts a trajectory to a `Sample` dictionary; undefined where it has no reward or no token was drawn. */
export function slimeSample(
  { segment, index, count, caseId, agent, seed, step, score }: Trajectory,
  numbers: SampleNumbers,
): object | undefined {
  const reward = score?.total ?? null
  if (reward === null || countDrawnTokens(segment) === 0) return undefined
  return {
    group_index: numbers.group,
    index: numbers.index,
    rollout_id: numbers.rollout,
    prompt: '',
    tokens: Array.from(segment.tokens),
    response: '',
    response_length: segment.mask.length,
    label: null,
    reward,
    loss_mask: Array.from(segment.mask),
    weight_versions: distinctVersions(segment),
    rollout_log_probs: Array.from(segment.logprobs),
    status: segment.stopReason === 'length' ? 'truncated' : 'completed',
    metadata: {
      rollout: segment.rolloutId,
      group: segment.groupId,
      segment_index: index,
      segment_count: count,
      case_id: caseId,
      agent,
      seed,
      step: step ?? null,
      advantage: sharedAdvantage(segment),
      temperature: segment.temperature,
      logprob_mode: segment.logprobMode,
    },
  }
}
