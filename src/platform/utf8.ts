/** Text of files: UTF-8, checked, so that another encoding is named by file and offset instead of read as garbage. */
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { Fault } from '../error.js'

const mark = '\uFEFF'

/** How many bytes a character has that begins with this one. */
const lengthFrom = (lead: number): number =>
  lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4

/** Where the last character begins if it breaks off at the end of the bytes, else their length. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const at = bytes.length - back
    const lead = bytes[at] as number // within the bytes
    if (lead >= 0xc0) return lengthFrom(lead) > back ? at : bytes.length
    if (lead < 0x80) break
  }
  return bytes.length
}

/** Where the first character that is none begins. */
function firstInvalid(bytes: Uint8Array): number {
  let at = 0
  for (;;) {
    const end = at + lengthFrom(bytes[at] ?? 0)
    if (end > bytes.length || !isUtf8(bytes.subarray(at, end))) return at
    at = end
  }
}

/** @param offset of the first byte in the file */
function notUtf8(bytes: Uint8Array, offset: number, name: string): Fault {
  const at = firstInvalid(bytes)
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0')
  return new Fault(
    'bad-input',
    `${name}: expected UTF-8, got byte 0x${byte} at offset ${offset + at}`,
  )
}

/** @throws Fault `bad-input` for bytes that begin as UTF-16 does */
function refuseUtf16([first, second]: Uint8Array, name: string): void {
  const little = first === 0xff && second === 0xfe
  if (!little && !(first === 0xfe && second === 0xff)) return
  throw new Fault(
    'bad-input',
    `${name}: expected UTF-8, got UTF-16 (${little ? 'little' : 'big'}-endian byte order mark); \`iconv -f UTF-16 -t UTF-8 ${name}\` converts it`,
  )
}

/** Decodes one piece after another; `last` ends the text. */
function decoder(name: string): (piece: Uint8Array, last: boolean) => string {
  let rest: Uint8Array = new Uint8Array()
  let offset = 0
  return (piece, last) => {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    const beginning = offset === 0
    // Both bytes of a mark are needed to tell it.
    if (beginning && bytes.length < 2 && !last) {
      rest = bytes
      return ''
    }
    if (beginning) refuseUtf16(bytes, name)
    const whole = bytes.subarray(0, last ? bytes.length : wholeLength(bytes))
    if (!isUtf8(whole)) throw notUtf8(whole, offset, name)
    rest = bytes.subarray(whole.length)
    offset += whole.length
    const { buffer, byteOffset, byteLength } = whole
    const text = Buffer.from(buffer, byteOffset, byteLength).toString()
    return beginning && text.startsWith(mark) ? text.slice(1) : text
  }
}

/**
 * Decodes bytes that come in pieces, without a byte order mark at their beginning; pieces of text pass as they are.
 * @param name of the file, for messages
 * @throws Fault `bad-input` for bytes that are no UTF-8, with the first of them and its offset
 */
export async function* decodeUtf8(
  pieces: AsyncIterable<unknown>,
  name: string,
): AsyncGenerator<string, void, undefined> {
  const decode = decoder(name)
  for await (const piece of pieces)
    yield piece instanceof Uint8Array ? decode(piece, false) : `${piece}`
  yield decode(new Uint8Array(), true)
}

/**
 * Reads a text file whole.
 * @throws Fault `bad-input` for a file that is not in UTF-8; the system's error for one that cannot be read
 */
export const readText = async (path: string): Promise<string> =>
  decoder(path)(await readFile(path), true)
