/** Encodes requests of a pass as JSON. Each datum is encoded once, so the size of a request is known beforehand. */
import type { PassRequest } from '../pass-request.js'
import type { Datum } from '../wire.js'
import { joinBytes } from './protobuf.js'

const encoder = new TextEncoder()

const tensor = (values: Datum['inputs'][string]): object => ({
  data: Array.from<number | bigint, number>(values, Number),
  dtype: values instanceof Float32Array ? 'float32' : 'int64',
  shape: [values.length],
})

/** Encodes a datum as the wire's JSON. */
export function encodeJsonDatum({ tokens, inputs }: Datum): Uint8Array {
  const named = Object.entries(inputs).map(([name, values]) => [name, tensor(values)] as const)
  return encoder.encode(
    JSON.stringify({
      model_input: { chunks: [{ type: 'encoded_text', tokens: Array.from(tokens) }] },
      loss_fn_inputs: Object.fromEntries(named),
    }),
  )
}

/** Encodes the request around its encoded data. */
export function encodeJsonPass({ modelId, seq, data, loss, forwardOnly }: PassRequest): Uint8Array {
  const key = forwardOnly ? 'forward_input' : 'forward_backward_input'
  const ids = JSON.stringify({ model_id: modelId, seq_id: seq }).slice(0, -1)
  const config = loss.config ? `,"loss_fn_config":${JSON.stringify(loss.config)}` : ''
  const comma = encoder.encode(',')
  return joinBytes([
    encoder.encode(`${ids},"${key}":{"data":[`),
    ...data.flatMap((datum, i) => (i === 0 ? [datum] : [comma, datum])),
    encoder.encode(`],"loss_fn":${JSON.stringify(loss.name)}${config}}}`),
  ])
}
