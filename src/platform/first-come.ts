/** Bounded concurrency for work that never ends to arrive, in the order in which it comes. */

/**
 * Makes a queue: `run(work)` starts `work` once fewer than `most` are under way, and gives what it gives.
 *
 * An array, not p-limit's linked list: while a list never becomes empty, one link that the collector has moved to its
 * old space keeps all later ones alive until a full collection, with the results that they point to.
 */
export function firstCome(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let underWay = 0
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else underWay--
  }
  return async (work) => {
    if (underWay < most) underWay++
    // Its place is handed over.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
