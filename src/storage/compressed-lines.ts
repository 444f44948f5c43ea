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

/** Lines that end with a line feed; `readline` would end one at a U+2028 inside a JSON string too. */
export async function* linesIn(
  chunks: AsyncIterable<unknown>,
): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of chunks) {
    const [first = '', ...lines] = `${chunk}`.split('\n')
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
 * @throws Fault `bad-input` for a file that is not packed as its name says
 */
export async function* linesOf(path: string): AsyncGenerator<string, void, undefined> {
  const unpacker = unpackerFor(path)
  if (!unpacker) {
    yield* linesIn(createReadStream(path, { encoding: 'utf8', highWaterMark: chunkSize }))
    return
  }
  // An error of the file ends the unpacker, where it is thrown.
  const text = pipeline(createReadStream(path), unpacker, () => {})
  try {
    yield* linesIn(text.setEncoding('utf8'))
  } catch (error) {
    const broken = error instanceof Error && 'errno' in error && !('syscall' in error)
    throw broken ? new Fault('bad-input', `${path}: cannot be unpacked: ${error.message}`) : error
  }
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
