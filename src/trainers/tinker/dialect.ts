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
import type { Datum, ForwardOutput, PassRequest, SampleResult } from './wire.js'

/** Encoder of one wire encoding: single data, and the request that holds encoded data. */
export interface Dialect {
  readonly protobuf: boolean
  encodeDatum(datum: Datum): Uint8Array
  encodePass(request: PassRequest): Uint8Array
}

const dialects: Readonly<Record<DialectName, Dialect>> = {
  json: { protobuf: false, encodeDatum: encodeJsonDatum, encodePass: encodeJsonPass },
  protobuf: { protobuf: true, encodeDatum: encodeProtobufDatum, encodePass: encodeProtobufPass },
}

/** Returns the dialect of a name. */
export const getDialect = (name: DialectName): Dialect => dialects[name]

/** Decodes the result of a pass, in the encoding the server chose. @throws Fault `model-unreadable` */
export const decodeForward = (reply: HttpReply, what: string): Promise<ForwardOutput> =>
  rethrowAsFault('model-unreadable', what, () =>
    reply.protobuf
      ? parseProtobufForward(reply.bytes)
      : parseJsonForward(parseJsonReply(reply, what)),
  )

/** Decodes the result of `asample`, in the encoding the server chose. @throws Fault `model-unreadable` */
export const decodeSample = (reply: HttpReply, what: string): Promise<SampleResult> =>
  rethrowAsFault('model-unreadable', what, () =>
    reply.protobuf
      ? parseProtobufSample(reply.bytes)
      : parseJsonSample(parseJsonReply(reply, what)),
  )
