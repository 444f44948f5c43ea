/** Saved episodes as a parquet table: the flat columns people look at, and the JSON that is read back. */
import type * as Arrow from 'apache-arrow'
import type * as Parquet from 'parquet-wasm'
import { boundary } from '../error.js'
import type { NewFile } from './atomic-write.js'
import type { Row } from './episode-row.js'
import { checkSchema, schemaName } from './episode-row.js'

/** Where a format's rows go; `finish` ends the file. */
export interface RowSink {
  send(rows: readonly Row[]): Promise<void>
  finish(): Promise<void>
}

/** What of a row is read back. */
export const stored = [
  'total',
  'parts',
  'turn_scores',
  'group',
  'step',
  'episode',
  'truth',
] as const

/** The rows of a row group, and its compressed bytes; it ends at whichever comes first. */
const rowGroup = { rows: 1000, bytes: 4_000_000 }

/** What the different truths of a row group may take, uncompressed, before they are written one by one. */
const dictionary = 16_000_000

/** The key of the file's metadata that holds the schema's name. */
const metadataKey = 'bedside'

function tableSchema({ Field, Float64, List, Schema, Struct, Utf8 }: typeof Arrow): Arrow.Schema {
  const text = (name: string, nullable = false) => new Field(name, new Utf8(), nullable)
  const number = (name: string, nullable = false) => new Field(name, new Float64(), nullable)
  const turn = new Struct(['action', 'text', 'outcome', 'reply'].map((name) => text(name)))
  return new Schema([
    text('id'),
    text('case_id'),
    number('seed'),
    text('agent'),
    text('language'),
    text('stop'),
    text('end'),
    new Field('turns', new List(new Field('item', turn, false)), false),
    number('total', true),
    text('parts', true),
    text('turn_scores', true),
    text('group', true),
    number('step', true),
    text('episode'),
    text('truth'),
  ])
}

/** Loads the two libraries; only who writes parquet pays for them. */
async function load() {
  const [arrow, parquet] = await Promise.all([import('apache-arrow'), import('parquet-wasm')])
  const schema = tableSchema(arrow)
  const properties = () =>
    new parquet.WriterPropertiesBuilder()
      .setCompression(parquet.Compression.ZSTD)
      // A row group is what a reader holds at a time, and what the wasm module holds while writing it.
      .setMaxRowGroupSize(rowGroup.rows)
      .setMaxRowGroupBytes(rowGroup.bytes)
      // Siblings share their case, which is most of a row: kept once, it is also read once.
      .setDictionaryPageSizeLimit(dictionary)
      .setColumnDictionaryEnabled('episode', false)
      .setKeyValueMetadata(new Map([[metadataKey, schemaName]]))
      .build()
  /** Rows as a table in the memory of the wasm module, which owns it from then on. */
  const table = (rows: readonly Row[]): Parquet.Table => {
    const columns = schema.fields.map(({ name, type }) => [
      name,
      // The schema's names are the row's keys.
      arrow.vectorFromArray(
        rows.map((row) => row[name as keyof Row]),
        type,
      ),
    ])
    const made =
      rows.length > 0
        ? new arrow.Table(schema, Object.fromEntries(columns))
        : new arrow.Table(schema)
    return parquet.Table.fromIPCStream(arrow.tableToIPC(made, 'stream'))
  }
  return { parquet, properties, table }
}

/** Writes batches as row groups, zstd-compressed, as they come. */
export function parquetSink(file: NewFile): RowSink {
  let libraries: ReturnType<typeof load> | undefined
  let stream:
    | { readonly writer: WritableStreamDefaultWriter; readonly pumped: Promise<void> }
    | undefined
  const begin = ({ parquet, properties }: Awaited<ReturnType<typeof load>>) => {
    const { readable, writable } = new TransformStream()
    const writer = writable.getWriter()
    const pump = async () => {
      const bytes: ReadableStream<Uint8Array> = await parquet.transformParquetStream(
        readable,
        properties(),
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
  return {
    async send(rows) {
      libraries ??= load()
      const loaded = await libraries
      stream ??= begin(loaded)
      for (const part of loaded.table(rows).recordBatches()) await stream.writer.write(part)
    },
    async finish() {
      if (stream) {
        await stream.writer.close()
        await stream.pumped
        return
      }
      // A stream without a batch has no schema, and the wasm module does not survive it.
      const { parquet, properties, table } = await (libraries ?? load())
      await file.write(parquet.writeParquet(table([]), properties()))
    },
  }
}

/** What reads tables, a file opened with it, and what the file says of itself. @throws Fault `bad-input` */
async function opened(path: string) {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import(
    'hyparquet'
  )
  return boundary('bad-input', path, async () => {
    const file = await asyncBufferFromFile(path)
    return { file, metadata: await parquetMetadataAsync(file), parquetReadObjects }
  })
}

/** How many rows a file says it has. @throws Fault `bad-input` for a file that is missing or damaged */
export const countRows = async (path: string): Promise<number> =>
  Number((await opened(path)).metadata.num_rows)

/**
 * The stored columns of each row, one row group in memory at a time.
 * @throws Fault `bad-input` for a file that is missing, damaged, or of another schema
 */
export async function* readTable(path: string): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const { file, metadata, parquetReadObjects } = await opened(path)
  const { compressors } = await import('hyparquet-compressors')
  checkSchema(metadata.key_value_metadata?.find(({ key }) => key === metadataKey)?.value, path)
  // What was added to the format since is not in every file.
  const there = new Set(metadata.schema.map(({ name }) => name))
  const columns = stored.filter((name) => there.has(name))
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    yield* await boundary('bad-input', `${path}: rows ${rowStart + 1} to ${rowEnd}`, () =>
      parquetReadObjects({ file, metadata, rowStart, rowEnd, columns, compressors }),
    )
    rowStart = rowEnd
  }
}
