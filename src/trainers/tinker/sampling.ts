/** Sampling sessions: draw token sequences from a snapshot of the weights. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import { assertCounts } from '../counts.js'
import { decodeSample } from './dialect.js'
import { requestJson } from './handshake.js'
import { newOperation, sendOperation, type Ticket } from './operation.js'
import {
  collectResult,
  createCounter,
  performOperation,
  type Session,
  wireCall,
} from './session.js'
import type { SampleOptions, SampleResult, SamplingSession } from './wire.js'

const route = '/api/v1/asample'

function assertOptions({ prompt, maxTokens, samples = 1 }: SampleOptions): void {
  if (prompt.length === 0) throw new RangeError('Expected a prompt with tokens, got none')
  assertCounts({ maxTokens, samples })
}

function sampleRequest(options: SampleOptions, sampler: string, seq: number): object {
  const { prompt, maxTokens, seed, stop, topK = -1, topP = 1, temperature = 1 } = options
  return {
    type: 'sample',
    sampling_session_id: sampler,
    seq_id: seq,
    num_samples: options.samples ?? 1,
    prompt: { chunks: [{ type: 'encoded_text', tokens: Array.from(prompt) }] },
    sampling_params: {
      max_tokens: maxTokens,
      temperature,
      top_k: topK,
      top_p: topP,
      ...(seed === undefined ? {} : { seed }),
      ...(stop === undefined || stop.length === 0 ? {} : { stop }),
    },
    prompt_logprobs: options.promptLogprobs ?? false,
  }
}

/** Checks that a result matches its request. @throws Fault `model-unreadable` */
function assertSampled({ sequences, promptLogprobs }: SampleResult, options: SampleOptions): void {
  const { samples = 1, prompt, promptLogprobs: wanted = false } = options
  const wrong = (expected: string, got: unknown) =>
    new Fault('model-unreadable', `${route}: expected ${expected}, got ${got}`)
  if (sequences.length !== samples) throw wrong(`${samples} sequences`, sequences.length)
  for (const { tokens, logprobs } of sequences)
    if (logprobs.length !== tokens.length)
      throw wrong(`${tokens.length} log-probs of a sequence`, logprobs.length)
  if (wanted && promptLogprobs?.length !== prompt.length)
    throw wrong(`${prompt.length} log-probs of the prompt`, promptLogprobs?.length)
}

/** Cancels a sample on the server; a server without the route draws it to the end. */
function cancel({ transport }: Session, ticket: Ticket): void {
  if (!('requestId' in ticket)) return
  const body = { type: 'cancel_future', request_id: ticket.requestId }
  requestJson({ ...transport, maxRetries: 0 }, '/api/v1/cancel_future', body).catch(() => undefined)
}

/** Sampling session on the server session of this id, which may still be opening. */
export function samplingSession(session: Session, sampler: Promise<string>): SamplingSession {
  const nextSeq = createCounter()
  return {
    made: sampler,
    sample: async (options) => {
      assertOptions(options)
      const id = await sampler
      const { signal } = options
      return session.sampling(async () => {
        const body = sampleRequest(options, id, nextSeq())
        const acceptsProtobuf = session.dialect.protobuf
        const operation = newOperation(route, 'Sample', body, { signal, acceptsProtobuf })
        const ticket = await sendOperation(session.transport, operation)
        const reply = await collectResult(session, operation, ticket).catch((error) => {
          if (signal?.aborted) cancel(session, ticket)
          throw error
        })
        const sampled = await decodeSample(reply, route)
        assertSampled(sampled, options)
        return sampled
      })
    },
  }
}

/** Opens a sampling session of a base model or of saved weights, and returns its id. @throws Fault */
export async function openSampler(
  session: Session,
  weights: { readonly base_model: string } | { readonly model_path: string },
): Promise<string> {
  const ids = { session_id: session.id, sampling_session_seq_id: session.nextSampler() }
  const { sampling_session_id } = await performOperation(
    session,
    wireCall('create_sampling_session', { ...ids, ...weights }),
    z.object({ sampling_session_id: z.string() }),
  )
  return sampling_session_id
}
