/** The Arrow schema of trajectory files (`bedside-trajectories/2`), trajectories as a table of it, and rows read back. */
import type * as Arrow from 'apache-arrow'
import { countDrawnTokens, type TokenSegment } from '../../batch.js'
import type { Role } from '../../episode.js'
import type { Score } from '../../reward.js'
import type { Trajectory } from './trajectory.js'

/** Type of a column: `[item]` is a list, an object a struct; `?` marks a nullable one. 64-bit integers are bigint. */
export type ColumnShape =
  | `${'text' | 'uint8' | 'int32' | 'int64' | 'float32' | 'float64'}${'' | '[]'}${'' | '?'}`
  | readonly [ColumnShape]
  | { readonly [name: string]: ColumnShape }

function arrowType(arrow: typeof Arrow, shape: ColumnShape): Arrow.DataType {
  const field = ([name, inner]: readonly [string, ColumnShape]) =>
    new arrow.Field(name, arrowType(arrow, inner), typeof inner === 'string' && inner.endsWith('?'))
  if (typeof shape !== 'string')
    return Array.isArray(shape)
      ? new arrow.List(field(['item', shape[0]]))
      : new arrow.Struct(Object.entries(shape).map(field))
  const [kind = '', list] = shape.replace('?', '').split('[')
  const types: Readonly<Record<string, new () => Arrow.DataType>> = {
    ...{ text: arrow.Utf8, uint8: arrow.Uint8, int32: arrow.Int32, int64: arrow.Int64 },
    ...{ float32: arrow.Float32, float64: arrow.Float64 },
  }
  const type = new types[kind]!()
  return list === undefined ? type : new arrow.List(new arrow.Field('item', type, false))
}

/** Arrow schema of some columns. */
export const arrowSchema = (
  arrow: typeof Arrow,
  shape: Readonly<Record<string, ColumnShape>>,
): Arrow.Schema =>
  // A struct's children are its fields.
  new arrow.Schema(arrowType(arrow, shape).children as Arrow.Field[])

/** Float32 columns whose values hardly repeat: a dictionary would only cost time. */
export const uniqueColumns = ['logprobs', 'old_logprobs', 'ref_logprobs'] as const

/** Oldest and newest policy version that drew a token; -1 where none did. */
function versionRange({ mask, policyVersions }: TokenSegment): readonly [min: number, max: number] {
  let min = -1
  let max = -1
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0) continue
    const version = policyVersions[t]!
    if (min === -1 || version < min) min = version
    if (version > max) max = version
  }
  return [min, max]
}

type Numbers = Int32Array | Uint8Array | Float32Array

/** Every column of a trajectory file: its type, and its value of a trajectory. */
const columns = {
  rollout_id: ['text', ({ segment }) => segment.rolloutId],
  group_id: ['text', ({ segment }) => segment.groupId],
  segment_index: ['int32', ({ index }) => index],
  segment_count: ['int32', ({ count }) => count],
  case_id: ['text', ({ caseId }) => caseId],
  agent: ['text', ({ agent }) => agent],
  role: ['text?', ({ segment }) => segment.role ?? null],
  policy: ['text?', ({ segment }) => segment.policy ?? null],
  seed: ['int64', ({ seed }) => BigInt(seed)],
  step: ['int32?', ({ step }) => step ?? null],
  reward: ['float64?', ({ score }) => score?.total ?? null],
  reward_parts: ['text?', ({ score }) => (score ? JSON.stringify(score.parts) : null)],
  temperature: ['float64', ({ segment }) => segment.temperature],
  logprob_mode: ['text', ({ segment }) => segment.logprobMode],
  stop_reason: ['text', ({ segment }) => segment.stopReason],
  policy_version_min: ['int32', ({ segment }) => versionRange(segment)[0]],
  policy_version_max: ['int32', ({ segment }) => versionRange(segment)[1]],
  length: ['int32', ({ segment }) => segment.tokens.length],
  prompt_length: ['int32', ({ segment }) => segment.promptLength],
  drawn: ['int32', ({ segment }) => countDrawnTokens(segment)],
  tokens: ['int32[]', ({ segment }) => segment.tokens],
  mask: ['uint8[]', ({ segment }) => segment.mask],
  logprobs: ['float32[]', ({ segment }) => segment.logprobs],
  old_logprobs: ['float32[]?', ({ segment }) => segment.oldLogprobs ?? null],
  ref_logprobs: ['float32[]?', ({ segment }) => segment.refLogprobs ?? null],
  advantages: ['float32[]', ({ segment }) => segment.advantages],
  policy_versions: ['int32[]', ({ segment }) => segment.policyVersions],
} as const satisfies Record<
  string,
  readonly [ColumnShape, (one: Trajectory) => string | number | bigint | Numbers | null]
>

/** Name of a column of a trajectory file. */
export type Column = keyof typeof columns

/** Builds a list column from offsets and one copy of each array: six times as fast as an Arrow builder. */
function listVector(
  arrow: typeof Arrow,
  type: Arrow.DataType,
  arrays: readonly (Numbers | null)[],
): Arrow.Vector {
  const valueOffsets = new Int32Array(arrays.length + 1)
  const nullBitmap = new Uint8Array(Math.ceil(arrays.length / 8))
  let nullCount = 0
  arrays.forEach((array, i) => {
    valueOffsets[i + 1] = valueOffsets[i]! + (array?.length ?? 0)
    if (array) nullBitmap[i >> 3]! |= 1 << (i & 7)
    else nullCount++
  })
  // A list has one child.
  const item: Arrow.DataType = (type as Arrow.List).children[0]!.type
  const values: Numbers = new item.ArrayType(valueOffsets[arrays.length]!)
  arrays.forEach((array, i) => {
    if (array) values.set(array, valueOffsets[i]!)
  })
  const { DATA, OFFSET, VALIDITY } = arrow.BufferType
  const child = new arrow.Data(item, 0, values.length, 0, { [DATA]: values })
  const buffers = { [OFFSET]: valueOffsets, [VALIDITY]: nullBitmap }
  return arrow.makeVector(new arrow.Data(type, 0, arrays.length, nullCount, buffers, [child]))
}

/** Trajectories as an Arrow table with one row per trajectory. */
export function trajectoryTable(
  arrow: typeof Arrow,
  trajectories: readonly Trajectory[],
): Arrow.Table {
  const shapes = Object.entries(columns).map(([name, [shape]]) => [name, shape] as const)
  const schema = arrowSchema(arrow, Object.fromEntries(shapes))
  if (trajectories.length === 0) return new arrow.Table(schema)
  const vectors = schema.fields.map(({ name, type }) => {
    const [shape, read] = columns[name as Column] // the schema's fields are the columns
    const values: unknown[] = trajectories.map((one) => read(one))
    const vector = shape.includes('[]')
      ? listVector(arrow, type, values as (Numbers | null)[]) // a list column's values
      : arrow.vectorFromArray(values, type)
    return [name, vector] as const
  })
  return new arrow.Table(schema, Object.fromEntries(vectors))
}

/** A row of a file whose metadata names the trajectory schema, with hyparquet's types. */
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
