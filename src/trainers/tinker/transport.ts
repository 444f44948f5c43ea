/** HTTP transport of the Tinker wire: requests, their retries, and the Faults that error statuses become. */
import { Fault, type FaultCode } from '../../error.js'
import { fullErrorMessage, type RetryOptions, retry } from '../../platform/retry.js'

/** Address, token and retry settings of a server. */
export interface Transport {
  /** Without a trailing slash and without credentials, so it may be printed. */
  readonly address: string
  readonly token: string
  /** Deadline of one attempt, from the request to the last byte of the reply, in ms. */
  readonly timeoutMs: number
  /** Consecutive attempts after the first before a request fails. */
  readonly maxRetries: number
  /** Wait before the first retry, in ms; doubles each time up to 30 s. */
  readonly backoffMs: number
  /** Aborted when the server is known to be gone or the service was closed, with that reason. */
  readonly closing: AbortSignal
  /** Returns a new number each time; keys the retry jitter, so requests that fail together retry apart. */
  readonly nextKey: () => number
}

/** Body of a successful reply, and whether its media type is protobuf. */
export interface HttpReply {
  readonly protobuf: boolean
  readonly bytes: Uint8Array
}

/** HTTP error status of a server, with its message. */
export class HttpRefusal extends Error {
  readonly status: number
  /** Wait that the server asks for, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, detail: string, retryAfterMs: number | undefined) {
    super(`${status}${detail && `: ${detail}`}`)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** Normalises a server's address. @throws Fault `bad-input` if it is not http(s) or carries credentials */
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

/** Error message of a response body, at most 500 characters: `detail`, `error` or `message` of JSON, or the text. */
export function serverMessage(text: string): string {
  let said: unknown = text
  try {
    const body = Object(JSON.parse(text))
    said = body.detail ?? body.error ?? body.message ?? text
  } catch {
    // Not JSON: the text is the message.
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

/** Sends one request. @throws HttpRefusal for an error status, or fetch's own error */
export async function sendRequest(
  { address, token }: Transport,
  route: string,
  request: {
    readonly body?: Uint8Array
    readonly headers?: Readonly<Record<string, string>>
    readonly signal: AbortSignal
  },
): Promise<HttpReply> {
  const { body, headers, signal } = request
  const response = await fetch(`${address}${route}`, {
    method: body ? 'POST' : 'GET',
    // A redirect must not carry the token to another host.
    redirect: 'manual',
    headers: { 'X-API-Key': token, ...headers },
    ...(body ? { body } : {}),
    signal,
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!response.ok)
    throw new HttpRefusal(
      response.status,
      serverMessage(new TextDecoder().decode(bytes)),
      retryAfter(response.headers),
    )
  const type = response.headers.get('content-type') ?? ''
  return { protobuf: type.includes('application/x-protobuf'), bytes }
}

type RetryDelay = 'never' | number | undefined

/** Retry delay of a submission. A resent submission has the same sequence number and body, so it counts once. */
function submissionRetryDelay(error: unknown, attempt: number): RetryDelay {
  if (!(error instanceof HttpRefusal)) return undefined
  const { status, retryAfterMs } = error
  if (status === 409) return attempt < 3 ? undefined : 'never'
  return status >= 500 || status === 408 || status === 429 ? retryAfterMs : 'never'
}

/** Pauses of 5 s after status 402 (payment required): one hour in all. */
const unpaidPauses = 720

/**
 * Retry delay of a poll for a result. Statuses 408 and 410 are poll results and never reach this function. `final`
 * lists the statuses by which this server reports a failed operation.
 */
export function retrievalRetryDelay(
  error: unknown,
  attempt: number,
  { final, maxRetries }: { readonly final: readonly number[]; readonly maxRetries: number },
): RetryDelay {
  if (!(error instanceof HttpRefusal)) return attempt < maxRetries ? undefined : 'never'
  const { status, retryAfterMs } = error
  if (final.includes(status)) return 'never'
  if (status === 402) return attempt < unpaidPauses ? 5000 : 'never'
  if (status === 400) return attempt < 3 ? undefined : 'never'
  if (status !== 429 && status < 500) return 'never'
  if (attempt >= maxRetries) return 'never'
  // The first retry is immediate, as the wire prescribes; later ones back off to spare a server that stays down.
  return status >= 500 && attempt === 0 ? 0 : retryAfterMs
}

/** Runs a request's `work` with the retries that the wire prescribes: those of a submission, where `own` has no others. */
export const retryRequest = <T>(
  { timeoutMs, maxRetries, backoffMs, nextKey }: Transport,
  signal: AbortSignal,
  work: (attempt: AbortSignal) => Promise<T>,
  own: Partial<RetryOptions> = {},
): Promise<T> =>
  retry(work, {
    ...{ timeoutMs, maxRetries, backoffMs, maxBackoffMs: 30_000, key: nextKey() },
    retryDelay: submissionRetryDelay,
    signal,
    ...own,
  })

/** Fault code of an HTTP error status: wrong request, lost model, or server failure. */
function faultCode(status: number): FaultCode {
  // The model is gone, or its sequence is not where we think.
  if (status === 404 || status === 409) return 'backend-lost'
  return [400, 401, 403, 413, 415, 422].includes(status) ? 'bad-input' : 'model-unavailable'
}

/** Turns a request's error into a Fault with method, route, status and the server's message; never the token. */
export function requestFault(transport: Transport, what: string, error: unknown): Fault {
  const { address, token, closing } = transport
  if (closing.aborted && Fault.is(closing.reason)) return closing.reason
  if (Fault.is(error)) return error
  const message = fullErrorMessage(error).replaceAll(token, '[token]')
  const status = error instanceof HttpRefusal ? error.status : undefined
  const hint =
    status === 401 || status === 403 ? ' (the token is not the one this server wants)' : ''
  // No `cause`: a server may echo the token in its message.
  return new Fault(
    status === undefined ? 'model-unavailable' : faultCode(status),
    `${what.replace(' ', ` ${address}`)}: ${message}${hint}`,
  )
}
