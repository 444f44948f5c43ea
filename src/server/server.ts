/**
 * `bedside serve`: consultations over HTTP and WebSocket. One process, many sessions; loopback and a token by default;
 * every size is bounded. Each dialect is a file.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { type WebSocket, WebSocketServer } from 'ws'
import { type FileCases, openConsultations } from './consultations.js'
import { dialectNames, type ServerDialect } from './dialect-names.js'
import { addNemo } from './dialects/nemo.js'
import { addOpenEnv } from './dialects/openenv.js'
import { serveOpenEnvSocket } from './dialects/openenv-socket.js'
import { addOrs } from './dialects/ors.js'
import { addPlain } from './dialects/plain.js'
import { addTasks } from './dialects/tasks.js'
import { failureReply } from './http.js'
import { openMetrics } from './metrics.js'
import { Refusal, refusalBody } from './refusal.js'
import { makeService, type Service } from './service.js'
import { openSessions, type SessionBounds } from './sessions.js'
import { tokenCheck } from './token.js'

/** Options of {@link startServer}. */
export interface ServerOptions extends SessionBounds {
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 takes a free one. @default 0 */
  readonly port?: number
  /** What clients must show; none is for loopback only. @default none */
  readonly token?: string
  /** @default all */
  readonly dialects?: readonly ServerDialect[]
  /** Cases of a file. @default generated ones */
  readonly cases?: FileCases
  /** Characters of the longest request. @default 65,536 */
  readonly longestBody?: number
  /** Seconds that a step may take. @default 50 */
  readonly deadlineSeconds?: number
  readonly version?: string
  /** Hears what failed inside. */
  readonly onError?: (error: unknown) => void
}

/** A server that listens. */
export interface RunningServer extends AsyncDisposable {
  readonly address: string
  readonly port: number
  readonly service: Service
  /** Takes no more sessions, ends those there are after `graceSeconds` at most (@default 0), and closes. */
  close(options?: { readonly graceSeconds?: number }): Promise<void>
}

/** Frames larger than this close their connection; a request's own bound is refused with a reason. */
const largestFrame = 8 * 1024 * 1024

const isLoopback = (host: string): boolean => /^(?:127\.|localhost$|::1$|\[::1\]$)/.test(host)

/** The HTTP side of a server. */
function makeApp(
  service: Service,
  dialects: readonly ServerDialect[],
  onError: (e: unknown) => void,
) {
  const { metrics, sessions, version } = service
  const app = new Hono()
  app.get('/healthz', (c) => c.json({ status: 'healthy', version, ...sessions.counts }))
  app.get('/metrics', async (c) => c.text(await metrics.text()))
  if (dialects.includes('plain')) addPlain(app, service)
  const has = (name: ServerDialect) => dialects.includes(name)
  if (has('nemo-gym')) addNemo(app, service, !has('openenv'))
  if (has('openenv')) addOpenEnv(app, service)
  if (has('openenv') || has('ors')) addTasks(app, service)
  if (has('ors')) addOrs(app, service)
  app.notFound((c) =>
    failureReply(
      c,
      new Refusal(
        'not-found',
        `Expected a route of /openapi.json, got \`${c.req.path.slice(0, 80)}\``,
      ),
    ),
  )
  app.onError((error, c) => {
    metrics.refused(error instanceof Refusal ? error.code : 'error')
    if (!(error instanceof Refusal)) onError(error)
    return failureReply(c, error)
  })
  return app
}

/** Routes that anybody may ask: whether the server is there. */
const isOpen = (url: string): boolean => /^\/health(?:z)?$/.test(url)

const denial = JSON.stringify(
  refusalBody(
    new Refusal(
      'unauthorised',
      'Expected the token of the server, as `Authorization: Bearer TOKEN`, as `X-API-Key`, or in the address: http://HOST:PORT/t/TOKEN',
    ),
  ),
)

/** Answers a WebSocket handshake of a stranger. */
function denySocket(socket: Duplex): void {
  socket.end(
    `HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: ${denial.length}\r\nConnection: close\r\n\r\n${denial}`,
  )
}

/** Passes handshakes for `/ws` on to the dialect. */
function acceptSockets(server: Server, service: Service, known: (r: IncomingMessage) => boolean) {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestFrame })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (!known(request)) return denySocket(socket)
    if (!/^\/ws(?:$|\?)/.test(request.url ?? '')) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const named = new URL(request.url ?? '', 'ws://server').searchParams.get('session_id')
    sockets.handleUpgrade(request, socket, head, (open: WebSocket) =>
      serveOpenEnvSocket(open, service, named ?? undefined),
    )
  })
  return sockets
}

/** Begins to listen. Returns the port. */
async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return (server.address() as AddressInfo).port // of a server that listens on a port
}

/** Ends a server; connections that are busy have two seconds. */
async function endConnections(server: Server): Promise<void> {
  server.closeIdleConnections()
  await new Promise((resolve) => {
    server.close(resolve)
    setTimeout(() => server.closeAllConnections(), 2000).unref()
  })
}

/**
 * Starts a server of consultations.
 * @throws RangeError for a host beyond loopback without a token
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, token, version = '0', onError = () => {} } = options
  const { dialects = dialectNames, longestBody = 65_536, deadlineSeconds = 50 } = options
  if (token === undefined && !isLoopback(host))
    throw new RangeError(`Expected a token for the host ${host}: it can be reached from elsewhere`)
  const consultations = openConsultations(options.cases)
  const sessions = openSessions(consultations, options)
  const metrics = openMetrics(sessions)
  const service = makeService({
    ...{ consultations, sessions, metrics, version, longestBody, deadlineSeconds },
  })
  const listener = getRequestListener(makeApp(service, dialects, onError).fetch)
  const known = tokenCheck(token)
  const server = createServer((request, response) => {
    if (known(request) || isOpen(request.url ?? '')) return void listener(request, response)
    metrics.refused('unauthorised')
    response.writeHead(401, { 'content-type': 'application/json' }).end(denial)
  })
  const sockets = dialects.includes('openenv') ? acceptSockets(server, service, known) : undefined
  const bound = await listen(server, port, host)
  const close = async ({ graceSeconds = 0 } = {}): Promise<void> => {
    await sessions.drain(graceSeconds)
    for (const socket of sockets?.clients ?? []) socket.close(1001, 'The server ends')
    sockets?.close()
    await endConnections(server)
  }
  return {
    ...{
      address: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
      port: bound,
      service,
      close,
    },
    [Symbol.asyncDispose]: () => close(),
  }
}
