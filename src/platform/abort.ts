/**
 * Settles as `work` does, or rejects with the signal's reason as soon as that is aborted. What the work gives later is
 * dropped; its listener on the signal is removed.
 */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    const settle = () => signal?.removeEventListener('abort', stop)
    work.then(
      (value) => {
        settle()
        resolve(value)
      },
      (error: unknown) => {
        settle()
        reject(error)
      },
    )
  })
}
