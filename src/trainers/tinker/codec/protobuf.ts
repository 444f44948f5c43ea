/** Protobuf encoding (protobuf.dev/programming-guides/encoding): writes and reads fields without a schema. */

/** Encodes a varint: 7 bits per byte, least significant first; negatives as 64-bit two's complement. */
export function varint(value: number): Uint8Array {
  if (!Number.isSafeInteger(value)) throw new RangeError(`Expected an integer, got ${value}`)
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}

/** Concatenates byte arrays. */
export const joinBytes = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)

/** Encodes a length-delimited field: a message, a string or a packed list. */
export const bytesField = (number: number, bytes: Uint8Array): Uint8Array =>
  joinBytes([varint(number * 8 + 2), varint(bytes.length), bytes])

/** Encodes a field that holds a message. */
export const messageField = (number: number, ...fields: readonly Uint8Array[]): Uint8Array =>
  bytesField(number, joinBytes(fields))

/** Encodes a string field. */
export const textField = (number: number, text: string): Uint8Array =>
  bytesField(number, new TextEncoder().encode(text))

/** Encodes an integer field as a varint. */
export const intField = (number: number, value: number): Uint8Array =>
  joinBytes([varint(number * 8), varint(value)])

/** Encodes a double field. */
export function doubleField(number: number, value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return joinBytes([varint(number * 8 + 1), bytes])
}

/** A parsed field: an integer, or the bytes of any other type. */
export interface Field {
  readonly number: number
  readonly value: number | Uint8Array
}

function readVarint(bytes: Uint8Array, start: number): { value: bigint; end: number } {
  let value = 0n
  for (let at = start, shift = 0n; shift < 70n; at++, shift += 7n) {
    const byte = bytes[at]
    if (byte === undefined) break
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return { value, end: at + 1 }
  }
  throw new RangeError(`Expected a varint of at most 10 bytes at byte ${start} of ${bytes.length}`)
}

/** Yields all fields of a message in order, unknown ones too. @throws RangeError for a truncated message */
export function* parseFields(bytes: Uint8Array): Generator<Field, void, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at)
    const number = Number(tag.value >> 3n)
    const kind = Number(tag.value & 7n)
    at = tag.end
    if (kind === 0) {
      const { value, end } = readVarint(bytes, at)
      at = end
      yield { number, value: Number(BigInt.asIntN(64, value)) }
      continue
    }
    let length = kind === 1 ? 8 : 4
    if (kind === 2) {
      const size = readVarint(bytes, at)
      length = Number(size.value)
      at = size.end
    } else if (kind !== 1 && kind !== 5)
      throw new RangeError(`Expected wire type 0, 1, 2 or 5 of field ${number}, got ${kind}`)
    if (at + length > bytes.length)
      throw new RangeError(`Expected ${length} bytes of field ${number}, got ${bytes.length - at}`)
    yield { number, value: bytes.subarray(at, at + length) }
    at += length
  }
}
