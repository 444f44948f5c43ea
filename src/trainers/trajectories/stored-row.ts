/** Rows of a trajectory file parsed back into trajectories. */
import type { TokenSegment } from '../../batch.js'
import type { Role } from '../../episode.js'
import type { Score } from '../../reward.js'
import type { Column } from './columns.js'
import type { Trajectory } from './trajectory.js'

/** A row of a file whose metadata names a trajectory schema, with hyparquet's types. */
export type StoredRow = Readonly<Record<Column, unknown>>

// The metadata names the schema, which says that these columns have these types.
const text = (row: StoredRow, name: Column) => row[name] as string
const array = (row: StoredRow, name: Column) => row[name] as ArrayLike<number>

const roles: readonly Role[] = ['doctor', 'patient', 'examiner', 'judge']

function parseSegment(row: StoredRow): TokenSegment {
  const role = roles.find((name) => name === row.role)
  const old = row.old_logprobs != null && Float32Array.from(array(row, 'old_logprobs'))
  const ref = row.ref_logprobs != null && Float32Array.from(array(row, 'ref_logprobs'))
  return {
    rolloutId: text(row, 'rollout_id'),
    groupId: text(row, 'group_id'),
    ...(role ? { role } : {}),
    ...(row.policy == null ? {} : { policy: text(row, 'policy') }),
    tokens: Int32Array.from(array(row, 'tokens')),
    promptLength: Number(row.prompt_length),
    mask: Uint8Array.from(array(row, 'mask')),
    logprobs: Float32Array.from(array(row, 'logprobs')),
    ...(old ? { oldLogprobs: old } : {}),
    ...(ref ? { refLogprobs: ref } : {}),
    advantages: Float32Array.from(array(row, 'advantages')),
    policyVersions: Int32Array.from(array(row, 'policy_versions')),
    temperature: Number(row.temperature),
    logprobMode: row.logprob_mode === 'raw' ? 'raw' : 'scaled',
    stopReason: row.stop_reason === 'length' ? 'length' : 'stop',
  }
}

function parseScore(row: StoredRow): Score | undefined {
  if (row.reward_parts == null) return undefined
  const total = row.reward == null ? null : Number(row.reward)
  return { total, parts: JSON.parse(text(row, 'reward_parts')) }
}

/** Parses a row into the trajectory it was written from, its arrays bit for bit. */
export function parseTrajectoryRow(row: StoredRow): Trajectory {
  const score = parseScore(row)
  return {
    segment: parseSegment(row),
    index: Number(row.segment_index),
    count: Number(row.segment_count),
    caseId: text(row, 'case_id'),
    agent: text(row, 'agent'),
    seed: Number(row.seed),
    ...(row.step == null ? {} : { step: Number(row.step) }),
    ...(score ? { score } : {}),
  }
}
