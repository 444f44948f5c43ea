/**
 * Saved episodes: a file of finished consultations that can be read, scored again and trained on.
 *
 * `.jsonl` holds one JSON object a line; `.parquet` holds the same JSON in two columns, beside flat columns
 * for whoever looks at it with other tools. Both are written under another name and renamed when closed,
 * so that a file with its proper name is whole. Neither needs the memory of more than some of its rows.
 */
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Row } from './episode-row.js'
import { schemaName, toLine, toRow } from './episode-row.js'
import type { SavedEpisode } from './episode-schema.js'
import type { RowSink } from './episode-table.js'
import { parquetSink, readTable } from './episode-table.js'
import { boundary, Fault, messageOf } from './error.js'
import { linesOf } from './lines.js'

export type { SavedEpisode } from './episode-schema.js'

export interface EpisodeWriter {
  /** Resolves when the writer is ready for more; waiting for it bounds the memory. */
  write(saved: SavedEpisode): Promise<void>
  /** Finishes the file and gives it its name. */
  close(): Promise<void>
}

/** Rows wait in memory until there are this many, or this much of their text. */
const batch = { rows: 1000, characters: 16_000_000 }

const jsonlSink = (handle: FileHandle): RowSink => ({
  send: (rows) => handle.writeFile(rows.map(toLine).join('')),
  finish: async () => {},
})

const sinkOf = (path: string): ((handle: FileHandle) => RowSink) => {
  if (path.endsWith('.jsonl')) return jsonlSink
  if (path.endsWith('.parquet')) return parquetSink
  throw new Fault(
    'bad-input',
    `Expected a file of episodes named *.jsonl or *.parquet, got \`${path}\``,
  )
}

/**
 * Writes saved episodes to a new file, replacing one that is there when it is closed.
 * @throws Fault `bad-input` for a name of another format, or a place that cannot be written
 */
export function episodeWriter(path: string): EpisodeWriter {
  const makeSink = sinkOf(path)
  const partial = `${path}.partial`
  let opened: Promise<{ readonly handle: FileHandle; readonly sink: RowSink }> | undefined
  const begin = () => {
    opened ??= boundary('bad-input', path, async () => {
      const handle = await open(partial, 'w')
      return { handle, sink: makeSink(handle) }
    })
    opened.catch(() => {})
    return opened
  }
  let rows: Row[] = []
  let characters = 0
  /** Batches go one after another, whether or not the caller waits. */
  let sent = Promise.resolve()
  const flush = () => {
    const full = rows
    rows = []
    characters = 0
    const to = begin()
    sent = sent.then(async () => (await to).sink.send(full))
    sent.catch(() => {})
  }
  const finish = async () => {
    const { handle, sink } = await begin()
    try {
      if (rows.length > 0) flush()
      await sent
      await sink.finish()
      await handle.close()
      await rename(partial, path)
    } catch (error) {
      await handle.close().catch(() => {})
      await rm(partial, { force: true })
      throw error
    }
  }
  let closed: Promise<void> | undefined
  return {
    async write(saved) {
      if (closed) throw new TypeError(`Expected an open writer, got one that was closed: ${path}`)
      const row = toRow(saved)
      rows.push(row)
      characters += row.episode.length + row.truth.length
      if (rows.length >= batch.rows || characters >= batch.characters) flush()
      await sent
    },
    close() {
      closed ??= finish()
      return closed
    },
  }
}

/** The value of a JSON text. @throws Fault `bad-input` with the place */
function fromJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Fault('bad-input', `${where}: ${messageOf(error)}`)
  }
}

/** Loaded with the first file that is read: writing needs no schema, and zod takes long to load. */
const checker = async () => (await import('./episode-schema.js')).checkSaved

async function* readJsonl(path: string): AsyncGenerator<SavedEpisode> {
  const checkSaved = await checker()
  let number = 0
  for await (const line of linesOf(path)) {
    number += 1
    if (line.trim() === '') continue
    const where = `${path}:${number}`
    const value = fromJson(line, where)
    const { schema, ...saved } = typeof value === 'object' && value !== null ? Object(value) : {}
    if (schema !== schemaName)
      throw new Fault(
        'bad-input',
        `${where}: expected schema ${schemaName}, got ${schema ?? 'none'}`,
      )
    yield checkSaved(saved, where)
  }
}

async function* readParquet(path: string): AsyncGenerator<SavedEpisode> {
  const checkSaved = await checker()
  let number = 0
  for await (const { total, parts, group, step, episode, truth } of readTable(path)) {
    number += 1
    const where = `${path}: row ${number}`
    const json = (text: unknown) => fromJson(String(text), where)
    const score =
      typeof parts === 'string' ? { score: { total: total ?? null, parts: json(parts) } } : {}
    const saved = {
      episode: json(episode),
      truth: json(truth),
      ...score,
      ...(group == null ? {} : { group }),
      ...(step == null ? {} : { step }),
    }
    yield checkSaved(saved, where)
  }
}

/**
 * The saved episodes of a file, or of every `*.jsonl` and `*.parquet` file of a folder in the order of
 * their names; one at a time, so that a run of any size can be read.
 * @throws Fault `bad-input` naming file, row and path, or the schema found
 */
export async function* readSaved(path: string): AsyncGenerator<SavedEpisode> {
  const there = await boundary('bad-input', path, () => stat(path))
  if (!there.isDirectory()) {
    sinkOf(path)
    yield* path.endsWith('.jsonl') ? readJsonl(path) : readParquet(path)
    return
  }
  const names = (await readdir(path)).filter((name) => /\.(jsonl|parquet)$/.test(name)).sort()
  if (names.length === 0)
    throw new Fault('bad-input', `${path}: expected *.jsonl or *.parquet files, found none`)
  for (const name of names) yield* readSaved(join(path, name))
}
