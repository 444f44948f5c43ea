/**
 * Episode files: reads and writes saved episodes, to score them again or train on them.
 *
 * `.jsonl` holds one JSON object per line; `.parquet` holds the same JSON in two columns, beside flat columns for
 * other tools. Both are written under another name and renamed when closed, so a file with its final name is
 * complete. Only a batch of rows is in memory at a time.
 * A FIFO or a standard stream gets JSON lines, unless its name says otherwise.
 */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, rethrowAsFault } from '../error.js'
import { isStreamed, type NewFile, newFile } from './atomic-write.js'
import { countLines, parseJson, readLines, refuseArray } from './compressed-lines.js'
import { countEpisodeRows, parquetSink, type RowSink, readEpisodeRows } from './episode-parquet.js'
import { checkSchema, type EpisodeRow, toEpisodeRow, toLine, upgradeSaved } from './episode-row.js'
import type { SavedEpisode } from './episode-schema.js'

export type { SavedEpisode } from './episode-schema.js'

/** A writer of one episode file. */
export interface EpisodeWriter {
  /** Resolves when the writer is ready for more; awaiting it bounds memory. */
  write(saved: SavedEpisode): Promise<void>
  /** Completes the file and renames it to its final name. */
  close(): Promise<void>
  /** Removes the partial file of a writer that was not closed. */
  discard(): Promise<void>
}

/** Rows are buffered up to this many, or up to this much text. */
const batch = { rows: 1000, characters: 16_000_000 }

const jsonlSink = (file: NewFile): RowSink => ({
  send: (rows) => file.write(rows.map(toLine).join('')),
  finish: async () => {},
})

const sinkFor = (path: string): ((file: NewFile) => RowSink) => {
  if (path.endsWith('.parquet')) return parquetSink
  if (path.endsWith('.jsonl') || isStreamed(path)) return jsonlSink
  throw new Fault(
    'bad-input',
    `Expected a file of episodes named *.jsonl or *.parquet, got \`${path}\``,
  )
}

