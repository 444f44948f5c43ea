/** Writes rows of plain objects to a `.jsonl` or `.parquet` file, renamed into place when it is complete. */
import type * as Arrow from 'apache-arrow'
import { Fault, rethrowAsFault } from '../../error.js'
import { isStreamed, newFile } from '../../storage/atomic-write.js'
import { arrowSchema, type ColumnShape } from './columns.js'
import { createParquetFile } from './parquet-file.js'

/** Rows are buffered until there are this many, or this many characters of JSON. */
const batch = { rows: 1000, characters: 4_000_000 }

/** Rows as an Arrow table with the columns of `shape`. */
function arrowTable(
  arrow: typeof Arrow,
  shape: Readonly<Record<string, ColumnShape>>,
  rows: readonly object[],
): Arrow.Table {
  const schema = arrowSchema(arrow, shape)
  if (rows.length === 0) return new arrow.Table(schema)
  const columns = schema.fields.map(({ name, type }) => [
    name,
    arrow.vectorFromArray(
      rows.map((row): unknown => Object(row)[name]),
      type,
    ),
  ])
  return new arrow.Table(schema, Object.fromEntries(columns))
}

/** A row as JSON; 64-bit integers become numbers. */
const toJson = (row: object): string =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))

/** Writes buffered rows in one file format. */
interface FormatWriter {
  send(rows: readonly object[], lines: readonly string[]): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}

function parquetWriter(path: string, shape: Readonly<Record<string, ColumnShape>>): FormatWriter {
  const stream = createParquetFile(path, { rows: batch.rows, bytes: batch.characters })
  const table = async (rows: readonly object[]) =>
    arrowTable(await import('apache-arrow'), shape, rows)
  return {
    send: async (rows) => stream.write(await table(rows)),
    close: () => stream.close(() => table([])),
    abort: () => stream.abort(),
  }
}

function jsonlWriter(path: string): FormatWriter {
  let opened: ReturnType<typeof newFile> | undefined
  const begin = () => {
    opened ??= rethrowAsFault('bad-input', path, () => newFile(path))
    return opened
  }
  return {
    send: async (_, lines) => (await begin()).write(lines.map((line) => `${line}\n`).join('')),
    close: async () => (await begin()).close(),
    abort: async () => (await opened?.catch(() => undefined))?.discard(),
  }
}

/**
 * Opens a new file of rows with the given columns; it replaces an existing file when it is closed. A FIFO or a
 * standard stream gets JSON lines.
 * @throws Fault `bad-input` for a name of another format, or a path that cannot be written
 */
export function openRowFile(path: string, shape: Readonly<Record<string, ColumnShape>>) {
  if (!/\.(jsonl|parquet)$/.test(path) && !isStreamed(path))
    throw new Fault('bad-input', `Expected a file named *.jsonl or *.parquet, got \`${path}\``)
  const writer = path.endsWith('.parquet') ? parquetWriter(path, shape) : jsonlWriter(path)
  let rows: object[] = []
  let lines: string[] = []
  let characters = 0
  const flush = async () => {
    if (rows.length > 0) await writer.send(rows, lines)
    rows = []
    lines = []
    characters = 0
  }
  return {
    /** Adds a row of the file's columns. Calls must not overlap. */
    async write(row: object): Promise<void> {
      const line = toJson(row)
      rows.push(row)
      lines.push(line)
      characters += line.length
      if (rows.length >= batch.rows || characters >= batch.characters) await flush()
    },
    /** Completes the file and renames it into place. */
    async close(): Promise<void> {
      await flush()
      await writer.close()
    },
    /** Removes the unfinished file. */
    abort: (): Promise<void> => writer.abort(),
  }
}
