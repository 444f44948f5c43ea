/**
 * `bedside serve`: consultations over HTTP and WebSocket. One process, many sessions; loopback and a token by default;
 * every size is bounded. Each dialect is a file.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, ListenOptions } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { type WebSocket, WebSocketServer } from 'ws'
import { packageVersion } from '../platform/package-root.js'
import type { ChatTokenizer } from '../trainers/tokens/chat-tokenizer.js'
import { type Consultations, type FileCases, openConsultations } from './consultations.js'
import { dialectNames, type ServerDialect } from './dialect-names.js'
import { addAdvantages } from './dialects/advantages.js'
import { addNemo } from './dialects/nemo.js'
import { addOpenEnv } from './dialects/openenv.js'
import { serveOpenEnvSocket } from './dialects/openenv-socket.js'
import { addOrs } from './dialects/ors.js'
import { addPlain } from './dialects/plain.js'
import { addTasks } from './dialects/tasks.js'
import { addTokens } from './dialects/tokens.js'
import { failureReply } from './http.js'
import { type MetricData, openMetrics } from './metrics.js'
import { askPeers, passOn, passOnSocket, peerCheck, type WorkerPlace } from './peers.js'
import { Refusal, refusalBody } from './refusal.js'
import { makeService, type Service } from './service.js'
import { Elsewhere, openSessions, type SessionBounds, type Sessions } from './sessions.js'
import { tokenCheck } from './token.js'

/** Options of {@link startServer}. */
export interface ServerOptions extends Omit<SessionBounds, 'worker'> {
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
  /** Opens envs of one's own, in place of all that clients may choose. @default `openConsultations(cases)` */
  readonly consultations?: Consultations
  /**
   * Steps under way at once; the others wait in the order in which they came. Steps of rule patients are work for one
   * processor, so that more would only make the first wait for the last. @default 8, without a bound for one's own envs
   */
  readonly stepsAtOnce?: number
  /** Characters of the longest request. @default 65,536 */
  readonly longestBody?: number
  /** Seconds that a step may take. @default 50 */
  readonly deadlineSeconds?: number
  /** @default the package's */
  readonly version?: string
  /** Of sessions in tokens. @default none: they are refused */
  readonly tokenizer?: ChatTokenizer
  /** Where this process is among several that serve one port. @default alone */
  readonly place?: WorkerPlace
  /** Hears what failed inside. */
  readonly onError?: (error: unknown) => void
}

/** A server that listens. */
export interface RunningServer extends AsyncDisposable {
  readonly address: string
  readonly port: number
  readonly service: Service
  /** Address of the door for the other processes, where there are several. */
  readonly inner?: string
  /** Takes no more sessions, ends those there are after `graceSeconds` at most (@default 0), and closes. */
  close(options?: { readonly graceSeconds?: number }): Promise<void>
}

/** Frames larger than this close their connection; a request's own bound is refused with a reason. */
const largestFrame = 8 * 1024 * 1024

const isLoopback = (host: string): boolean => /^(?:127\.|localhost$|::1$|\[::1\]$)/.test(host)

/** Route of the inner door: the counts of one process. */
const countsRoute = '/worker/counts'

/** What a process tells another of itself. */
interface PeerCounts {
  readonly counts: Sessions['counts']
  readonly metrics: MetricData
}

/** Adds the routes that say how the server is: all its processes together. */
function addHealth(app: Hono, { metrics, sessions, version }: Service, place?: WorkerPlace): void {
  const others = async () =>
    place ? ((await askPeers(place, countsRoute)) as readonly PeerCounts[]) : [] // of the route below
  app.get('/healthz', async (c) => {
    const { open, waiting, opened, reaped } = sessions.counts
    const sum = { open, waiting, opened, reaped }
    for (const { counts } of await others())
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += counts[name]
    return c.json({ status: 'healthy', version, ...sum })
  })
  app.get('/metrics', async (c) =>
    c.text(await metrics.text((await others()).map((one) => one.metrics))),
  )
  if (!place) return
  const isPeer = peerCheck(place)
  app.get(countsRoute, async (c) => {
    if (!isPeer({ headers: c.req.header() })) return c.notFound()
    return c.json({ counts: sessions.counts, metrics: await metrics.data() } satisfies PeerCounts)
  })
}

