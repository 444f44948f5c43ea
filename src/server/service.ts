/** What every dialect of a server stands on: sessions, their steps under a deadline, and the counts. */
import { setMaxListeners } from 'node:events'
import { firstCome } from '../platform/first-come.js'
import type { ChatTokenizer } from '../trainers/tokens/chat-tokenizer.js'
import type { DrawnIds } from '../trainers/tokens/token-session.js'
import type { WireAction } from './action.js'
import type { Consultations } from './consultations.js'
import type { Metrics } from './metrics.js'
import type { SessionOptions } from './options.js'
import type { ServerSession, SessionReply } from './session.js'
import type { OpenSession, SessionStart, Sessions } from './sessions.js'
import { startTokenPlay, type TokenLimits, type TokenPlay } from './token-play.js'

/** How a session begins. */
export interface Opening extends Pick<SessionStart, 'id'> {
  /** Actions of an earlier session, taken again. @default none */
  readonly actions?: readonly WireAction[]
  /** Fires when the client has gone. */
  readonly abandoned?: AbortSignal
}

/** The inside of a server. */
export interface Service {
  readonly consultations: Consultations
  readonly sessions: Sessions
  readonly metrics: Metrics
  readonly version: string
  /** Characters of the longest request. */
  readonly longestBody: number
  /** Opens a session. */
  open(options: SessionOptions, given?: Opening): Promise<OpenSession>
  /** Begins another consultation under the id of a session. */
  reopen(id: string, options: SessionOptions, given?: Opening): Promise<ServerSession>
  /** Opens a session in tokens. @throws Refusal `not-found` where the server has no tokenizer */
  openTokens(
    options: SessionOptions,
    limits: TokenLimits,
    draws: readonly DrawnIds[],
  ): Promise<OpenSession<TokenPlay>>
  /** A signal that fires when what begins now has taken too long. */
  readonly deadline: () => AbortSignal
  /**
   * Does `work` when its turn has come among the steps of the server; the step that it takes by the service given to it
   * does not wait again. What waits should be little: it outlives the collector's young generation.
   */
  inTurn<T>(work: (now: Service) => Promise<T>): Promise<T>
  /** Takes one action within the deadline, when its turn has come. */
  step(session: ServerSession, action: WireAction, index?: number): Promise<SessionReply>
}

/** Milliseconds in which steps share a deadline: a signal of its own would cost each a timer and a finaliser. */
const sharedMs = 500

/** Makes signals that fire after some seconds at most, and half a second less at least. */
function sharedDeadlines(seconds: number): () => AbortSignal {
  let since = Number.NEGATIVE_INFINITY
  let signal: AbortSignal | undefined
  return () => {
    const now = performance.now()
    if (signal && now - since < Math.min(sharedMs, seconds * 100)) return signal
    since = now
    signal = AbortSignal.timeout(seconds * 1000)
    // As many as there are steps under way.
    setMaxListeners(0, signal)
    return signal
  }
}

/** Makes the call that takes a step which came now: the time that it waits for its turn counts. */
function stepOfNow(metrics: Metrics, signal: AbortSignal): Service['step'] {
  const started = performance.now()
  return async (session, action, index) => {
    const reply = await session.step(action, { index, signal })
    metrics.stepped((performance.now() - started) / 1000)
    return reply
  }
}

/** Makes the inside of a server. Long because its methods share the deadlines, the sessions and the queue of steps. */
export function makeService({
  deadlineSeconds,
  tokenizer,
  stepsAtOnce,
  ...given
}: Pick<Service, 'consultations' | 'sessions' | 'metrics' | 'version' | 'longestBody'> & {
  /** Of a step; below the 60 s after which official clients give up. */
  readonly deadlineSeconds: number
  readonly stepsAtOnce: number
  /** Of sessions in tokens. @default none */
  readonly tokenizer?: ChatTokenizer | undefined
}): Service {
  const { sessions, metrics } = given
  const deadline = sharedDeadlines(deadlineSeconds)
  const inOrder = firstCome(stepsAtOnce)
  const start = (options: SessionOptions, given: Opening): SessionStart => {
    const { id, actions = [], abandoned } = given
    const signal = abandoned ? AbortSignal.any([deadline(), abandoned]) : deadline()
    return { id, options, actions, signal }
  }
  const service: Service = {
    ...given,
    deadline,
    async openTokens(options, limits, draws) {
      const signal = deadline()
      const beginning = { options, limits, draws, signal }
      const begin = () => startTokenPlay(given.consultations, tokenizer, beginning)
      return sessions.openTokens(begin, signal)
    },
    open: (options, opening = {}) => sessions.open(start(options, opening)),
    reopen: (id, options, opening = {}) => sessions.reopen(id, start(options, opening)),
    inTurn(work) {
      const now = stepOfNow(metrics, deadline())
      return inOrder(() => work({ ...service, step: now }))
    },
    step(session, action, index) {
      const now = stepOfNow(metrics, deadline())
      return inOrder(() => now(session, action, index))
    },
  }
  return service
}
