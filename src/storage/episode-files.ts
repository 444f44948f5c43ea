/**
 * Saved episodes: a file of finished consultations that can be read, scored again and trained on.
 *
 * `.jsonl` holds one JSON object a line; `.parquet` holds the same JSON in two columns, beside flat columns
 * for whoever looks at it with other tools. Both are written under another name and renamed when closed,
 * so that a file with its proper name is whole. Neither needs the memory of more than some of its rows.
 * What is streamed to (a FIFO, a standard stream) gets JSON lines, unless its name says otherwise.
 */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { boundary, Fault } from '../error.js'
import type { NewFile } from './atomic-write.js'
import { isStreamed, newFile } from './atomic-write.js'
import { countLines, linesOf, refuseArray } from './compressed-lines.js'
import type { RowSink } from './episode-parquet.js'
import { countRows, parquetSink, readTable } from './episode-parquet.js'
import type { Row } from './episode-row.js'
import { checkSchema, toLine, toRow } from './episode-row.js'
import type { SavedEpisode } from './episode-schema.js'

export type { SavedEpisode } from './episode-schema.js'

export interface EpisodeWriter {
  /** Resolves when the writer is ready for more; waiting for it bounds the memory. */
  write(saved: SavedEpisode): Promise<void>
  /** Finishes the file and gives it its name. */
  close(): Promise<void>
  /** Leaves nothing behind of a file that was not closed. */
  discard(): Promise<void>
}

/** Rows wait in memory until there are this many, or this much of their text. */
const batch = { rows: 1000, characters: 16_000_000 }

const jsonlSink = (file: NewFile): RowSink => ({
  send: (rows) => file.write(rows.map(toLine).join('')),
  finish: async () => {},
})

const sinkOf = (path: string): ((file: NewFile) => RowSink) => {
  if (path.endsWith('.parquet')) return parquetSink
  if (path.endsWith('.jsonl') || isStreamed(path)) return jsonlSink
  throw new Fault(
    'bad-input',
    `Expected a file of episodes named *.jsonl or *.parquet, got \`${path}\``,
  )
}

/** The file behind a writer: begun with the first rows, named or removed at the end. */
function partialFile(path: string) {
  const makeSink = sinkOf(path)
  let opened: Promise<{ readonly file: NewFile; readonly sink: RowSink }> | undefined
  /** Batches go one after another, whether or not the caller waits. */
  let sent = Promise.resolve()
  const begin = () => {
    opened ??= boundary('bad-input', path, async () => {
      const file = await newFile(path)
      return { file, sink: makeSink(file) }
    })
    opened.catch(() => {})
    return opened
  }
  return {
    send(rows: readonly Row[]): void {
      const to = begin()
      sent = sent.then(async () => (await to).sink.send(rows))
      sent.catch(() => {})
    },
    settled: () => sent,
    async finish(): Promise<void> {
      const { file, sink } = await begin()
      try {
        await sent
        await sink.finish()
        await file.close()
      } catch (error) {
        await file.discard()
        throw error
      }
    },
    async drop(): Promise<void> {
      await sent.catch(() => {})
      const { file } = (await opened?.catch(() => {})) ?? {}
      await file?.discard()
    },
  }
}

/**
 * Writes saved episodes to a new file, replacing one that is there when it is closed.
 * @throws Fault `bad-input` for a name of another format, or a place that cannot be written
 */
export function episodeWriter(path: string): EpisodeWriter {
  const file = partialFile(path)
  let rows: Row[] = []
  let characters = 0
  const flush = () => {
    file.send(rows)
    rows = []
    characters = 0
  }
  let closed: Promise<void> | undefined
  return {
    async write(saved) {
      if (closed) throw new TypeError(`Expected an open writer, got one that was closed: ${path}`)
      const row = toRow(saved)
      rows.push(row)
      characters += row.episode.length + row.truth.length
      if (rows.length >= batch.rows || characters >= batch.characters) flush()
      await file.settled()
    },
    close() {
      if (!closed && rows.length > 0) flush()
      closed ??= file.finish()
      return closed
    },
    async discard() {
      if (closed) return
      closed = Promise.resolve()
      await file.drop()
    },
  }
}

