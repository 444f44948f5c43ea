/** The two encodings of requests and results on the Tinker wire: JSON and protobuf. */
import { rethrowAsFault } from '../../error.js'
import { encodeJsonDatum, encodeJsonPass, parseJsonForward, parseJsonSample } from './codec/json.js'
import {
  encodeProtobufDatum,
  encodeProtobufPass,
  parseProtobufForward,
  parseProtobufSample,
} from './codec/protobuf-messages.js'
import { parseJsonReply } from './operation.js'
import type { DialectName } from './profile.js'
import type { HttpReply } from './transport.js'
import type { Datum, PassRequest } from './wire.js'

/** Encoder of one wire encoding: single data, and the request that holds encoded data. */
export interface Dialect {
  readonly protobuf: boolean
  encodeDatum(datum: Datum): Uint8Array
  encodePass(request: PassRequest): Uint8Array
}

/** The dialects by name. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  json: { protobuf: false, encodeDatum: encodeJsonDatum, encodePass: encodeJsonPass },
  protobuf: { protobuf: true, encodeDatum: encodeProtobufDatum, encodePass: encodeProtobufPass },
}

/** Makes the decoder of a result in the encoding the server chose, which throws a Fault `model-unreadable`. */
const decoder =
  <T>(protobuf: (bytes: Uint8Array) => T, json: (body: unknown) => T) =>
  (reply: HttpReply, what: string): Promise<T> =>
    rethrowAsFault('model-unreadable', what, () =>
      reply.protobuf ? protobuf(reply.bytes) : json(parseJsonReply(reply, what)),
    )

/** Decodes the result of a pass. @throws Fault `model-unreadable` */
export const decodeForward = decoder(parseProtobufForward, parseJsonForward)

/** Decodes the result of `asample`. @throws Fault `model-unreadable` */
export const decodeSample = decoder(parseProtobufSample, parseJsonSample)
