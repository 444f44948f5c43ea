/** Sends a request until it is answered: through the server's gate, with waits and within a deadline. */
import type { ChatReply, Usage } from '../chat.js'
import { errorMessage, Fault } from '../error.js'
import { pause } from '../platform/retry.js'
import { uniform } from '../seed.js'
import type { Gate } from './gate.js'
import { ModelFault, noTokens } from './model-fault.js'

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

const sum = (a: Usage, b: Usage): Usage => ({
  promptTokens: a.promptTokens + b.promptTokens,
  completionTokens: a.completionTokens + b.completionTokens,
})

/** What a call has gone through so far. */
class Tries {
  retries = 0
  #usage = noTokens
  #counted = 0
  #unreadable = 0

  /** Notes a fault; says whether the request may be sent again after it. */
  mayRetry({ kind, retryable, usage }: ModelFault, maxRetries: number): boolean {
    this.#usage = sum(this.#usage, usage)
    if (retryable === 'never' || (retryable === 'once' && this.#unreadable++ > 0)) return false
    return kind === 'rate-limited' || this.#counted++ < maxRetries
  }

  reply(reply: ChatReply): ChatReply {
    if (this.retries === 0) return reply
    return { ...reply, retries: this.retries, usage: sum(this.#usage, reply.usage) }
  }

  /** The fault that ends the call, after so many retries. */
  fault({ kind, message }: ModelFault, retries = this.retries): ModelFault {
    const said = retries === 0 ? message : `${message} (${retries + 1} requests)`
    return new ModelFault(kind, said, { retries, usage: this.#usage })
  }
}

/**
 * Calls `send` until it gives a reply.
 * @param toFault what an error of `send` means
 * @param key keys the jitter, so that calls that fail together retry apart
 * @throws ModelFault of the last request; Fault `aborted` when the caller's signal was aborted
 */
export async function sendUntilAnswered(
  gate: Gate,
  limits: CallLimits,
  key: number,
  send: (attempt: AttemptLimits) => Promise<ChatReply>,
  toFault: (error: unknown) => ModelFault,
): Promise<ChatReply> {
  const { timeoutMs, deadlineMs, maxRetries, backoffMs, signal } = limits
  const aborted = () => new Fault('aborted', `aborted: ${errorMessage(signal?.reason)}`)
  const tries = new Tries()
  let began: number | undefined
  for (let fault: ModelFault | undefined; ; tries.retries++) {
    await gate.enter(limits)
    began ??= performance.now()
    const left = deadlineMs - (performance.now() - began)
    // Others made it wait at the gate until its time was over.
    if (fault && left <= 0) {
      gate.leave()
      throw tries.fault(fault, tries.retries - 1)
    }
    try {
      return tries.reply(await send({ timeoutMs: Math.min(timeoutMs, left), signal }))
    } catch (error) {
      if (signal?.aborted) throw aborted()
      const now = toFault(error)
      // Cut short by the call's deadline: what failed before says more.
      if (!(fault && left < timeoutMs && now.kind === 'timeout')) fault = now
    } finally {
      gate.leave()
    }
    const wait = waitBefore(fault, tries.retries, backoffMs, key)
    const inTime = performance.now() - began + wait < deadlineMs
    if (!tries.mayRetry(fault, maxRetries) || !inTime) throw tries.fault(fault)
    if (fault.retryAfterMs !== undefined) gate.pause(fault.retryAfterMs)
    await pause(wait, signal)
    if (signal?.aborted) throw aborted()
  }
}
