/** A parquet file written a table at a time: bounded row groups, zstd, and its name only when it is whole. */
import type * as Arrow from 'apache-arrow'
import { boundary } from '../../error.js'
import type { NewFile } from '../../storage/atomic-write.js'
import { newFile } from '../../storage/atomic-write.js'

export interface ParquetStreamOptions {
  /** @default no metadata */
  readonly metadata?: ReadonlyMap<string, string>
  /** The most rows of a row group. */
  readonly rows: number
  /** About the most encoded bytes of a row group; it ends at whichever comes first. */
  readonly bytes: number
  /** Paths of columns whose values hardly repeat, such as `logprobs.list.item`. @default none */
  readonly unique?: readonly string[]
}

/** Writes tables of one schema; they go one after another, whether or not the caller waits. */
export interface ParquetStream {
  /** Resolves when the table is on its way; waiting for it bounds the memory. */
  write(table: Arrow.Table): Promise<void>
  /** Ends the file and gives it its name. A file without rows needs the table that says its columns. */
  close(empty: () => Arrow.Table): Promise<void>
  /** Ends without a file. */
  abort(): Promise<void>
}

/** Loads the libraries; only who writes parquet pays for them. */
async function load() {
  const [arrow, parquet] = await Promise.all([import('apache-arrow'), import('parquet-wasm')])
  return { arrow, parquet }
}
type Libraries = Awaited<ReturnType<typeof load>>

function propertiesOf(
  { parquet }: Libraries,
  { metadata = new Map(), rows, bytes, unique = [] }: ParquetStreamOptions,
) {
  const builder = new parquet.WriterPropertiesBuilder()
    .setCompression(parquet.Compression.ZSTD)
    .setMaxRowGroupSize(rows)
    .setMaxRowGroupBytes(bytes)
    .setKeyValueMetadata(new Map(metadata))
  return unique.reduce((all, path) => all.setColumnDictionaryEnabled(path, false), builder).build()
}

/** A table in the memory of the wasm module, which owns it from then on. */
const inWasm = ({ arrow, parquet }: Libraries, table: Arrow.Table) =>
  parquet.Table.fromIPCStream(arrow.tableToIPC(table, 'stream'))

/** The wasm module's writer, pumped into the file. */
function encoder(libraries: Libraries, file: NewFile, options: ParquetStreamOptions) {
  const { readable, writable } = new TransformStream()
  const writer = writable.getWriter()
  const pump = async () => {
    const bytes: ReadableStream<Uint8Array> = await libraries.parquet.transformParquetStream(
      readable,
      propertiesOf(libraries, options),
    )
    for await (const chunk of bytes) await file.write(chunk)
  }
  const pumped = pump().catch(async (error: unknown) => {
    // Who waits to write would wait for ever.
    await writer.abort(error)
    throw error
  })
  pumped.catch(() => {})
  return { writer, pumped }
}

/** @throws Fault `bad-input` from `write` and `close` for a place that cannot be written */
export function parquetStream(path: string, options: ParquetStreamOptions): ParquetStream {
  let opened: Promise<{ readonly file: NewFile; readonly libraries: Libraries }> | undefined
  const begin = () => {
    opened ??= boundary('bad-input', path, async () => {
      const file = await newFile(path)
      return { file, libraries: await load() }
    })
    return opened
  }
  let stream: ReturnType<typeof encoder> | undefined
  const finish = async () => {
    await stream?.writer.close()
    await stream?.pumped
  }
  const discard = async () => {
    const { file } = (await opened?.catch(() => undefined)) ?? {}
    await file?.discard()
  }
  return {
    async write(table) {
      const { file, libraries } = await begin()
      stream ??= encoder(libraries, file, options)
      for (const batch of inWasm(libraries, table).recordBatches()) await stream.writer.write(batch)
    },
    async close(empty) {
      try {
        const { file, libraries } = await begin()
        if (stream) await finish()
        else {
          // A stream without a batch has no schema, and the wasm module does not survive it.
          const properties = propertiesOf(libraries, options)
          await file.write(libraries.parquet.writeParquet(inWasm(libraries, empty()), properties))
        }
        await file.close()
      } catch (error) {
        await discard()
        throw error
      }
    },
    async abort() {
      // The wasm module ends its stream in order, since one that is torn off would keep its memory.
      await finish().catch(() => {})
      await discard()
    },
  }
}
