/** Parses JSON results of passes and samples. */
import { z } from 'zod'
import type { ForwardOutput, SampleResult } from '../wire.js'

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
