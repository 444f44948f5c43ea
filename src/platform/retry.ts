/** Patience with the network: attempts under a deadline, waits between them that grow, and an end. */
import { Fault, messageOf } from '../error.js'
import { uniform } from '../seed.js'

export interface RetryOptions {
  /** For one attempt, whole; a queue in front of it does not count. */
  readonly timeoutMs: number
  /** Attempts after the first. */
  readonly maxRetries: number
  /** The wait before the first retry; doubles each time, give or take half. */
  readonly backoffMs: number
  /** What the doubling ends at. @default Infinity */
  readonly maxBackoffMs?: number
  /** Sets callers that fail together apart. */
  readonly key: number
  readonly signal?: AbortSignal | undefined
  /**
   * What an error says about trying again: never, after so many ms, or whenever (`undefined`); `attempt` counts
   * the failures before it.
   */
  readonly advice: (error: unknown, attempt: number) => 'never' | number | undefined
  /** Where an attempt waits its turn. @default at once */
  readonly queue?: <T>(work: () => Promise<T>) => Promise<T>
}

/** The message of an error and of what caused it, down to the socket's. */
export function wholeMessage(error: unknown): string {
  const messages: string[] = []
  for (let at: unknown = error; at != null && messages.length < 4; ) {
    messages.push(messageOf(at))
    at = at instanceof Error ? at.cause : undefined
  }
  return [...new Set(messages.filter(Boolean))].join(': ')
}

/** Runs `work` with a signal that is aborted after `ms` or with `outer`, whichever is first. */
async function withDeadline<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const forward = () => controller.abort(outer?.reason)
  const timer = setTimeout(() => controller.abort(new Error(`no reply within ${ms} ms`)), ms)
  outer?.addEventListener('abort', forward, { once: true })
  if (outer?.aborted) forward()
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    // Not `AbortSignal.any`: its listeners stay on a signal that lives as long as the run.
    clearTimeout(timer)
    outer?.removeEventListener('abort', forward)
  }
}

/** Waits `ms`, or until the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })

/**
 * The first attempt that succeeds.
 * @throws Fault `aborted` when the caller's signal was; otherwise the last attempt's error as it was thrown
 */
export async function retried<T>(
  work: (signal: AbortSignal) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { timeoutMs, maxRetries, backoffMs, maxBackoffMs = Infinity, key, signal, advice } = options
  const { queue = (go) => go() } = options
  for (let attempt = 0; ; attempt++) {
    try {
      return await queue(() => {
        if (signal?.aborted) throw signal.reason
        return withDeadline(timeoutMs, signal, work)
      })
    } catch (error) {
      if (signal?.aborted)
        throw new Fault('aborted', `aborted: ${messageOf(signal.reason)}`, { cause: error })
      const wait = advice(error, attempt)
      if (wait === 'never' || attempt >= maxRetries) throw error
      const jitter = 0.5 + uniform(0, 'backoff', key, attempt)
      const backoff = Math.min(backoffMs * 2 ** attempt, maxBackoffMs)
      await pause(wait ?? backoff * jitter, signal)
    }
  }
}