/** The HTTP side of a server. */
function makeApp(
  service: Service,
  { dialects = dialectNames, onError = () => {}, place }: ServerOptions,
) {
  const { metrics } = service
  const app = new Hono()
  const has = (name: ServerDialect) => dialects.includes(name)
  addHealth(app, service, place)
  if (has('plain')) {
    addPlain(app, service)
    addTokens(app, service)
    addAdvantages(app)
  }
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
  const fail = (c: Context, error: unknown): Response => {
    metrics.refused(error instanceof Refusal ? error.code : 'error')
    if (!(error instanceof Refusal)) onError(error)
    return failureReply(c, error)
  }
  app.onError((error, c) => {
    if (!(error instanceof Elsewhere && place)) return fail(c, error)
    return passOn(c, place, error.worker).catch((reason: unknown) => fail(c, reason))
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

/** Passes handshakes for `/ws` on to the dialect, or to the process that has the session. */
function acceptSockets(service: Service, place?: WorkerPlace) {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestFrame })
  const accept = (server: Server, known: (r: IncomingMessage) => boolean): void => {
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      if (!known(request)) return denySocket(socket)
      if (!/^\/ws(?:$|\?)/.test(request.url ?? '')) {
        socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
        return
      }
      const named = new URL(request.url ?? '', 'ws://server').searchParams.get('session_id')
      const to = named === null ? undefined : service.sessions.elsewhere(named)
      if (place && to !== undefined) return passOnSocket(request, socket, head, { place, to })
      sockets.handleUpgrade(request, socket, head, (open: WebSocket) =>
        serveOpenEnvSocket(open, service, named ?? undefined),
      )
    })
  }
  return { sockets, accept }
}

/**
 * Connections that may wait to be accepted, as many as systems allow by default. With Node's 511 a thousand clients that
 * come at once find no room: the kernel drops the last step of their handshakes, and resets them a minute later.
 */
const backlog = 4096

/**
 * Milliseconds that a connection which nobody uses stays open: longer than clients keep one. With Node's 5 s, one that
 * was about to use it met a reset where the machine was busy.
 */
const keepAliveMs = 75_000

/** Begins to listen. Returns the port. */
async function listen(server: Server, where: ListenOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...where, backlog }, resolve)
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

/** The inside of a server. */
function openService(options: ServerOptions): Service {
  const {
    version = packageVersion(),
    longestBody = 65_536,
    deadlineSeconds = 50,
    place,
    tokenizer,
  } = options
  const { consultations = openConsultations(options.cases) } = options
  const bounds = { ...options, ...(place && { worker: place.number }) }
  const sessions = openSessions(consultations, bounds)
  const metrics = openMetrics(sessions)
  return makeService({
    ...{ consultations, sessions, metrics, version, longestBody, deadlineSeconds, tokenizer },
    stepsAtOnce: options.stepsAtOnce ?? (options.consultations ? Number.POSITIVE_INFINITY : 8),
  })
}

/** @throws RangeError for a host beyond loopback without a token */
export function checkHost({ host = '127.0.0.1', token }: ServerOptions): void {
  if (token === undefined && !isLoopback(host))
    throw new RangeError(`Expected a token for the host ${host}: it can be reached from elsewhere`)
}

/**
 * Starts a server of consultations.
 * @throws RangeError for a host beyond loopback without a token
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, token, place, dialects = dialectNames } = options
  checkHost(options)
  const service = openService(options)
  const { metrics, sessions } = service
  const listener = getRequestListener(makeApp(service, options).fetch)
  const { sockets, accept } = acceptSockets(service, place)
  const serverFor = (known: (r: IncomingMessage) => boolean, open: (url: string) => boolean) => {
    const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
      if (known(request) || open(request.url ?? '')) return void listener(request, response)
      metrics.refused('unauthorised')
      response.writeHead(401, { 'content-type': 'application/json' }).end(denial)
    })
    if (dialects.includes('openenv')) accept(server, known)
    return server
  }
  const outer = serverFor(tokenCheck(token), isOpen)
  const bound = await listen(outer, { port, host })
  // Of this process alone: the port that clients know is shared.
  const inner = place && serverFor(peerCheck(place), () => false)
  const door = inner && (await listen(inner, { port: 0, host: '127.0.0.1', exclusive: true }))
  const close = async ({ graceSeconds = 0 } = {}): Promise<void> => {
    await sessions.drain(graceSeconds)
    for (const socket of sockets.clients) socket.close(1001, 'The server ends')
    sockets.close()
    await Promise.all([outer, ...(inner ? [inner] : [])].map(endConnections))
  }
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    ...(door === undefined ? {} : { inner: `http://127.0.0.1:${door}` }),
    ...{ port: bound, service, close },
    [Symbol.asyncDispose]: () => close(),
  }
}
