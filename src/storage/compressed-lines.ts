/** Streams the lines of text files, gzip or Brotli compressed ones included. */
import { createReadStream } from 'node:fs'
import { pipeline, type Transform } from 'node:stream'
import {
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createGunzip,
  createGzip,
} from 'node:zlib'
import { errorMessage, Fault } from '../error.js'
import { decodeUtf8 } from '../platform/utf8.js'

/**
 * Splits bytes at line feeds; `readline` would also split at a U+2028 inside a JSON string.
 * @param name of the file, for messages
 * @throws Fault `bad-input` for bytes that are not UTF-8
 */
export async function* splitLines(
  chunks: AsyncIterable<unknown>,
  name: string,
): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of decodeUtf8(chunks, name)) {
    const [first = '', ...lines] = chunk.split('\n')
    // Only the chunk is split, so a line of any length, such as a whole JSON array, is scanned once.
    rest += first
    for (const line of lines) {
      yield rest
      rest = line
    }
  }
  yield rest
}

/** The compressor for a file name: gzip for `.gz`, Brotli for `.br`, none for others. */
export function createCompressor(path: string): Transform | undefined {
  if (path.endsWith('.gz')) return createGzip({ level: 9 })
  // Lines of one kind repeat over many kilobytes: a window of 16 MiB makes a case file 70 times smaller.
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24 }
  return path.endsWith('.br') ? createBrotliCompress({ params }) : undefined
}

function unpackerFor(path: string): Transform | undefined {
  if (path.endsWith('.gz')) return createGunzip()
  return path.endsWith('.br') ? createBrotliDecompress() : undefined
}

/** Bytes read at a time: much more than a line, so few lines span two chunks. */
const chunkSize = 1 << 19

/**
 * Reads a file line by line, decompressed where its name ends in `.gz` or `.br`.
 * @throws Fault `bad-input` for a file whose compression does not match its name, and for one that is not in UTF-8
 */
export async function* readLines(path: string): AsyncGenerator<string, void, undefined> {
  const unpacker = unpackerFor(path)
  if (!unpacker) {
    yield* splitLines(createReadStream(path, { highWaterMark: chunkSize }), path)
    return
  }
  // A read error of the file ends the unpacker and is thrown there.
  const text = pipeline(createReadStream(path), unpacker, () => {})
  try {
    yield* splitLines(text, path)
  } catch (error) {
    const broken = error instanceof Error && 'errno' in error && !('syscall' in error)
    throw broken ? new Fault('bad-input', `${path}: cannot be unpacked: ${error.message}`) : error
  }
}

/** The shell's words that unpack a file, for hints. */
function unpacked(path: string): string | undefined {
  if (path.endsWith('.gz')) return `gzip -dc ${path}`
  return path.endsWith('.br') ? `brotli -dc ${path}` : undefined
}

/**
 * Names a JSON array for what it is, where every line should be a value of its own.
 * @param text of the first line that is not blank
 * @param one what a line holds
 * @throws Fault `bad-input` with a command that turns the array into lines
 */
export function refuseArray(text: string, one: string, path: string): void {
  if (!text.startsWith('[')) return
  const reading = unpacked(path)
  const command = reading ? `${reading} | jq -c '.[]'` : `jq -c '.[]' ${path}`
  throw new Fault(
    'bad-input',
    `${path}: expected JSON lines (one ${one} a line), got a JSON array; \`${command}\` turns it into lines`,
  )
}

/** Parses JSON. @throws Fault `bad-input` with the location */
export function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Fault('bad-input', `${where}: ${errorMessage(error)}`)
  }
}

const lineFeed = 10

/** Counts the line feeds of an uncompressed file. */
export async function countLines(path: string): Promise<number> {
  let count = 0
  for await (const chunk of createReadStream(path, { highWaterMark: chunkSize })) {
    const bytes: Buffer = chunk
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) count++
  }
  return count
}
