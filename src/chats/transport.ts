/**
 * The way to a model server: a `fetch` for the `openai` package over `node:http`.
 *
 * Its reason is cost and control: Node's own `fetch` takes several times the processor time of a request, has a limit of
 * its own on the body, and the package's time limit ends with the headers. Here one timer and one listener hold from the
 * request to the last byte, whatever the server does, and both are gone when the reply is there.
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import http from 'node:http'
import https from 'node:https'
import { type AttemptLimits, AttemptTimeout, OversizedReply } from './attempts.js'

const maxReplyBytes = 64 * 2 ** 20

/** Sockets that wait for the next request; without it most of many would be closed and opened again. */
const maxFreeSockets = 4096
/** How long a socket waits for the next request. */
const idleMs = 15_000

const agentOptions = { keepAlive: true, maxFreeSockets, timeout: idleMs } as const
let agents: { readonly http: http.Agent; readonly https: https.Agent } | undefined

/** Parsed addresses; a client has one or two. */
const targets = new Map<string, RequestOptions & { readonly secure: boolean }>()

function targetOf(address: string): RequestOptions & { readonly secure: boolean } {
  const known = targets.get(address)
  if (known) return known
  agents ??= { http: new http.Agent(agentOptions), https: new https.Agent(agentOptions) }
  const url = new URL(address)
  const secure = url.protocol === 'https:'
  const target = {
    ...{ secure, protocol: url.protocol, path: `${url.pathname}${url.search}` },
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    agent: secure ? agents.https : agents.http,
  }
  targets.set(address, target)
  return target
}

/** What the `openai` package reads of a response. */
const responseOf = (
  address: string,
  message: IncomingMessage,
  body: string | IncomingMessage,
): Response => {
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined) headers.set(name, String(value))
  const read = async () => (typeof body === 'string' ? body : '')
  // Only these members are read, which tests over the real package hold.
  return {
    ...{ ok: status >= 200 && status < 300, status, headers, url: address },
    text: read,
    json: async () => JSON.parse(await read()),
    body: typeof body === 'string' ? null : body,
  } as unknown as Response
}

/** One request from start to end, with its timer and its listener. */
class InFlight {
  readonly #limits: AttemptLimits
  readonly #reject: (error: Error) => void
  #timer: NodeJS.Timeout | undefined
  #destroy: (error: Error) => void = () => {}
  #ended = false

  constructor(limits: AttemptLimits, reject: (error: Error) => void) {
    this.#limits = limits
    this.#reject = reject
    const ms = Math.max(1, Math.round(limits.timeoutMs))
    this.#timer = setTimeout(() => this.fail(new AttemptTimeout(`no reply within ${ms} ms`)), ms)
    limits.signal?.addEventListener('abort', this.#abort, { once: true })
  }

  readonly #abort = (): void => this.fail(new Error('aborted'))

  /** What is to be destroyed if it fails: the request, or the body that is being read. */
  follow(stream: ClientRequest | IncomingMessage): void {
    this.#destroy = (error) => void stream.destroy(error)
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Takes away timer and listener. */
  end(): void {
    this.#ended = true
    clearTimeout(this.#timer)
    this.#limits.signal?.removeEventListener('abort', this.#abort)
  }

  /** Ends the request and its connection; a body that is being read ends with the same error. */
  fail(error: Error): void {
    if (this.#ended) return
    this.end()
    this.#destroy(error)
    this.#reject(error)
  }
}

function collectText(message: IncomingMessage, flight: InFlight, done: (text: string) => void) {
  const chunks: Buffer[] = []
  let size = 0
  message.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxReplyBytes)
      flight.fail(new OversizedReply(`a reply of more than ${maxReplyBytes} bytes`))
    else chunks.push(chunk)
  })
  message.on('end', () => {
    if (flight.ended) return
    flight.end()
    done(chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString())
  })
}

/** Whether a kept connection was closed by the server just as the request went out. */
const isStaleSocket = (request: ClientRequest, error: NodeJS.ErrnoException): boolean =>
  request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** The body of an error in the form that the package reads, of which some servers have another. */
function errorBody(text: string): string {
  try {
    const { error, detail, message }: Record<string, unknown> = Object(JSON.parse(text))
    const said = detail ?? message
    if (error !== undefined || said === undefined) return text
    return JSON.stringify({
      error: { message: typeof said === 'string' ? said : JSON.stringify(said) },
    })
  } catch {
    return text
  }
}

interface Sent {
  readonly secure: boolean
  readonly options: RequestOptions
  readonly body: string
}

function sentOf(address: string, { method = 'GET', headers, body }: RequestInit): Sent {
  const { secure, ...target } = targetOf(address)
  const text = typeof body === 'string' ? body : ''
  const fields = {
    ...Object.fromEntries(headers instanceof Headers ? headers : new Headers(headers)),
    'content-length': Buffer.byteLength(text),
  }
  return { secure, options: { ...target, method, headers: fields }, body: text }
}

/** Opens a request; once more where its connection turns out to be closed. */
function open(
  { secure, options, body }: Sent,
  flight: InFlight,
  onResponse: (message: IncomingMessage) => void,
  again = true,
): void {
  const request = (secure ? https : http).request(options)
  flight.follow(request)
  let answered = false
  request.on('error', (error) => {
    if (flight.ended) return
    if (!again || answered || !isStaleSocket(request, error)) return flight.fail(error)
    open({ secure, options, body }, flight, onResponse, false)
  })
  request.on('response', (message) => {
    answered = true
    message.on('error', (error) => flight.fail(error))
    onResponse(message)
  })
  request.end(body)
}

/** Sends one request; the promise is settled when the whole reply is there, or the headers of a stream. */
function send(
  address: string,
  init: RequestInit,
  limits: AttemptLimits,
  streamed: boolean,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const flight = new InFlight(limits, reject)
    if (limits.signal?.aborted) return flight.fail(new Error('aborted'))
    try {
      open(sentOf(address, init), flight, (message) => {
        if (!streamed || message.statusCode !== 200)
          return collectText(message, flight, (all) => {
            const failed = (message.statusCode ?? 0) >= 400
            resolve(responseOf(address, message, failed ? errorBody(all) : all))
          })
        flight.follow(message)
        message.on('close', () => flight.end())
        resolve(responseOf(address, message, message))
      })
    } catch (error) {
      flight.fail(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

/** How a request's limits travel through the `openai` package, which hands these options on. */
export interface TransportInit extends RequestInit {
  readonly attempt?: AttemptLimits
  readonly streamed?: boolean
}

/** The `fetch` of a client; a request that names no limits has a minute. */
export const transport = (address: string | URL | Request, init: TransportInit = {}) =>
  send(String(address), init, init.attempt ?? { timeoutMs: 60_000 }, init.streamed ?? false)
