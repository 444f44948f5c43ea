/** Rows of a file of trajectories back to what they were written from. */
import type { TokenSegment } from '../../batch.js'
import type { Score } from '../../reward.js'
import type { Column } from './columns.js'
import type { Trajectory } from './trajectory.js'

/** A row of a file whose metadata names this schema, with hyparquet's types. */
export type StoredRow = Readonly<Record<Column, unknown>>

/** A row as the trajectory it was written from, its arrays bit for bit. */
export function fromRow(row: StoredRow): Trajectory {
  // The metadata names the schema, which says that these columns have these types.
  const text = (name: Column) => row[name] as string
  const array = (name: Column) => row[name] as ArrayLike<number>
  const old =
    row.old_logprobs == null ? {} : { oldLogprobs: Float32Array.from(array('old_logprobs')) }
  const ref =
    row.ref_logprobs == null ? {} : { refLogprobs: Float32Array.from(array('ref_logprobs')) }
  const segment: TokenSegment = {
    rolloutId: text('rollout_id'),
    groupId: text('group_id'),
    tokens: Int32Array.from(array('tokens')),
    promptLength: Number(row.prompt_length),
    mask: Uint8Array.from(array('mask')),
    logprobs: Float32Array.from(array('logprobs')),
    ...old,
    ...ref,
    advantages: Float32Array.from(array('advantages')),
    policyVersions: Int32Array.from(array('policy_versions')),
    temperature: Number(row.temperature),
    logprobMode: row.logprob_mode === 'raw' ? 'raw' : 'scaled',
    stopReason: row.stop_reason === 'length' ? 'length' : 'stop',
  }
  const score: { readonly score?: Score } =
    row.reward_parts == null
      ? {}
      : {
          score: {
            total: row.reward == null ? null : Number(row.reward),
            parts: JSON.parse(text('reward_parts')),
          },
        }
  return {
    segment,
    index: Number(row.segment_index),
    count: Number(row.segment_count),
    caseId: text('case_id'),
    agent: text('agent'),
    seed: Number(row.seed),
    ...(row.step == null ? {} : { step: Number(row.step) }),
    ...score,
  }
}
