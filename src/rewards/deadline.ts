/** Waits for a reward that may never answer. */
import { Fault } from '../error.js'

/** The longest that a timer can wait, in ms. */
const longest = 2 ** 31 - 1

/** @throws RangeError for what is no time to wait; `Infinity` is one */
export function checkTimeout(what: string, timeoutMs: number): void {
  if (!(timeoutMs > 0))
    throw new RangeError(
      `Expected \`timeoutMs\` of \`${what}\` to be more than 0 ms, got ${timeoutMs}`,
    )
}

/**
 * What `pending` comes to, if it does within `timeoutMs`; what it comes to later is dropped. The timer and the
 * listener are gone as soon as it is settled.
 * @throws Fault `component-failed` when it took too long; the signal's reason once that is aborted
 */
export function beforeDeadline<T>(
  pending: PromiseLike<T>,
  {
    what,
    timeoutMs,
    signal,
  }: {
    readonly what: string
    readonly timeoutMs: number
    readonly signal?: AbortSignal | undefined
  },
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = () =>
      settle(reject, new Fault('component-failed', `${what} did not answer within ${timeoutMs} ms`))
    const stopped = () => settle(reject, signal?.reason)
    const timer = timeoutMs > longest ? undefined : setTimeout(late, timeoutMs)
    const settle = <R>(how: (with_: R) => void, value: R): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stopped)
      how(value)
    }
    signal?.addEventListener('abort', stopped, { once: true })
    if (signal?.aborted) stopped()
    pending.then(
      (value) => settle(resolve, value),
      (error) => settle(reject, error),
    )
  })
}