/** Loaded with the first file that is read: writing needs no schema, and zod takes long to load. */
const reading = () => import('./episode-reader.js')

async function* readJsonl(path: string): AsyncGenerator<PlacedEpisode> {
  const { fromJson, piecesOf, rowReader } = await reading()
  const read = rowReader()
  const schemaless = (value: unknown, where: string): object => {
    const { schema, ...saved } = typeof value === 'object' && value !== null ? Object(value) : {}
    checkSchema(schema, where)
    return saved
  }
  let number = 0
  let filled = 0
  for await (const line of linesOf(path)) {
    number += 1
    if (line.trim() === '') continue
    if (filled++ === 0) refuseArray(line.trimStart(), 'episode', path)
    const where = `${path}:${number}`
    const whole = () => schemaless(fromJson(line, where), where)
    const pieces = piecesOf(line)
    const rest = pieces && schemaless(pieces.rest, where)
    yield { saved: read({ rest, truth: pieces?.truth, whole }, where), where }
  }
}

async function* readParquet(path: string): AsyncGenerator<PlacedEpisode> {
  const { fromJson, rowReader } = await reading()
  const read = rowReader()
  let number = 0
  for await (const row of readTable(path)) {
    const { total = null, parts, turn_scores, group, step, episode, truth } = row
    number += 1
    const where = `${path}: row ${number}`
    const json = (text: unknown) => fromJson(String(text), where)
    const turns = typeof turn_scores === 'string' ? { turns: json(turn_scores) } : {}
    const rest = () => ({
      episode: json(episode),
      ...(typeof parts === 'string' ? { score: { total, parts: json(parts), ...turns } } : {}),
      ...(group == null ? {} : { group }),
      ...(step == null ? {} : { step }),
    })
    const whole = () => ({ ...rest(), truth: json(truth) })
    yield { saved: read({ rest: rest(), truth: String(truth), whole }, where), where }
  }
}

/** The file itself, or every `*.jsonl` and `*.parquet` file of a folder by its name. */
async function filesOf(path: string): Promise<readonly string[]> {
  const there = await boundary('bad-input', path, () => stat(path))
  if (!there.isDirectory()) {
    sinkOf(path)
    return [path]
  }
  const names = (await readdir(path)).filter((name) => /\.(jsonl|parquet)$/.test(name)).sort()
  if (names.length === 0)
    throw new Fault('bad-input', `${path}: expected *.jsonl or *.parquet files, found none`)
  return names.map((name) => join(path, name))
}

/** A saved episode, and where it stands: `file:line` or `file: row n`. */
export interface PlacedEpisode {
  readonly saved: SavedEpisode
  readonly where: string
}

/** Like {@link readSaved}, with the place of each. */
export async function* readPlaced(path: string): AsyncGenerator<PlacedEpisode> {
  for (const file of await filesOf(path))
    yield* file.endsWith('.jsonl') ? readJsonl(file) : readParquet(file)
}

/**
 * The saved episodes of a file, or of every `*.jsonl` and `*.parquet` file of a folder in the order of
 * their names; one at a time, so that a run of any size can be read. Episodes of one case may share their truth.
 * @throws Fault `bad-input` naming file, row and path, or the schema found and what to do about it
 */
export async function* readSaved(path: string): AsyncGenerator<SavedEpisode> {
  for await (const { saved } of readPlaced(path)) yield saved
}

/** How many episodes there are to read, for who shows how far reading is; lines are not looked into. */
export async function countSaved(path: string): Promise<number> {
  let count = 0
  for (const file of await filesOf(path))
    count += file.endsWith('.jsonl') ? await countLines(file) : await countRows(file)
  return count
}
