/** Encodes `ForwardBackwardRequest` of the SDK's `tinker_public.proto`, with `loss_fn_config_v2`. */
import type { PassRequest } from '../pass-request.js'
import type { Datum } from '../wire.js'
import { elementTypes, float32Bytes, int32Bytes, int64Bytes } from './numbers.js'
import {
  bytesField,
  doubleField,
  intField,
  joinBytes,
  messageField,
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
