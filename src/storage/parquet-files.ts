/** Parquet files: a sink that writes Arrow tables as zstd row groups, and a reader of one row group at a time. */
import type * as Arrow from 'apache-arrow'
import { rethrowAsFault } from '../error.js'
import type { NewFile } from './atomic-write.js'

/** Settings of a Parquet file. A row group ends at `rows` or `bytes`, whichever comes first. */
export interface ParquetSinkOptions {
  /** Key-value metadata of the file. @default none */
  readonly metadata?: ReadonlyMap<string, string>
  /** Maximum rows of a row group; a reader, and the wasm module while writing, holds one in memory. */
  readonly rows: number
  /** Approximate maximum of encoded bytes of a row group. */
  readonly bytes: number
  /** Paths of columns without a dictionary, such as `logprobs.list.item`: values that hardly repeat. @default none */
  readonly plain?: readonly string[]
  /** Maximum uncompressed bytes of a column's dictionary in a row group. @default the library's */
  readonly dictionaryBytes?: number
}

/** Writes Arrow tables of one schema to an open file. Calls must not overlap. */
export interface ParquetSink {
  /** Resolves once the encoder has taken the table; awaiting it bounds the memory. */
  write(table: Arrow.Table): Promise<void>
  /** Ends the file. `empty` makes the table whose columns a file without rows gets. */
  finish(empty: () => Promise<Arrow.Table>): Promise<void>
  /** Ends the encoder without completing the file: torn off, its stream would keep its wasm memory. */
  abort(): Promise<void>
}

/** Imported on first use, so that only programs that write Parquet load the libraries. */
async function importLibraries() {
  const [arrow, parquet] = await Promise.all([import('apache-arrow'), import('parquet-wasm')])
  return { arrow, parquet }
}
type Libraries = Awaited<ReturnType<typeof importLibraries>>

function writerProperties(
  { parquet }: Libraries,
  { metadata = new Map(), rows, bytes, plain = [], dictionaryBytes }: ParquetSinkOptions,
) {
  const builder = new parquet.WriterPropertiesBuilder()
    .setCompression(parquet.Compression.ZSTD)
    .setMaxRowGroupSize(rows)
    .setMaxRowGroupBytes(bytes)
    .setKeyValueMetadata(new Map(metadata))
  const sized =
    dictionaryBytes === undefined ? builder : builder.setDictionaryPageSizeLimit(dictionaryBytes)
  return plain.reduce((all, path) => all.setColumnDictionaryEnabled(path, false), sized).build()
}

/** Copies a table into the memory of the wasm module, which owns the copy from then on. */
const copyToWasm = ({ arrow, parquet }: Libraries, table: Arrow.Table) =>
  parquet.Table.fromIPCStream(arrow.tableToIPC(table, 'stream'))

/** Starts the wasm encoder; `pumped` resolves when all of its output is in the file. */
function startEncoder(
  libraries: Libraries,
  file: Pick<NewFile, 'write'>,
  options: ParquetSinkOptions,
) {
  const { readable, writable } = new TransformStream()
  const writer = writable.getWriter()
  const pump = async () => {
    const bytes: ReadableStream<Uint8Array> = await libraries.parquet.transformParquetStream(
      readable,
      writerProperties(libraries, options),
    )
    for await (const chunk of bytes) await file.write(chunk)
  }
  const pumped = pump().catch(async (error: unknown) => {
    // A pending write would otherwise never settle.
    await writer.abort(error)
    throw error
  })
  pumped.catch(() => {})
  return { writer, pumped }
}

/** Creates a sink that writes zstd-compressed Parquet to `file`. Opening and closing the file is the caller's. */
export function createParquetSink(
  file: Pick<NewFile, 'write'>,
  options: ParquetSinkOptions,
): ParquetSink {
  let loading: Promise<Libraries> | undefined
  let encoder: ReturnType<typeof startEncoder> | undefined
  const load = () => {
    loading ??= importLibraries()
    return loading
  }
  const end = async () => {
    await encoder?.writer.close()
    await encoder?.pumped
  }
  return {
    async write(table) {
      const libraries = await load()
      encoder ??= startEncoder(libraries, file, options)
      for (const batch of copyToWasm(libraries, table).recordBatches())
        await encoder.writer.write(batch)
    },
    async finish(empty) {
      const libraries = await load()
      if (encoder) return end()
      // A stream without a batch has no schema, and the wasm module does not survive it.
      const table = copyToWasm(libraries, await empty())
      const properties = writerProperties(libraries, options)
      await file.write(libraries.parquet.writeParquet(table, properties))
    },
    abort: end,
  }
}

/** Opens a Parquet file and reads its footer. @throws Fault `bad-input` for a file that is missing or damaged */
export async function openParquet(path: string) {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import(
    'hyparquet'
  )
  const { file, metadata } = await rethrowAsFault('bad-input', path, async () => {
    const opened = await asyncBufferFromFile(path)
    return { file: opened, metadata: await parquetMetadataAsync(opened) }
  })
  return {
    rows: Number(metadata.num_rows),
    /** Names of all schema nodes, top-level columns included. */
    columns: new Set(metadata.schema.map(({ name }) => name)),
    metadata: new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value])),
    /** Rows as plain objects, one row group at a time. @throws Fault `bad-input` naming the rows that are damaged */
    async *readRowGroups(
      columns?: readonly string[],
    ): AsyncGenerator<readonly Readonly<Record<string, unknown>>[]> {
      const { compressors } = await import('hyparquet-compressors')
      const chosen = columns ? { columns: [...columns] } : {}
      let rowStart = 0
      for (const group of metadata.row_groups) {
        const rowEnd = rowStart + Number(group.num_rows)
        yield await rethrowAsFault('bad-input', `${path}: rows ${rowStart + 1} to ${rowEnd}`, () =>
          parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors, ...chosen }),
        )
        rowStart = rowEnd
      }
    },
  }
}
