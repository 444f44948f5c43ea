/** Lines of text, streamed, from files that may be compressed. */
import { createReadStream } from 'node:fs'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream'
import {
  constants,
  createBrotliCompress,
  createBrotliDecompress,
  createGunzip,
  createGzip,
} from 'node:zlib'
import { Fault } from '../error.js'
import { decodeUtf8 } from '../platform/utf8.js'

/**
 * Lines that end with a line feed; `readline` would end one at a U+2028 inside a JSON string too.
 * @param name of the file, for messages
 * @throws Fault `bad-input` for bytes that are no UTF-8
 */
export async function* linesIn(
  chunks: AsyncIterable<unknown>,
  name: string,
): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of decodeUtf8(chunks, name)) {
    const [first = '', ...lines] = chunk.split('\n')
    // The chunk alone is split: a line of any length, as a whole JSON array is, is looked through once.
    rest += first
    for (const line of lines) {
      yield rest
      rest = line
    }
  }
  yield rest
}

/** What packs a file of that name: gzip for `.gz`, Brotli for `.br`, nothing for others. */
export function packerFor(path: string): Transform | undefined {
  if (path.endsWith('.gz')) return createGzip({ level: 9 })
  // Lines of one kind are alike over many kilobytes; a window of 16 MiB makes a case file 70 times smaller.
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24 }
  return path.endsWith('.br') ? createBrotliCompress({ params }) : undefined
}

const unpackerFor = (path: string): Transform | undefined =>
  path.endsWith('.gz')
    ? createGunzip()
    : path.endsWith('.br')
      ? createBrotliDecompress()
      : undefined

/** Read at a time, in bytes: much more than a line, so that few lines are put together from pieces. */
const chunkSize = 1 << 19

/**
 * The lines of a file, unpacked where its name ends in `.gz` or `.br`.
 * @throws Fault `bad-input` for a file that is not packed as its name says, and for one that is not in UTF-8
 */
export async function* linesOf(path: string): AsyncGenerator<string, void, undefined> {
  const unpacker = unpackerFor(path)
  if (!unpacker) {
    yield* linesIn(createReadStream(path, { highWaterMark: chunkSize }), path)
    return
  }
  // An error of the file ends the unpacker, where it is thrown.
  const text = pipeline(createReadStream(path), unpacker, () => {})
  try {
    yield* linesIn(text, path)
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

const lineFeed = 10

/** How many lines a plain file has that end with a line feed. */
export async function countLines(path: string): Promise<number> {
  let count = 0
  for await (const chunk of createReadStream(path, { highWaterMark: chunkSize })) {
    const bytes: Buffer = chunk
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) count++
  }
  return count
}
