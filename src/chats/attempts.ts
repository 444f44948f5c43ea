/** Sends a request until it is answered: through the server's gate, with waits and within a deadline. */
import { errorMessage, Fault } from '../error.js'
import { pause } from '../platform/retry.js'
import { uniform } from '../seed.js'
import type { Gate } from './gate.js'
import { ModelFault } from './model-fault.js'

/** Limits of one request. */
export interface AttemptLimits {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** No whole reply within the time limit. */
export class AttemptTimeout extends Error {}

/** A reply longer than any model's. */
export class OversizedReply extends Error {}

/** Limits of one call, all its requests taken together. */
export interface CallLimits {
  /** Most time of one request, from its start to the last byte of the reply. */
  readonly timeoutMs: number
  /** Most time of the call from the start of its first request; a rate limit is outlasted until then. */
  readonly deadlineMs: number
  /** Requests after the first, those refused by a rate limit not counted. */
  readonly maxRetries: number
  /** Wait before the first retry; doubles each time. */
  readonly backoffMs: number
  readonly concurrency: number
  readonly requestsPerMinute?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const maxBackoffMs = 20_000

/** What the server asks for and up to a quarter more, or the doubled backoff and up to half more or less. */
function waitBefore(fault: ModelFault, retry: number, backoffMs: number, key: number): number {
  const drawn = uniform(0, 'backoff', key, retry)
  const asked = fault.retryAfterMs
  if (asked !== undefined) return asked * (1 + 0.25 * drawn)
  return Math.min(backoffMs * 2 ** retry, maxBackoffMs) * (0.5 + drawn)
}

const finalFault = ({ kind, message }: ModelFault, retries: number): ModelFault =>
  new ModelFault(kind, retries === 0 ? message : `${message} (${retries + 1} requests)`, {
    retries,
  })

/**
 * Calls `send` until it gives a reply.
 * @param toFault what an error of `send` means
 * @param key keys the jitter, so that calls that fail together retry apart
 * @throws ModelFault of the last request; Fault `aborted` when the caller's signal was aborted
 */
export async function sendUntilAnswered<T>(
  gate: Gate,
  limits: CallLimits,
  key: number,
  send: (attempt: AttemptLimits) => Promise<T>,
  toFault: (error: unknown) => ModelFault,
): Promise<{ readonly reply: T; readonly retries: number }> {
  const { timeoutMs, deadlineMs, maxRetries, backoffMs, signal } = limits
  let began: number | undefined
  for (let retries = 0, counted = 0; ; retries++) {
    await gate.enter(limits)
    began ??= performance.now()
    const left = deadlineMs - (performance.now() - began)
    let fault: ModelFault
    try {
      return { reply: await send({ timeoutMs: Math.min(timeoutMs, left), signal }), retries }
    } catch (error) {
      if (signal?.aborted) throw new Fault('aborted', `aborted: ${errorMessage(signal.reason)}`)
      fault = toFault(error)
    } finally {
      gate.leave()
    }
    const took = performance.now() - began
    if (!fault.retryable) throw finalFault(fault, retries)
    if (fault.kind !== 'rate-limited' && counted++ >= maxRetries) throw finalFault(fault, retries)
    const wait = waitBefore(fault, retries, backoffMs, key)
    if (took + wait >= deadlineMs) throw finalFault(fault, retries)
    if (fault.retryAfterMs !== undefined) gate.pause(fault.retryAfterMs)
    await pause(wait, signal)
    if (signal?.aborted) throw new Fault('aborted', `aborted: ${errorMessage(signal.reason)}`)
  }
}
