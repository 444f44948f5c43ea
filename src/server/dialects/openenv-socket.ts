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
import type { ServerSession } from '../session.js'
import { answerRpc, openEnvStep, type RpcSession, resetOptions, wireStep } from './openenv-wire.js'

/** How clients write a step: it waits for its turn before it is read. A reset may wait for a place, and never in turn. */
const stepFrame = /^\{"type": ?"step"/

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
  /** Absent before the first reset. */
  id?: string
  /** Whether the session was opened elsewhere and named in the address: it outlives the connection. */
  readonly borrowed: boolean
  episode: string | null
}

async function closeSession(service: Service, connection: Connection): Promise<void> {
  const { id, borrowed } = connection
  delete connection.id
  if (id !== undefined && !borrowed) await service.sessions.close(id)
}

/** The session of a connection. */
function current({ sessions }: Service, { id }: Connection): ServerSession {
  if (id !== undefined) return sessions.find(id)
  throw new Refusal('conflict', 'Expected a reset before this request')
}

async function reset(service: Service, connection: Connection, data: unknown, gone: AbortSignal) {
  const options = readBody(resetOptions, data ?? {}, 'arguments of reset')
  const { episode_id: episode = null, ...rest } = options
  const opening = { abandoned: gone }
  const { id } = connection
  if (id !== undefined) await service.reopen(id, rest, opening)
  else connection.id = (await service.open(rest, opening)).id
  connection.episode = episode
  return wireStep(current(service, connection).last)
}

/** The connection's session, as tool calls reach it. */
function rpcSession(service: Service, connection: Connection, gone: AbortSignal): RpcSession {
  return {
    find: () => current(service, connection),
    open: async (params) => {
      await reset(service, connection, params, gone)
      return connection.id ?? ''
    },
    close: async () => {
      await closeSession(service, connection)
      return true
    },
  }
}

/** The reply to one request; undefined for one that has none. */
async function answer(
  service: Service,
  connection: Connection,
  text: string,
  gone: AbortSignal,
  types = ['reset', 'step', 'state', 'mcp', 'close'],
): Promise<object | undefined> {
  if (text.length > service.longestBody)
    throw new Refusal(
      'too-large',
      `Expected at most ${service.longestBody} characters in a request`,
    )
  const { type, data } = readBody(frame, parseJson(text), 'a request')
  if (!types.includes(type))
    throw new Refusal('not-found', `Expected ${types.join(' or ')}, got \`${type.slice(0, 80)}\``)
  switch (type) {
    case 'reset':
      return { type: 'observation', data: await reset(service, connection, data, gone) }
    case 'step': {
      const session = current(service, connection)
      return { type: 'observation', data: await openEnvStep(service, session, data) }
    }
    case 'state': {
      const { id, episode } = connection
      const step_count = id === undefined ? 0 : current(service, connection).actions.length
      return { type: 'state', data: { episode_id: episode, step_count } }
    }
    case 'mcp': {
      const session = rpcSession(service, connection, gone)
      return { type: 'mcp', data: (await answerRpc(service, data, session)) ?? {} }
    }
    default:
      return undefined // close
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

/**
 * Serves one connection until it closes.
 * @param named the id of a session that was opened before, if the address names one
 */
export function serveOpenEnvSocket(socket: WebSocket, service: Service, named?: string): void {
  const connection: Connection = {
    ...(named === undefined ? {} : { id: named }),
    borrowed: named !== undefined,
    episode: null,
  }
  const gone = new AbortController()
  let turn = Promise.resolve()
  let waiting = 0

  const respond = async (text: string): Promise<void> => {
    let reply: object | undefined
    try {
      reply = await (stepFrame.test(text)
        ? service.inTurn((now) => answer(now, connection, text, gone.signal, ['step']))
        : answer(service, connection, text, gone.signal))
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
