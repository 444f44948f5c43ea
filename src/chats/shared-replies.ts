/**
 * Shared replies: the same request is answered once, and every caller hears that answer.
 *
 * Siblings of a group that ask the same question in the same state then meet the same patient, also where the server
 * ignores seeds. A store behind it, as a cassette, keeps the replies for other runs.
 */
import type { ChatOptions, ChatReply, ModelCall } from '../chat.js'
import { Fault } from '../error.js'
import { type RoleModel, requestKey } from './request-key.js'

/** A request as a store sees it. */
export interface StoredRequest extends RoleModel {
  readonly key: string
  readonly question: unknown
  /** Name and version of the prompt. */
  readonly prompt?: string | undefined
}

/** Where replies are kept. */
export interface ReplyStore {
  /**
   * The reply to a request, `reused` from the second caller of a run on: one recorded in another run counts as paid by
   * the first. @throws the fault that is kept for it
   */
  find(request: StoredRequest): ChatReply | undefined
  /** Keeps a reply; returns it as it will be found again. */
  keep(request: StoredRequest, reply: ChatReply): ChatReply
  /** Keeps a fault of the model. */
  keepFault?(request: StoredRequest, fault: unknown): void
}

/** A store that forgets. */
export interface MemoryStore extends ReplyStore {
  /** Replies that gave way to later ones: whoever asked for one of them again may have heard another. */
  readonly forgotten: number
}

/** Keeps the latest replies in memory. @param most replies kept; an older question is asked again */
export function memoryStore(most = 50_000): MemoryStore {
  const replies = new Map<string, ChatReply>()
  let forgotten = 0
  return {
    get forgotten() {
      return forgotten
    },
    find({ key }) {
      const reply = replies.get(key)
      return reply && { ...reply, reused: true }
    },
    keep({ key }, reply) {
      replies.set(key, reply)
      const oldest = replies.keys().next()
      if (replies.size <= most || oldest.done) return reply
      replies.delete(oldest.value)
      forgotten++
      return reply
    },
  }
}

const lastOf = (prompt: unknown): unknown => {
  const last: unknown = Array.isArray(prompt) ? prompt.at(-1) : prompt
  return Object(last).content ?? last
}

const forAnother = (reply: ChatReply, { onText }: ChatOptions): ChatReply => {
  onText?.(reply.text)
  return { ...reply, reused: true }
}

const isAborted = (error: unknown): boolean => Fault.is(error) && error.code === 'aborted'

/** Waits for another caller's answer, or until one's own signal is aborted. */
function waitFor<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Fault('aborted', 'aborted while waiting for a shared reply'))
    if (signal.aborted) return stop()
    const done = () => signal.removeEventListener('abort', stop)
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(done)
  })
}

/** The answer that another caller waits for; undefined where that one gave up. */
async function hearAnother(
  flight: Promise<ChatReply>,
  options: ChatOptions,
): Promise<ChatReply | undefined> {
  try {
    return forAnother(await waitFor(flight, options.signal), options)
  } catch (error) {
    if (isAborted(error) && !options.signal?.aborted) return undefined
    throw error
  }
}

/**
 * Wraps a model so that the same request is sent once. A caller that is aborted while others wait for its answer leaves
 * them to ask again.
 */
export function shareReplies<Prompt>(
  call: ModelCall<Prompt>,
  by: RoleModel,
  store: ReplyStore,
): ModelCall<Prompt> {
  const flights = new Map<string, Promise<ChatReply>>()
  const ask = async (prompt: Prompt, options: ChatOptions, request: StoredRequest) => {
    try {
      return store.keep(request, await call(prompt, options))
    } catch (error) {
      store.keepFault?.(request, error)
      throw error
    }
  }
  return async (prompt, options = {}) => {
    const key = requestKey(by, prompt, options)
    const request = { ...by, key, question: lastOf(prompt), prompt: options.prompt }
    for (;;) {
      const known = store.find(request)
      if (known) {
        options.onText?.(known.text)
        return known
      }
      const flight = flights.get(key)
      if (!flight) break
      const heard = await hearAnother(flight, options)
      if (heard) return heard
    }
    const flight = ask(prompt, options, request)
    flights.set(key, flight)
    const land = () => void flights.delete(key)
    flight.then(land, land)
    return flight
  }
}
