/** Messages of the SDK's `tinker_public.proto`: requests of a pass, with `loss_fn_config_v2`, and results. */
import type { Datum, ForwardOutput, PassRequest, SampledSequence, SampleResult } from '../wire.js'
import { decodeElements, elementTypes, float32Bytes, int32Bytes, int64Bytes } from './numbers.js'
import {
  bytesField,
  doubleField,
  intField,
  joinBytes,
  messageField,
  parseFields,
  textField,
  varint,
} from './protobuf.js'

function tensor(values: Datum['inputs'][string]): Uint8Array {
  const numbers = values instanceof Float32Array
  return joinBytes([
    bytesField(1, numbers ? float32Bytes(values) : int64Bytes(values)),
    intField(3, numbers ? elementTypes.float32 : elementTypes.int64),
    bytesField(4, varint(values.length)),
  ])
}

/** Encodes a `Datum` message, without its field tag. */
export function encodeProtobufDatum({ tokens, inputs }: Datum): Uint8Array {
  const chunk = messageField(1, bytesField(1, int32Bytes(tokens)))
  return joinBytes([
    messageField(1, chunk),
    ...Object.entries(inputs).map(([name, values]) =>
      messageField(2, textField(1, name), bytesField(2, tensor(values))),
    ),
  ])
}

/** Encodes the request around its encoded data. Numbers of the loss config go in both config fields, as in the SDK. */
export function encodeProtobufPass(request: PassRequest): Uint8Array {
  const { modelId, seq, data, loss, forwardOnly } = request
  const config = Object.entries(loss.config ?? {})
  return joinBytes([
    textField(1, modelId),
    intField(2, seq),
    ...data.map((datum) => bytesField(3, datum)),
    textField(4, loss.name),
    ...config.flatMap(([name, value]) =>
      typeof value === 'number' ? [messageField(5, textField(1, name), doubleField(2, value))] : [],
    ),
    ...(forwardOnly ? [intField(6, 1)] : []),
    ...config.map(([name, value]) => {
      const typed = typeof value === 'number' ? doubleField(1, value) : textField(2, value)
      return messageField(7, textField(1, name), bytesField(2, typed))
    }),
  ])
}

/** Accessors of a message's fields by number: all byte values in order, or the last integer. */
function message(bytes: Uint8Array): {
  readonly bytes: (number: number) => readonly Uint8Array[]
  readonly int: (number: number) => number
} {
  const fields = [...parseFields(bytes)]
  const values = (number: number) => fields.filter((f) => f.number === number).map((f) => f.value)
  return {
    bytes: (number) => values(number).filter((value) => value instanceof Uint8Array),
    int: (number) =>
      values(number)
        .filter((value) => typeof value === 'number')
        .at(-1) ?? 0,
  }
}

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)
const none = new Uint8Array()

/** Parses `BatchedTensor`: the values of every datum, split at byte offsets. */
function perDatum(bytes: Uint8Array): Float32Array[] {
  const tensor = message(bytes)
  const data = tensor.bytes(1).at(-1) ?? none
  const offsets = decodeElements(tensor.bytes(2).at(-1) ?? none, elementTypes.int64)
  const type = tensor.int(3)
  return offsets.slice(1).map((end, i) => {
    const start = offsets[i]!
    if (start < 0 || start > end || end > data.length)
      throw new RangeError(`Expected offsets within ${data.length} bytes, got ${start} to ${end}`)
    return Float32Array.from(decodeElements(data.subarray(start, end), type))
  })
}

/** Parses `ArrayRecord`: the outputs of some data, by name. */
function record(bytes: Uint8Array): Readonly<Record<string, Float32Array>>[] {
  const fields = message(bytes)
  const named = fields.bytes(2).map((entry) => {
    const { bytes: part } = message(entry)
    return [text(part(1).at(-1)), perDatum(part(2).at(-1) ?? none)] as const
  })
  const count = fields.int(3) || (named[0]?.[1].length ?? 0)
  for (const [name, arrays] of named)
    if (arrays.length !== count)
      throw new RangeError(`Expected ${name} of ${count} data, got ${arrays.length}`)
  return Array.from({ length: count }, (_, i) =>
    Object.fromEntries(named.map(([name, arrays]) => [name, arrays[i]!])),
  )
}

/** Parses `ForwardBackwardOutput`. @throws RangeError for malformed bytes */
export function parseProtobufForward(bytes: Uint8Array): ForwardOutput {
  const output = message(bytes)
  const metrics = output.bytes(3).map((entry) => {
    const { bytes: part } = message(entry)
    const value = part(2).at(-1)
    const number = value ? new DataView(value.buffer, value.byteOffset, 8).getFloat64(0, true) : 0
    return [text(part(1).at(-1)), number] as const
  })
  return { outputs: output.bytes(2).flatMap(record), metrics: Object.fromEntries(metrics) }
}

function sequence(bytes: Uint8Array): SampledSequence {
  const fields = message(bytes)
  const stop = fields.int(1)
  if (stop !== 0 && stop !== 1) throw new RangeError(`Expected stop_reason 0 or 1, got ${stop}`)
  return {
    tokens: decodeElements(fields.bytes(2).at(-1) ?? none, elementTypes.int32),
    logprobs: decodeElements(fields.bytes(3).at(-1) ?? none, elementTypes.float32),
    stopReason: stop === 0 ? 'stop' : 'length',
  }
}

/** Parses `SampleResponse`. @throws RangeError for malformed bytes */
export function parseProtobufSample(bytes: Uint8Array): SampleResult {
  const fields = message(bytes)
  const prompt = fields.bytes(2).at(-1)
  return {
    sequences: fields.bytes(1).map(sequence),
    ...(prompt
      ? { promptLogprobs: Float32Array.from(decodeElements(prompt, elementTypes.float32)) }
      : {}),
  }
}
