/** Trajectories to a parquet file, as a run makes them. */
import type * as Arrow from 'apache-arrow'
import { Fault } from '../../error.js'
import { trajectoryArrowSchema, trajectoryTable, uniqueColumns } from './columns.js'
import { parquetStream } from './parquet-stream.js'
import type { Trajectory } from './trajectory.js'
import { assertTrajectories, trajectorySchema } from './trajectory.js'

/** The key of a file's metadata that holds the schema's name. */
export const metadataKey = 'bedside'

export interface TrajectoryWriter extends AsyncDisposable {
  /**
   * Adds trajectories; resolves when the writer is ready for more, and waiting for it bounds the memory.
   * The arrays must not change until the file is closed.
   * @throws RangeError naming segment and field, before any of them is written
   */
  append(trajectories: readonly Trajectory[]): Promise<void>
  /** Ends the file and gives it its name. */
  close(): Promise<void>
  /** Leaves nothing behind; does nothing after `close`. */
  abort(): Promise<void>
}

export interface TrajectoryWriterOptions {
  /** The most rows of a row group, which is what a reader holds at a time. @default 1024 */
  readonly rowGroupRows?: number
  /** The tokens that wait in memory, about as many as a row group has. @default 524_288 */
  readonly rowGroupTokens?: number
}

/** Encoded bytes of a token over all columns, at most. */
const tokenBytes = 25

/** Gathers trajectories until there are enough for a row group. */
function gather(rowsAtMost: number, tokensAtMost: number) {
  let rows: Trajectory[] = []
  let tokens = 0
  return {
    /** True when there are enough. */
    add: (one: Trajectory): boolean => {
      rows.push(one)
      tokens += one.segment.tokens.length
      return rows.length >= rowsAtMost || tokens >= tokensAtMost
    },
    take: (): readonly Trajectory[] => {
      const taken = rows
      rows = []
      tokens = 0
      return taken
    },
  }
}

/**
 * Writes trajectories to a new `*.parquet` file of the schema `bedside-trajectories/1`, replacing one that is
 * there when it is closed. Left by `await using` without `close`, it aborts.
 * @throws Fault `bad-input` for another name; `append` and `close` throw one for a place that cannot be written
 */
export function trajectoryWriter(
  path: string,
  { rowGroupRows = 1024, rowGroupTokens = 524_288 }: TrajectoryWriterOptions = {},
): TrajectoryWriter {
  if (!path.endsWith('.parquet'))
    throw new Fault('bad-input', `Expected a file of trajectories named *.parquet, got \`${path}\``)
  const stream = parquetStream(path, {
    metadata: new Map([[metadataKey, trajectorySchema]]),
    rows: rowGroupRows,
    bytes: rowGroupTokens * tokenBytes,
    unique: uniqueColumns.map((name) => `${name}.list.item`),
  })
  const waiting = gather(rowGroupRows, rowGroupTokens)
  const table = async (rows: readonly Trajectory[]): Promise<Arrow.Table> => {
    const arrow = await import('apache-arrow')
    return trajectoryTable(arrow, trajectoryArrowSchema(arrow), rows)
  }
  let ended: Promise<void> | undefined
  /** Row groups go one after another, whether or not the caller waits. */
  let sent = Promise.resolve()
  const flush = () => {
    const rows = waiting.take()
    if (rows.length === 0) return
    sent = sent.then(async () => stream.write(await table(rows)))
    sent.catch(() => {})
  }
  const finish = async () => {
    flush()
    try {
      await sent
    } catch (error) {
      await stream.abort()
      throw error
    }
    const empty = await table([])
    await stream.close(() => empty)
  }
  const abort = () => {
    ended ??= sent.catch(() => {}).then(() => stream.abort())
    return ended.catch(() => {})
  }
  return {
    async append(trajectories) {
      if (ended) throw new TypeError(`Expected an open writer, got one that was closed: ${path}`)
      assertTrajectories(trajectories)
      for (const one of trajectories) if (waiting.add(one)) flush()
      await sent
    },
    close() {
      ended ??= finish()
      return ended
    },
    abort,
    [Symbol.asyncDispose]: abort,
  }
}
