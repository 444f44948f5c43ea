/** Retries with a deadline per attempt and exponential backoff between attempts. */
import { errorMessage, Fault } from '../error.js'
import { uniform } from '../seed.js'

/** Options of {@link retry}. */
export interface RetryOptions {
  /** Deadline of one whole attempt, without its time in the queue. */
  readonly timeoutMs: number
  /** Attempts after the first. */
  readonly maxRetries: number
  /** Wait before the first retry; doubles each time, with ±50% jitter. */
  readonly backoffMs: number
  /** Upper limit of the doubling. @default Infinity */
  readonly maxBackoffMs?: number
  /** Keys the jitter, so callers that fail together retry apart. */
  readonly key: number
  readonly signal?: AbortSignal | undefined
  /** Delay for an error: `never`, ms, or undefined for the backoff. `attempt` counts earlier failures. */
  readonly retryDelay: (error: unknown, attempt: number) => 'never' | number | undefined
  /** Queue for attempts. @default none */
  readonly queue?: <T>(work: () => Promise<T>) => Promise<T>
}

/** The messages of an error and its causes, down to the socket error, joined. */
export function fullErrorMessage(error: unknown): string {
  const messages: string[] = []
  for (let at: unknown = error; at != null && messages.length < 4; ) {
    messages.push(errorMessage(at))
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

/** Waits for `ms`, or until the signal is aborted. */
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
 * Retries `work` and gives the first successful result.
 * @throws Fault `aborted` when the caller's signal was aborted; otherwise the last attempt's error unchanged
 */
export async function retry<T>(
  work: (signal: AbortSignal) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { timeoutMs, maxRetries, backoffMs, maxBackoffMs = Infinity, key, signal } = options
  const { queue = (go) => go() } = options
  for (let attempt = 0; ; attempt++) {
    try {
      return await queue(() => {
        if (signal?.aborted) throw signal.reason
        return withDeadline(timeoutMs, signal, work)
      })
    } catch (error) {
      if (signal?.aborted)
        throw new Fault('aborted', `aborted: ${errorMessage(signal.reason)}`, { cause: error })
      const wait = options.retryDelay(error, attempt)
      if (wait === 'never' || attempt >= maxRetries) throw error
      const jitter = 0.5 + uniform(0, 'backoff', key, attempt)
      const backoff = Math.min(backoffMs * 2 ** attempt, maxBackoffMs)
      await pause(wait ?? backoff * jitter, signal)
    }
  }
}
