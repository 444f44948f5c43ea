/** Trajectories read from a Parquet file, one row group in memory at a time, and a summary of such a file. */
import { Fault } from '../../error.js'
import { openParquet } from '../../storage/parquet-files.js'
import { type Column, parseTrajectoryRow, type StoredRow } from './columns.js'
import { readableSchemas, type Trajectory } from './trajectory.js'
import { metadataKey } from './writer.js'

/**
 * The schema's name in a Parquet file's metadata; undefined where it has none.
 * @throws Fault `bad-input` for a file that is missing or no Parquet
 */
export async function readSchemaName(path: string): Promise<string | undefined> {
  return (await openParquet(path)).metadata.get(metadataKey)
}

/** Opens a file, and names its schema. @throws as {@link readTrajectories} */
async function openTrajectories(path: string) {
  const file = await openParquet(path)
  const schema = file.metadata.get(metadataKey)
  if (schema === undefined || !readableSchemas.includes(schema))
    throw new Fault(
      'bad-input',
      `${path}: expected a file of trajectories with schema ${readableSchemas.join(' or ')}, got ${schema ?? 'none'}`,
    )
  return {
    schema,
    /** Rows by row group, with all columns or the given ones; the schema's name vouches for them. */
    readRowGroups: (columns?: readonly Column[]) =>
      file.readRowGroups(columns) as AsyncIterable<readonly StoredRow[]>,
  }
}

/**
 * Reads the trajectories of a file in the order in which they were appended.
 * @throws Fault `bad-input` for a file that is missing, damaged, or of another schema or version of it
 */
export async function* readTrajectories(path: string): AsyncGenerator<Trajectory> {
  const file = await openTrajectories(path)
  for await (const rows of file.readRowGroups())
    for (const row of rows) yield parseTrajectoryRow(row)
}

/** Segments and tokens of one policy version in a trajectory file. */
export interface VersionCount {
  /** Newest version that drew a token of the segment; -1 where none was drawn. */
  readonly policyVersion: number
  readonly segments: number
  /** All tokens, prompts included. */
  readonly tokens: number
  /** Tokens that the policy drew. */
  readonly drawn: number
}

/** Summary of a trajectory file. */
export interface TrajectoryInfo {
  /** Name and version of the file's schema. */
  readonly schema: string
  /** Segments: one per row. */
  readonly rows: number
  readonly rowGroups: number
  /** Rollouts, counted by their first segments. */
  readonly rollouts: number
  /** All tokens, prompts included. */
  readonly tokens: number
  /** Tokens that the policy drew. */
  readonly drawn: number
  /** Segments drawn by more than one policy version. */
  readonly mixed: number
  /** Mean over the rollouts that have a reward; null where none has. */
  readonly meanReward: number | null
  /** Counts per policy version, oldest first. */
  readonly byPolicyVersion: readonly VersionCount[]
}

const countedColumns = [
  'segment_index',
  'reward',
  'length',
  'drawn',
  'policy_version_min',
  'policy_version_max',
] as const

/** Counts a file's rows, tokens and rewards without reading the token columns. @throws as {@link readTrajectories} */
export async function trajectoryInfo(path: string): Promise<TrajectoryInfo> {
  const all = { rows: 0, rowGroups: 0, rollouts: 0, tokens: 0, drawn: 0, mixed: 0 }
  const rewards = { sum: 0, count: 0 }
  const versions = new Map<number, VersionCount>()
  const add = (row: StoredRow) => {
    const [tokens, drawn] = [Number(row.length), Number(row.drawn)]
    const policyVersion = Number(row.policy_version_max)
    const before = versions.get(policyVersion)
    versions.set(policyVersion, {
      policyVersion,
      segments: (before?.segments ?? 0) + 1,
      tokens: (before?.tokens ?? 0) + tokens,
      drawn: (before?.drawn ?? 0) + drawn,
    })
    all.rows += 1
    all.tokens += tokens
    all.drawn += drawn
    if (policyVersion !== Number(row.policy_version_min)) all.mixed += 1
    if (Number(row.segment_index) > 0) return
    all.rollouts += 1
    if (row.reward == null) return
    rewards.sum += Number(row.reward)
    rewards.count += 1
  }
  const file = await openTrajectories(path)
  for await (const rows of file.readRowGroups(countedColumns)) {
    all.rowGroups += 1
    rows.forEach(add)
  }
  return {
    schema: file.schema,
    ...all,
    meanReward: rewards.count > 0 ? rewards.sum / rewards.count : null,
    byPolicyVersion: [...versions.values()].sort((a, b) => a.policyVersion - b.policyVersion),
  }
}
