/** Trajectories from a parquet file, one row group in memory at a time. */
import { boundary, Fault } from '../../error.js'
import type { Column } from './columns.js'
import type { StoredRow } from './stored-row.js'
import { fromRow } from './stored-row.js'
import type { Trajectory } from './trajectory.js'
import { trajectorySchema } from './trajectory.js'
import { metadataKey } from './writer.js'

async function openParquet(path: string) {
  const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet')
  return boundary('bad-input', path, async () => {
    const file = await asyncBufferFromFile(path)
    const metadata = await parquetMetadataAsync(file)
    const schema = metadata.key_value_metadata?.find(({ key }) => key === metadataKey)?.value
    return { file, metadata, schema }
  })
}

/**
 * The schema's name in a parquet file's metadata; undefined where it has none.
 * @throws Fault `bad-input` for a file that is missing or no parquet
 */
export async function schemaOfParquet(path: string): Promise<string | undefined> {
  return (await openParquet(path)).schema
}

/** Some columns of every row, by row group. @throws as {@link readTrajectories} */
async function* rowGroups(
  path: string,
  columns?: readonly Column[],
): AsyncGenerator<readonly StoredRow[]> {
  const { parquetReadObjects } = await import('hyparquet')
  const { compressors } = await import('hyparquet-compressors')
  const { file, metadata, schema } = await openParquet(path)
  if (schema !== trajectorySchema)
    throw new Fault(
      'bad-input',
      `${path}: expected a file of trajectories with schema ${trajectorySchema}, got ${schema ?? 'none'}`,
    )
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    const chosen = columns ? { columns: [...columns] } : {}
    const rows = await boundary('bad-input', `${path}: rows ${rowStart + 1} to ${rowEnd}`, () =>
      parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors, ...chosen }),
    )
    // The schema's name vouches for its columns.
    yield rows as StoredRow[]
    rowStart = rowEnd
  }
}

/**
 * The trajectories of a file in the order in which they were appended.
 * @throws Fault `bad-input` for a file that is missing, damaged, or of another schema or version of it
 */
export async function* readTrajectories(path: string): AsyncGenerator<Trajectory> {
  for await (const rows of rowGroups(path)) for (const row of rows) yield fromRow(row)
}

/** What a file of trajectories holds of one policy version. */
export interface VersionCount {
  /** The newest version that drew a token of the segment; -1 where none was drawn. */
  readonly policyVersion: number
  readonly segments: number
  readonly tokens: number
  /** Tokens that were drawn, and not only read. */
  readonly drawn: number
}

/** What a file of trajectories holds. */
export interface TrajectoryInfo {
  readonly schema: string
  /** Segments: one a row. */
  readonly rows: number
  readonly rowGroups: number
  readonly rollouts: number
  readonly tokens: number
  readonly drawn: number
  /** Segments that more than one policy version drew. */
  readonly mixed: number
  /** Mean over the rollouts that have a reward; null where none has. */
  readonly meanReward: number | null
  readonly byPolicyVersion: readonly VersionCount[]
}

const counted = [
  'segment_index',
  'reward',
  'length',
  'drawn',
  'policy_version_min',
  'policy_version_max',
] as const

/** Counts a file's rows and tokens; its tokens themselves are not read. @throws as {@link readTrajectories} */
export async function trajectoryInfo(path: string): Promise<TrajectoryInfo> {
  const all = { rows: 0, rowGroups: 0, rollouts: 0, tokens: 0, drawn: 0, mixed: 0 }
  const rewards = { sum: 0, count: 0 }
  const versions = new Map<number, VersionCount>()
  const add = (row: StoredRow) => {
    const [tokens, drawn] = [Number(row.length), Number(row.drawn)]
    const policyVersion = Number(row.policy_version_max)
    const before = versions.get(policyVersion) ?? { segments: 0, tokens: 0, drawn: 0 }
    versions.set(policyVersion, {
      policyVersion,
      segments: before.segments + 1,
      tokens: before.tokens + tokens,
      drawn: before.drawn + drawn,
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
  for await (const rows of rowGroups(path, counted)) {
    all.rowGroups += 1
    rows.forEach(add)
  }
  return {
    schema: trajectorySchema,
    ...all,
    meanReward: rewards.count > 0 ? rewards.sum / rewards.count : null,
    byPolicyVersion: [...versions.values()].sort((a, b) => a.policyVersion - b.policyVersion),
  }
}
