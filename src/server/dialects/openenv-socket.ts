/**
 * OpenEnv's WebSocket: one connection is one session. Each request has exactly one reply, in order, and every reply
 * comes before the client's own deadline of 60 s: a late one would be taken for the answer to the next request.
 */
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { parseJson } from '../http.js'
import { readBody } from '../options.js'
import { Refusal, type RefusalCode } from '../refusal.js'
import type { Service } from '../service.js'
import type { Session } from '../session.js'
import { answerRpc, openEnvStep, resetOptions, wireStep } from './openenv-wire.js'

const frame = z.object({ type: z.string(), data: z.unknown().optional() })

/** Requests of one connection that may wait; a client that sends more does not read its replies. */
const mostWaiting = 64

/** OpenEnv's name for a refusal. */
const codeOf = (code: RefusalCode): string =>
  ({ 'bad-request': 'VALIDATION_ERROR', capacity: 'CAPACITY_REACHED', draining: 'SESSION_ERROR' })[
    code as string
  ] ?? 'EXECUTION_ERROR'

/** The session of a connection. */
interface Connection {
  session?: { readonly id: string; readonly session: Session; readonly episode: string | null }
}

async function closeSession(service: Service, connection: Connection): Promise<void> {
  const { session } = connection
  delete connection.session
  if (session) await service.sessions.close(session.id)
}

/** The session of a connection, touched so that it does not count as idle. */
function current({ sessions }: Service, { session }: Connection): Session {
  if (session) return sessions.find(session.id)
  throw new Refusal('conflict', 'Expected a reset before this request')
}

async function reset(service: Service, connection: Connection, data: unknown, gone: AbortSignal) {
  const options = readBody(resetOptions, data ?? {}, 'arguments of reset')
  const { episode_id: episode = null, ...rest } = options
  await closeSession(service, connection)
  const { id, session } = await service.open(rest, { abandoned: gone })
  connection.session = { id, session, episode }
  return wireStep(session.last)
}

/** The reply to one request; undefined for one that has none. */
async function answer(
  service: Service,
  connection: Connection,
  text: string,
  gone: AbortSignal,
): Promise<object | undefined> {
  if (text.length > service.longestBody)
    throw new Refusal(
      'too-large',
      `Expected at most ${service.longestBody} characters in a request`,
    )
  const { type, data } = readBody(frame, parseJson(text), 'a request')
  switch (type) {
    case 'reset':
      return { type: 'observation', data: await reset(service, connection, data, gone) }
    case 'step': {
      const session = current(service, connection)
      return { type: 'observation', data: await openEnvStep(service, session, data) }
    }
    case 'state': {
      const { episode = null, session } = connection.session ?? {}
      const step_count = session?.actions.length ?? 0
      return { type: 'state', data: { episode_id: episode, step_count } }
    }
    case 'mcp': {
      const find = () => current(service, connection)
      const open = async (params: object) => {
        await reset(service, connection, params, gone)
        return connection.session?.id ?? ''
      }
      const close = async () => {
        await closeSession(service, connection)
        return true
      }
      return { type: 'mcp', data: (await answerRpc(service, data, { find, open, close })) ?? {} }
    }
    case 'close':
      return undefined
    default:
      throw new Refusal(
        'not-found',
        `Expected reset, step, state, mcp or close, got \`${type.slice(0, 80)}\``,
      )
  }
}

/** The error frame of what a request threw. */
function errorFrame(error: unknown, text: string): object {
  if (!(error instanceof Refusal))
    return {
      type: 'error',
      data: { message: 'The server failed at this request', code: 'EXECUTION_ERROR' },
    }
  const { code, message, details } = error
  const named = code === 'not-found' && !text.includes('"mcp"') ? 'UNKNOWN_TYPE' : codeOf(code)
  const invalid = code === 'bad-request' && message.startsWith('Expected JSON')
  return { type: 'error', data: { message, code: invalid ? 'INVALID_JSON' : named, ...details } }
}

/** Serves one connection until it closes. */
export function serveOpenEnvSocket(socket: WebSocket, service: Service): void {
  const connection: Connection = {}
  const gone = new AbortController()
  let turn = Promise.resolve()
  let waiting = 0

  const respond = async (text: string): Promise<void> => {
    let reply: object | undefined
    try {
      reply = await answer(service, connection, text, gone.signal)
    } catch (error) {
      service.metrics.refused(error instanceof Refusal ? error.code : 'error')
      reply = errorFrame(error, text)
    }
    waiting--
    if (reply) socket.send(JSON.stringify(reply))
    else socket.close(1000)
  }

  socket.on('message', (data, binary) => {
    if (++waiting > mostWaiting)
      return socket.close(1008, 'Too many requests wait for their replies')
    const text = binary ? '' : data.toString()
    turn = turn.then(() => (gone.signal.aborted ? undefined : respond(text)))
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    gone.abort(new Refusal('session-gone', 'The client has gone'))
    turn = turn.then(() => closeSession(service, connection))
  })
}