/** The file behind a writer: opened with the first rows, named or discarded at the end. */
function partialFile(path: string) {
  const makeSink = sinkFor(path)
  let opened: Promise<{ readonly file: NewFile; readonly sink: RowSink }> | undefined
  /** Batches go one after another, whether or not the caller waits. */
  let sent = Promise.resolve()
  const begin = () => {
    opened ??= rethrowAsFault('bad-input', path, async () => {
      const file = await newFile(path)
      return { file, sink: makeSink(file) }
    })
    opened.catch(() => {})
    return opened
  }
  return {
    send(rows: readonly EpisodeRow[]): void {
      const opening = begin()
      sent = sent.then(async () => (await opening).sink.send(rows))
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
 * Opens a writer of saved episodes. `close` replaces an existing file.
 * @throws Fault `bad-input` for a name of another format, or a path that cannot be written
 */
export function episodeWriter(path: string): EpisodeWriter {
  const file = partialFile(path)
  let rows: EpisodeRow[] = []
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
      const row = toEpisodeRow(saved)
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

/** Loads the reader with the first file read: writing needs no schema, and zod takes long to load. */
const loadReader = () => import('./episode-reader.js')

/** Reads rows that are no saved episodes; undefined for a row that is left to the schema of saved episodes. */
export type ReadOtherRow = (value: unknown, where: string) => Promise<SavedEpisode> | undefined

/** The row by another reader, where the line does not hold a saved episode. */
function readOther(
  line: string,
  where: string,
  other: ReadOtherRow | undefined,
): Promise<SavedEpisode> | undefined {
  // Every saved episode has this key; only other lines are parsed here.
  return other && !line.includes('"episode":') ? other(parseJson(line, where), where) : undefined
}

async function* readJsonl(path: string, other?: ReadOtherRow): AsyncGenerator<LocatedEpisode> {
  const { splitLine: piecesOf, rowReader } = await loadReader()
  const read = rowReader()
  const withoutSchema = (value: unknown, where: string): object => {
    const { schema, ...saved } = typeof value === 'object' && value !== null ? Object(value) : {}
    return upgradeSaved(saved, checkSchema(schema, where))
  }
  let number = 0
  let filled = 0
  for await (const line of readLines(path)) {
    number += 1
    if (line.trim() === '') continue
    if (filled++ === 0) refuseArray(line.trimStart(), 'episode', path)
    const where = `${path}:${number}`
    const converted = await readOther(line, where, other)
    if (converted) {
      yield { saved: converted, where }
      continue
    }
    const whole = () => withoutSchema(parseJson(line, where), where)
    const pieces = piecesOf(line)
    const rest = pieces && withoutSchema(pieces.rest, where)
    yield { saved: read({ rest, truth: pieces?.truth, whole }, where), where }
  }
}

async function* readParquet(path: string): AsyncGenerator<LocatedEpisode> {
  const { rowReader } = await loadReader()
  const read = rowReader()
  let number = 0
  for await (const [row, schema] of readEpisodeRows(path)) {
    const { total = null, parts, turn_scores, group, step, episode, truth } = row
    number += 1
    const where = `${path}: row ${number}`
    const json = (text: unknown) => parseJson(String(text), where)
    const turns = typeof turn_scores === 'string' ? { turns: json(turn_scores) } : {}
    const rest = () => ({
      ...upgradeSaved({ episode: json(episode) }, schema),
      ...(typeof parts === 'string' ? { score: { total, parts: json(parts), ...turns } } : {}),
      ...(group == null ? {} : { group }),
      ...(step == null ? {} : { step }),
    })
    const whole = () => ({ ...rest(), truth: json(truth) })
    yield { saved: read({ rest: rest(), truth: String(truth), whole }, where), where }
  }
}

const isEpisodeFile = (name: string): boolean => /\.(jsonl|parquet)$/.test(name)

/** The files of a folder and of the folders in it, sorted by name; of a run directory only its episodes. */
async function listFolder(folder: string): Promise<readonly string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  const isRun = entries.some(({ name }) => name === 'config.yaml' || name === 'evaluation.yaml')
  const own = isRun
    ? entries.filter(({ name }) => name === 'episodes' || name === 'episodes.jsonl').slice(0, 1)
    : entries.filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
  const files: string[] = []
  for (const entry of own) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) files.push(...(await listFolder(path)))
    else if (isEpisodeFile(entry.name)) files.push(path)
  }
  return files
}

/** Lists the file itself, or the `*.jsonl` and `*.parquet` files of a folder, folders in it included. */
async function listFiles(path: string): Promise<readonly string[]> {
  const stats = await rethrowAsFault('bad-input', path, () => stat(path))
  if (!stats.isDirectory()) {
    sinkFor(path) // throws for another format
    return [path]
  }
  const files = await rethrowAsFault('bad-input', path, () => listFolder(path))
  if (files.length === 0)
    throw new Fault('bad-input', `${path}: expected *.jsonl or *.parquet files, found none`)
  return files
}

/** A saved episode with its location: `file:line` or `file: row n`. */
export interface LocatedEpisode {
  readonly saved: SavedEpisode
  readonly where: string
}

/**
 * Streams saved episodes like {@link readSavedEpisodes}, each with its location.
 * @param other reads rows of `.jsonl` files that are no saved episodes @default none: they are bad input
 */
export async function* readLocatedEpisodes(
  path: string,
  other?: ReadOtherRow,
): AsyncGenerator<LocatedEpisode> {
  for (const file of await listFiles(path))
    yield* file.endsWith('.parquet') ? readParquet(file) : readJsonl(file, other)
}

/**
 * Streams the saved episodes of a file, or of all `*.jsonl` and `*.parquet` files of a folder and the folders in it, in
 * order of name, so a run of any size can be read. Of a run directory only the episodes are read. Episodes of one case may share their truth object.
 * @throws Fault `bad-input` naming file, row and path, or the schema found and what to do about it
 */
export async function* readSavedEpisodes(path: string): AsyncGenerator<SavedEpisode> {
  for await (const { saved } of readLocatedEpisodes(path)) yield saved
}

/** Counts the episodes of a path without parsing them, for progress displays. */
export async function countSavedEpisodes(path: string): Promise<number> {
  let count = 0
  for (const file of await listFiles(path))
    count += file.endsWith('.jsonl') ? await countLines(file) : await countEpisodeRows(file)
  return count
}
