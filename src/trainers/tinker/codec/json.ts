/** JSON encoding of passes and samples. Each datum is encoded once, so the size of a request is known beforehand. */
import { z } from 'zod'
import type { Datum, ForwardOutput, PassRequest, SampleResult } from '../wire.js'
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

const Tensor = z.object({ data: z.array(z.number()), sparse_crow_indices: z.null().optional() })
const Forward = z.object({
  loss_fn_outputs: z.array(z.record(z.string(), Tensor)),
  metrics: z.record(z.string(), z.number()).default({}),
})

/** Parses the result of a pass. @throws ZodError for another shape */
export function parseJsonForward(body: unknown): ForwardOutput {
  const { loss_fn_outputs, metrics } = Forward.parse(body)
  const outputs = loss_fn_outputs.map((output) =>
    Object.fromEntries(
      Object.entries(output).map(([name, { data }]) => [name, Float32Array.from(data)]),
    ),
  )
  return { outputs, metrics }
}

const Sample = z.object({
  sequences: z.array(
    z.object({
      tokens: z.array(z.int()),
      logprobs: z.array(z.number()),
      stop_reason: z.enum(['stop', 'length']),
    }),
  ),
  prompt_logprobs: z.array(z.number().nullable()).nullish(),
})

/** Parses the result of `asample`. @throws ZodError for another shape */
export function parseJsonSample(body: unknown): SampleResult {
  const { sequences, prompt_logprobs: prompt } = Sample.parse(body)
  return {
    sequences: sequences.map(({ tokens, logprobs, stop_reason }) => ({
      tokens,
      logprobs,
      stopReason: stop_reason,
    })),
    ...(prompt ? { promptLogprobs: Float32Array.from(prompt, (value) => value ?? NaN) } : {}),
  }
}
