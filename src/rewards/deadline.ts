/** Timeout for a reward that may never answer. */
import { Fault } from '../error.js'
import { untilAborted } from '../platform/abort.js'

/** The longest delay of a Node timer, in ms. */
const maxTimerMs = 2 ** 31 - 1

/** Checks the timeout of `what`, in ms. `Infinity` is allowed. @throws RangeError unless it is above 0 */
export function checkTimeout(what: string, timeoutMs: number): void {
  if (!(timeoutMs > 0))
    throw new RangeError(
      `Expected \`timeoutMs\` of \`${what}\` to be more than 0 ms, got ${timeoutMs}`,
    )
}

/**
 * Settles as `pending` does if that is within `timeoutMs`; a later result is dropped. The timer and the abort
 * listener are removed on settlement.
 * @throws Fault `component-failed` on timeout; the signal's reason once that is aborted
 */
export function raceDeadline<T>(
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
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const fail = () =>
      reject(new Fault('component-failed', `${what} did not answer within ${timeoutMs} ms`))
    if (timeoutMs <= maxTimerMs) timer = setTimeout(fail, timeoutMs)
  })
  const settled = untilAborted(Promise.race([pending, late]), signal)
  return settled.finally(() => clearTimeout(timer))
}
