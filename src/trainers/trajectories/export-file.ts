/** Rows of plain objects to a `.jsonl` or `.parquet` file, which has its name only when it is whole. */
import type * as Arrow from 'apache-arrow'
import { boundary, Fault } from '../../error.js'
import { isStreamed, newFile } from '../../storage/atomic-write.js'
import { parquetStream } from './parquet-stream.js'

/** A column's type: a list has one item, a struct has names. Integers are bigint and have 64 bits. */
export type Shape =
  | 'text'
  | 'integer'
  | 'number?'
  | readonly [Shape]
  | { readonly [name: string]: Shape }

/** Where rows go. */
export interface RowFile {
  write(row: object): Promise<void>
  /** Ends the file and gives it its name. */
  close(): Promise<void>
  /** Leaves nothing behind. */
  abort(): Promise<void>
}

/** Rows wait in memory until there are this many, or this much of their text. */
const batch = { rows: 1000, characters: 4_000_000 }

function typeOf(arrow: typeof Arrow, shape: Shape): Arrow.DataType {
  if (shape === 'text') return new arrow.Utf8()
  if (shape === 'integer') return new arrow.Int64()
  if (shape === 'number?') return new arrow.Float64()
  const field = ([name, inner]: readonly [string, Shape]) =>
    new arrow.Field(name, typeOf(arrow, inner), inner === 'number?')
  return Array.isArray(shape)
    ? new arrow.List(field(['item', shape[0]]))
    : new arrow.Struct(Object.entries(shape).map(field))
}

/** Rows as a table of the columns of `shape`. */
function tableOf(
  arrow: typeof Arrow,
  shape: Readonly<Record<string, Shape>>,
  rows: readonly object[],
): Arrow.Table {
  const { children } = typeOf(arrow, shape)
  // A struct's children are its fields.
  const schema = new arrow.Schema(children as Arrow.Field[])
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

/** A row as JSON; whole numbers of 64 bits are numbers there. */
const lineOf = (row: object): string =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))

/** Where a format's batches go. */
interface Target {
  send(rows: readonly object[], lines: readonly string[]): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}

function parquetTarget(path: string, shape: Readonly<Record<string, Shape>>): Target {
  const stream = parquetStream(path, { rows: batch.rows, bytes: batch.characters })
  const table = async (rows: readonly object[]) =>
    tableOf(await import('apache-arrow'), shape, rows)
  return {
    send: async (rows) => stream.write(await table(rows)),
    async close() {
      const empty = await table([])
      await stream.close(() => empty)
    },
    abort: () => stream.abort(),
  }
}

function jsonlTarget(path: string): Target {
  let opened: ReturnType<typeof newFile> | undefined
  const begin = () => {
    opened ??= boundary('bad-input', path, () => newFile(path))
    return opened
  }
  return {
    send: async (_, lines) => (await begin()).write(lines.map((line) => `${line}\n`).join('')),
    close: async () => (await begin()).close(),
    abort: async () => (await opened?.catch(() => undefined))?.discard(),
  }
}

/**
 * A new file of rows of one shape, replacing one that is there when it is closed; what is streamed to gets JSON lines.
 * @throws Fault `bad-input` for a name of another format, or a place that cannot be written
 */
export function rowFile(path: string, shape: Readonly<Record<string, Shape>>): RowFile {
  if (!/\.(jsonl|parquet)$/.test(path) && !isStreamed(path))
    throw new Fault('bad-input', `Expected a file named *.jsonl or *.parquet, got \`${path}\``)
  const target = path.endsWith('.parquet') ? parquetTarget(path, shape) : jsonlTarget(path)
  let rows: object[] = []
  let lines: string[] = []
  let characters = 0
  const flush = async () => {
    if (rows.length > 0) await target.send(rows, lines)
    rows = []
    lines = []
    characters = 0
  }
  return {
    async write(row) {
      const line = lineOf(row)
      rows.push(row)
      lines.push(line)
      characters += line.length
      if (rows.length >= batch.rows || characters >= batch.characters) await flush()
    },
    async close() {
      await flush()
      await target.close()
    },
    abort: () => target.abort(),
  }
}
