/** The two encodings of requests and results on the Tinker wire: JSON and protobuf. */
import { rethrowAsFault } from '../../error.js'
import { jsonForward, jsonSampled } from './codec/json-reply.js'
import { jsonDatum, jsonPass } from './codec/json-request.js'
import { protobufForward, protobufSampled } from './codec/protobuf-reply.js'
import { protobufDatum, protobufPass } from './codec/protobuf-request.js'
import { jsonOf } from './operation.js'
import type { PassRequest } from './pass.js'
import type { DialectName } from './profile.js'
import type { Reply } from './transport.js'
import type { Datum, ForwardOutput, Sampled } from './wire.js'

/** Encoder of one wire encoding: single data, and the request that holds encoded data. */
export interface Dialect {
  readonly protobuf: boolean
  encodeDatum(datum: Datum): Uint8Array
  encodePass(request: PassRequest): Uint8Array
}

const dialects: Readonly<Record<DialectName, Dialect>> = {
  json: { protobuf: false, encodeDatum: jsonDatum, encodePass: jsonPass },
  protobuf: { protobuf: true, encodeDatum: protobufDatum, encodePass: protobufPass },
}

/** Returns the dialect of a name. */
export const dialectNamed = (name: DialectName): Dialect => dialects[name]

/** Decodes the result of a pass, in the encoding the server chose. @throws Fault `model-unreadable` */
export const readForward = (reply: Reply, what: string): Promise<ForwardOutput> =>
  rethrowAsFault('model-unreadable', what, () =>
    reply.protobuf ? protobufForward(reply.bytes) : jsonForward(jsonOf(reply, what)),
  )

/** Decodes the result of `asample`, in the encoding the server chose. @throws Fault `model-unreadable` */
export const readSampled = (reply: Reply, what: string): Promise<Sampled> =>
  rethrowAsFault('model-unreadable', what, () =>
    reply.protobuf ? protobufSampled(reply.bytes) : jsonSampled(jsonOf(reply, what)),
  )
