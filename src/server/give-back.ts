/**
 * Gives memory back when a server rests. What sessions leave behind grows old within seconds, and V8 seldom collects
 * the old in a thread where nothing happens: a server kept 100 kB of garbage for each session that had been opened.
 */
import { Session } from 'node:inspector'
import { getHeapStatistics } from 'node:v8'

/** When memory is given back, and by what. */
export interface GiveBackOptions {
  /** Milliseconds in which next to nothing is allocated where a server rests. @default 2000 */
  readonly restMs?: number
  /** Bytes of the heap. @default V8's count */
  readonly used?: () => number
  /** Collects all garbage, and shrinks the heap. @default V8's, which takes a tenth to a quarter of a second */
  readonly collect?: () => Promise<void>
}

/** Bytes that a server at rest may allocate, by its own timers and somebody who asks for `/healthz`. */
const restful = 1024 * 1024
/** Bytes by which the heap has grown where it is worth a pause. */
const worthwhile = 32 * 1024 * 1024

const usedHeap = (): number => getHeapStatistics().used_heap_size

/** Collects garbage as V8 does when memory is short: the one way that gives the pages of the young generation back. */
function collectAll(): Promise<void> {
  const session = new Session()
  session.connect()
  return new Promise((resolve) => {
    session.post('HeapProfiler.collectGarbage', () => {
      // Within the reply, the end of the session would stop the thread for good.
      setImmediate(() => {
        session.disconnect()
        resolve()
      })
    })
  })
}

/** Collects garbage each time that the thread rests after its heap has grown, until it is disposed of. */
export function giveBackAtRest({
  restMs = 2000,
  used = usedHeap,
  collect = collectAll,
}: GiveBackOptions = {}): Disposable {
  let kept = used()
  let before = kept
  let collecting = false
  const look = async (): Promise<void> => {
    const now = used()
    const rests = Math.abs(now - before) < restful
    before = now
    // A collection of V8's own has left less.
    kept = Math.min(kept, now)
    if (collecting || !rests || now - kept < worthwhile) return
    collecting = true
    await collect()
    collecting = false
    kept = before = used()
  }
  const timer = setInterval(() => void look(), restMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
