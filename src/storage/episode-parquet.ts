/** Saved episodes as a Parquet table: flat columns for people to look at, and JSON columns to read back. */
import type * as Arrow from 'apache-arrow'
import type { NewFile } from './atomic-write.js'
import { checkSchema, type EpisodeRow, schemaName } from './episode-row.js'
import { createParquetSink, openParquet } from './parquet-files.js'

/** Writes rows in one file format; `finish` ends the file. */
export interface RowSink {
  send(rows: readonly EpisodeRow[]): Promise<void>
  finish(): Promise<void>
}

/** Columns of a row that are read back. */
const storedColumns = ['total', 'parts', 'turn_scores', 'group', 'step', 'episode', 'truth']

/** Metadata key of the schema's name. */
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

/** Rows as an Arrow table. */
async function episodeTable(rows: readonly EpisodeRow[]): Promise<Arrow.Table> {
  const arrow = await import('apache-arrow')
  const schema = tableSchema(arrow)
  if (rows.length === 0) return new arrow.Table(schema)
  const columns = schema.fields.map(({ name, type }) => [
    name,
    // The schema's names are the row's keys.
    arrow.vectorFromArray(
      rows.map((row) => row[name as keyof EpisodeRow]),
      type,
    ),
  ])
  return new arrow.Table(schema, Object.fromEntries(columns))
}

/** Makes a sink that writes batches of saved episodes as Parquet row groups, in order. */
export function parquetSink(file: NewFile): RowSink {
  const sink = createParquetSink(file, {
    // A row group ends at the first of these limits.
    rows: 1000,
    bytes: 4_000_000,
    metadata: new Map([[metadataKey, schemaName]]),
    plain: ['episode'],
    // Siblings share their case, which is most of a row: a dictionary stores and reads it once.
    dictionaryBytes: 16_000_000,
  })
  return {
    send: async (rows) => sink.write(await episodeTable(rows)),
    finish: () => sink.finish(() => episodeTable([])),
  }
}

/** Number of rows according to the file's footer. @throws Fault `bad-input` for a file that is missing or damaged */
export const countEpisodeRows = async (path: string): Promise<number> =>
  (await openParquet(path)).rows

/**
 * Streams the stored columns of each row, with one row group in memory at a time, and the schema of the file.
 * @throws Fault `bad-input` for a file that is missing, damaged, or of another schema
 */
export async function* readEpisodeRows(
  path: string,
): AsyncGenerator<readonly [row: Readonly<Record<string, unknown>>, schema: string]> {
  const file = await openParquet(path)
  const schema = checkSchema(file.metadata.get(metadataKey), path)
  // Files written before a column was added to the format lack it.
  const columns = storedColumns.filter((name) => file.columns.has(name))
  for await (const rows of file.readRowGroups(columns)) for (const row of rows) yield [row, schema]
}
