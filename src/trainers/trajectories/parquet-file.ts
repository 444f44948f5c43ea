/** A Parquet file under a temporary name, renamed into place when it is complete. */
import type * as Arrow from 'apache-arrow'
import { rethrowAsFault } from '../../error.js'
import { type NewFile, newFile } from '../../storage/atomic-write.js'
import type { ParquetSink, ParquetSinkOptions } from '../../storage/parquet-files.js'
import { createParquetSink } from '../../storage/parquet-files.js'

/**
 * Prepares a new Parquet file at `path` for tables of one schema, opened on the first write and replacing an existing
 * one when closed. Calls must not overlap.
 * @throws Fault `bad-input` from `write` and `close` for a path that cannot be written
 */
export function createParquetFile(path: string, options: ParquetSinkOptions) {
  let opened: Promise<{ readonly file: NewFile; readonly sink: ParquetSink }> | undefined
  const begin = () => {
    opened ??= rethrowAsFault('bad-input', path, async () => {
      const file = await newFile(path)
      return { file, sink: createParquetSink(file, options) }
    })
    return opened
  }
  const started = () => opened?.catch(() => undefined)
  const discard = async () => {
    await (await started())?.file.discard()
  }
  return {
    /** Resolves once the table is on its way; awaiting it bounds the memory. */
    async write(table: Arrow.Table): Promise<void> {
      await (await begin()).sink.write(table)
    },
    /** Completes the file and renames it into place. `empty` makes the table whose columns a file without rows gets. */
    async close(empty: () => Promise<Arrow.Table>): Promise<void> {
      try {
        const { file, sink } = await begin()
        await sink.finish(empty)
        await file.close()
      } catch (error) {
        await discard()
        throw error
      }
    },
    /** Ends without a file. */
    async abort(): Promise<void> {
      await (await started())?.sink.abort().catch(() => {})
      await discard()
    },
  }
}

/** A Parquet file being written. */
export type NewParquetFile = ReturnType<typeof createParquetFile>
