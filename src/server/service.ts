/** What every dialect of a server stands on: sessions, their steps under a deadline, and the counts. */
import type { WireAction } from './action.js'
import type { Consultations } from './consultations.js'
import type { Metrics } from './metrics.js'
import type { SessionOptions } from './options.js'
import type { Session, SessionReply } from './session.js'
import type { OpenSession, Sessions } from './sessions.js'

/** The inside of a server. */
export interface Service {
  readonly consultations: Consultations
  readonly sessions: Sessions
  readonly metrics: Metrics
  readonly version: string
  /** Characters of the longest request. */
  readonly longestBody: number
  /** Opens a session; `abandoned` fires when the client has gone. */
  open(
    options: SessionOptions,
    given?: { readonly actions?: readonly WireAction[]; readonly abandoned?: AbortSignal },
  ): Promise<OpenSession>
  /** Takes one action within the deadline. */
  step(session: Session, action: WireAction, index?: number): Promise<SessionReply>
}

/** Makes the inside of a server. */
export function makeService({
  deadlineSeconds,
  ...given
}: Pick<Service, 'consultations' | 'sessions' | 'metrics' | 'version' | 'longestBody'> & {
  /** Of a step; below the 60 s after which official clients give up. */
  readonly deadlineSeconds: number
}): Service {
  const { sessions, metrics } = given
  const deadline = () => AbortSignal.timeout(deadlineSeconds * 1000)
  return {
    ...given,
    open(options, { actions, abandoned } = {}) {
      const signal = abandoned ? AbortSignal.any([deadline(), abandoned]) : deadline()
      return sessions.open({ options, signal, ...(actions ? { actions } : {}) })
    },
    async step(session, action, index) {
      const started = performance.now()
      const reply = await session.step(action, { index, signal: deadline() })
      metrics.stepped((performance.now() - started) / 1000)
      return reply
    },
  }
}
