/** One HTTP exchange with a server of the wire, and what its refusals mean. */
import { Fault, type FaultCode } from '../../error.js'
import { wholeMessage } from '../../platform/retry.js'

/** Where a server is and how it is spoken to. */
export interface Transport {
  /** Without a slash at the end, as it may be printed. */
  readonly address: string
  readonly token: string
  /** For one attempt, from the request to the last byte of the reply, in ms. */
  readonly timeoutMs: number
  /** Attempts after the first, in a row, before a server is given up. */
  readonly maxRetries: number
  /** The wait before the first retry, in ms; doubles each time up to 30 s. */
  readonly backoffMs: number
  /** Aborted with the reason when the server is known to be gone, or the service was closed. */
  readonly closing: AbortSignal
  /** A number that no caller before had: sets the waits of those who fail together apart. */
  readonly nextKey: () => number
}

export interface Reply {
  readonly protobuf: boolean
  readonly bytes: Uint8Array
}

/** An HTTP status that is no success. */
export class Refusal extends Error {
  readonly status: number
  /** What the server asks to wait, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, words: string, retryAfterMs: number | undefined) {
    super(`${status}${words && `: ${words}`}`)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** The address as it may be printed. @throws Fault `bad-input` when it is none, or carries credentials */
export function serverAddress(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url?.username || url?.password)
    throw new Fault(
      'bad-input',
      `Expected a server's address without credentials (the token belongs in the environment), got one for \`${url.host}\``,
    )
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Fault('bad-input', `Expected an http(s) address of a server, got \`${baseUrl}\``)
  return `${url.origin}${url.pathname}`.replace(/\/$/, '')
}

/** What a server says is wrong, of the shapes that servers say it in. */
export function wordsOf(text: string): string {
  let said: unknown = text
  try {
    const body = Object(JSON.parse(text))
    said = body.detail ?? body.error ?? body.message ?? text
  } catch {
    // Not JSON: its text is what it says.
  }
  return (typeof said === 'string' ? said : JSON.stringify(said)).trim().slice(0, 500)
}

function retryAfter(headers: Headers): number | undefined {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  const asked = Number.isFinite(ms)
    ? ms
    : Number.parseFloat(headers.get('retry-after') ?? '') * 1000
  return Number.isFinite(asked) && asked >= 0 ? asked : undefined
}

/** One request. @throws Refusal for a status that is no success, or fetch's own error */
export async function exchange(
  { address, token }: Transport,
  route: string,
  request: {
    readonly body?: Uint8Array
    readonly headers?: Readonly<Record<string, string>>
    readonly signal: AbortSignal
  },
): Promise<Reply> {
  const { body, headers, signal } = request
  const response = await fetch(`${address}${route}`, {
    method: body ? 'POST' : 'GET',
    // The token must not follow to wherever a server sends us.
    redirect: 'manual',
    headers: { 'X-API-Key': token, ...headers },
    ...(body ? { body } : {}),
    signal,
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!response.ok)
    throw new Refusal(
      response.status,
      wordsOf(new TextDecoder().decode(bytes)),
      retryAfter(response.headers),
    )
  const type = response.headers.get('content-type') ?? ''
  return { protobuf: type.includes('application/x-protobuf'), bytes }
}

/** What a status means to a caller: the request is wrong, the weights are gone, or the server cannot. */
function codeOf(status: number): FaultCode {
  // Of a model that is not there any more, or whose sequence is not the one we think.
  if (status === 404 || status === 409) return 'backend-lost'
  return [400, 401, 403, 413, 415, 422].includes(status) ? 'bad-input' : 'model-unavailable'
}

/** An error of a request as a Fault that names method, route, status and the server's words, and never the token. */
export function requestFault(transport: Transport, what: string, error: unknown): Fault {
  const { address, token, closing } = transport
  if (closing.aborted && Fault.is(closing.reason)) return closing.reason
  if (Fault.is(error)) return error
  const message = wholeMessage(error).replaceAll(token, '[token]')
  const status = error instanceof Refusal ? error.status : undefined
  const hint =
    status === 401 || status === 403 ? ' (the token is not the one this server wants)' : ''
  // No `cause`: a server may echo the token in its message.
  return new Fault(
    status === undefined ? 'model-unavailable' : codeOf(status),
    `${what.replace(' ', ` ${address}`)}: ${message}${hint}`,
  )
}
