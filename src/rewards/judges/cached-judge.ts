/** A judge that is asked once for the same content. */
import { untilAborted } from '../../platform/abort.js'
import type { Judge, JudgeContext, JudgeRequest } from './judge.js'

/** Options of {@link cachedJudge}. */
export interface CachedJudgeOptions {
  /** Replies kept at most; the oldest goes first. @default 10_000 */
  readonly most?: number
}

/** A reply under way or given, and who waits for it. */
interface Entry {
  readonly reply: Promise<string>
  readonly stop: AbortController
  waiting: number
}

/** The content of a request, by which replies are shared; the same for any order of its keys. */
const contentOf = (
  request: JudgeRequest,
  { attempt = 0, vote = 0, swapped = false }: JudgeContext,
): string =>
  JSON.stringify([
    Object.entries(request).sort(([a], [b]) => (a < b ? -1 : 1)),
    attempt,
    vote,
    swapped,
  ])

/**
 * Shares the replies of a judge among requests of the same content, in any episode: siblings of a group get one
 * verdict on one diagnosis. Each try and each vote has a reply of its own. A failure is not kept. A request that
 * several wait for is aborted only when all of them are.
 * @throws RangeError for a `most` that is not a whole number from 1
 */
export function cachedJudge(judge: Judge, { most = 10_000 }: CachedJudgeOptions = {}): Judge {
  if (!(Number.isSafeInteger(most) && most >= 1))
    throw new RangeError(`Expected \`most\` to be a whole number from 1, got ${most}`)
  const entries = new Map<string, Entry>()
  const begin = (key: string, request: JudgeRequest, context: JudgeContext): Entry => {
    const stop = new AbortController()
    const reply = judge(request, { ...context, signal: stop.signal })
    const entry: Entry = { reply, stop, waiting: 0 }
    entries.set(key, entry)
    reply.catch(() => {
      if (entries.get(key) === entry) entries.delete(key)
    })
    const [oldest] = entries.keys()
    if (entries.size > most && oldest !== undefined) entries.delete(oldest)
    return entry
  }
  const ask = async (request: JudgeRequest, context: JudgeContext = {}): Promise<string> => {
    const { signal } = context
    signal?.throwIfAborted()
    const key = contentOf(request, context)
    const known = entries.get(key)
    const entry = known && !known.stop.signal.aborted ? known : begin(key, request, context)
    entry.waiting++
    try {
      return await untilAborted(entry.reply, signal)
    } finally {
      entry.waiting--
      if (entry.waiting === 0 && signal?.aborted) entry.stop.abort(signal.reason)
    }
  }
  return Object.assign(ask, { judgeName: judge.judgeName })
}
