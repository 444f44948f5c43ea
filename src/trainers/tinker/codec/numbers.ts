/** Encodes arrays of numbers as the wire's little-endian bytes and back, on machines of either byte order. */

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Numbers of the wire's element types (`DType`). */
export const elementTypes = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const

/** Encodes each value with `write` at its byte offset. */
function encode<T>(
  values: ArrayLike<T>,
  size: number,
  write: (view: DataView, at: number, value: T) => void,
): Uint8Array {
  const bytes = new Uint8Array(values.length * size)
  const view = viewOf(bytes)
  for (let i = 0; i < values.length; i++) write(view, i * size, values[i]!)
  return bytes
}

/** Encodes values as int32. */
export const int32Bytes = (values: Int32Array): Uint8Array =>
  encode(values, 4, (view, at, value) => view.setInt32(at, value, true))

/** Encodes values as int64. */
export const int64Bytes = (values: Int32Array | BigInt64Array): Uint8Array =>
  encode<number | bigint>(values, 8, (view, at, value) => view.setBigInt64(at, BigInt(value), true))

/** Encodes values as float32. */
export const float32Bytes = (values: Float32Array): Uint8Array =>
  encode(values, 4, (view, at, value) => view.setFloat32(at, value, true))

const readers: Readonly<Record<number, { size: number; at: (v: DataView, i: number) => number }>> =
  {
    1: { size: 4, at: (view, i) => view.getFloat32(i, true) },
    2: { size: 8, at: (view, i) => Number(view.getBigInt64(i, true)) },
    3: { size: 4, at: (view, i) => view.getInt32(i, true) },
    4: { size: 2, at: (view, i) => bfloat16(view.getUint16(i, true)) },
  }

/** A bfloat16 is the upper half of a float32. */
function bfloat16(bits: number): number {
  const view = new DataView(new ArrayBuffer(4))
  view.setUint16(0, bits)
  return view.getFloat32(0)
}

/** Decodes elements of one of the wire's types. @throws RangeError for an unknown type or a partial element */
export function decodeElements(bytes: Uint8Array, type: number): number[] {
  const reader = readers[type]
  if (!reader)
    throw new RangeError(`Expected an element type of ${Object.keys(readers)}, got ${type}`)
  const { size, at } = reader
  if (bytes.length % size !== 0)
    throw new RangeError(`Expected elements of ${size} bytes, got ${bytes.length} bytes`)
  const view = viewOf(bytes)
  return Array.from({ length: bytes.length / size }, (_, i) => at(view, i * size))
}
