/** Writes trajectories to a Parquet file while a run produces them. */
import type * as Arrow from 'apache-arrow'
import { Fault } from '../../error.js'
import { trajectoryTable, uniqueColumns } from './columns.js'
import { createParquetFile, type NewParquetFile } from './parquet-file.js'
import { assertTrajectories, type Trajectory, trajectorySchema } from './trajectory.js'

/** Key of the file metadata that holds the schema's name. */
export const metadataKey = 'bedside'

/** A trajectory file being written. */
export interface TrajectoryWriter extends AsyncDisposable {
  /**
   * Adds trajectories. Resolves when the writer is ready for more; awaiting it bounds the memory.
   * The arrays must not change until the file is closed.
   * @throws RangeError naming segment and field, before any of them is written
   */
  append(trajectories: readonly Trajectory[]): Promise<void>
  /** Completes the file and renames it into place. */
  close(): Promise<void>
  /** Removes the unfinished file; does nothing after `close`. */
  abort(): Promise<void>
}

/** Size of the row groups that a trajectory writer makes. */
export interface TrajectoryWriterOptions {
  /** Maximum rows of a row group; a reader holds one row group in memory. @default 1024 */
  readonly rowGroupRows?: number
  /** Tokens buffered before a row group is written, so about its size in tokens. @default 524_288 */
  readonly rowGroupTokens?: number
}

/** Upper bound of a token's encoded bytes over all columns. */
const tokenBytes = 25

const arrowTable = async (rows: readonly Trajectory[]): Promise<Arrow.Table> =>
  trajectoryTable(await import('apache-arrow'), rows)

/** Collects trajectories into row groups and sends those one after another, whether or not the caller waits. */
function rowGroupQueue(
  stream: NewParquetFile,
  { rowGroupRows, rowGroupTokens }: Required<TrajectoryWriterOptions>,
) {
  let rows: Trajectory[] = []
  let tokens = 0
  let sent = Promise.resolve()
  const flush = () => {
    if (rows.length === 0) return
    const taken = rows
    rows = []
    tokens = 0
    sent = sent.then(async () => stream.write(await arrowTable(taken)))
    sent.catch(() => {})
  }
  return {
    add(one: Trajectory): void {
      rows.push(one)
      tokens += one.segment.tokens.length
      if (rows.length >= rowGroupRows || tokens >= rowGroupTokens) flush()
    },
    /** Resolves when every row group sent so far is written. */
    settled: () => sent,
    async close(): Promise<void> {
      flush()
      try {
        await sent
      } catch (error) {
        await stream.abort()
        throw error
      }
      await stream.close(() => arrowTable([]))
    },
    abort: () => sent.catch(() => {}).then(() => stream.abort()),
  }
}

/**
 * Opens a new `*.parquet` file of the schema `bedside-trajectories/2`; it replaces an existing file when it is
 * closed. Left by `await using` without `close`, it aborts.
 * @throws Fault `bad-input` for another name; `append` and `close` throw one for a path that cannot be written
 */
export function trajectoryWriter(
  path: string,
  { rowGroupRows = 1024, rowGroupTokens = 524_288 }: TrajectoryWriterOptions = {},
): TrajectoryWriter {
  if (!path.endsWith('.parquet'))
    throw new Fault('bad-input', `Expected a file of trajectories named *.parquet, got \`${path}\``)
  const stream = createParquetFile(path, {
    metadata: new Map([[metadataKey, trajectorySchema]]),
    rows: rowGroupRows,
    bytes: rowGroupTokens * tokenBytes,
    plain: uniqueColumns.map((name) => `${name}.list.item`),
  })
  const queue = rowGroupQueue(stream, { rowGroupRows, rowGroupTokens })
  let ended: Promise<void> | undefined
  const abort = () => {
    ended ??= queue.abort()
    return ended.catch(() => {})
  }
  return {
    async append(trajectories) {
      if (ended) throw new TypeError(`Expected an open writer, got one that was closed: ${path}`)
      assertTrajectories(trajectories)
      for (const one of trajectories) queue.add(one)
      await queue.settled()
    },
    close() {
      ended ??= queue.close()
      return ended
    },
    abort,
    [Symbol.asyncDispose]: abort,
  }
}
