/** An operation of the wire: handed in once, however often it is sent. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Fault } from '../../error.js'
import { retried } from '../../platform/retry.js'
import { adviceOnSubmission } from './advice.js'
import { exchange, type Reply, requestFault, type Transport } from './transport.js'

/** A request as it is sent, and sent again: the same bytes under the same key. */
export interface Operation {
  readonly route: string
  readonly body: Uint8Array
  readonly protobuf: boolean
  /** What `X-Tinker-Request-Type` calls it. */
  readonly kind: string
  /** Whether a result in protobuf can be read. */
  readonly acceptsProtobuf: boolean
  readonly idempotencyKey: string
  readonly signal: AbortSignal | undefined
}

/** What `submit` got: the name of a result to come, or the result. */
export type Ticket = { readonly requestId: string } | { readonly reply: Reply }

/** An operation whose request is JSON. */
export const jsonOperation = (
  route: string,
  kind: string,
  body: unknown,
  { signal, acceptsProtobuf = false }: Partial<Operation> = {},
): Operation => ({
  route,
  kind,
  body: new TextEncoder().encode(JSON.stringify(body)),
  protobuf: false,
  acceptsProtobuf,
  idempotencyKey: randomUUID(),
  signal,
})

/** The server's JSON. @throws Fault `model-unreadable` */
export function jsonOf(reply: Reply, what: string): unknown {
  const text = new TextDecoder().decode(reply.bytes)
  try {
    return JSON.parse(text)
  } catch {
    throw new Fault('model-unreadable', `${what}: expected JSON, got ${text.slice(0, 200)}`)
  }
}

/** The media type of a body. */
export const mediaType = (protobuf: boolean): string =>
  protobuf ? 'application/x-protobuf' : 'application/json'

/** Runs work under the operation's signal and the service's; listeners are gone when it ends. */
export async function underSignals<T>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const stops = signals.map((signal) => {
    const stop = () => controller.abort(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    return () => signal?.removeEventListener('abort', stop)
  })
  try {
    return await work(controller.signal)
  } finally {
    for (const stop of stops) stop()
  }
}

/** Sends an operation until it is accepted. @throws Fault */
export async function submit(transport: Transport, operation: Operation): Promise<Ticket> {
  const { route, body, protobuf, idempotencyKey, signal } = operation
  const headers = { 'Content-Type': mediaType(protobuf), 'X-Idempotency-Key': idempotencyKey }
  const { timeoutMs, maxRetries, backoffMs, closing } = transport
  const what = `POST ${route}`
  try {
    const reply = await underSignals([signal, closing], (joined) =>
      retried((attempt) => exchange(transport, route, { body, headers, signal: attempt }), {
        timeoutMs,
        maxRetries,
        backoffMs,
        maxBackoffMs: 30_000,
        key: transport.nextKey(),
        signal: joined,
        advice: adviceOnSubmission,
      }),
    )
    if (reply.protobuf) return { reply }
    const future = z.object({ request_id: z.string() }).safeParse(jsonOf(reply, what))
    return future.success ? { requestId: future.data.request_id } : { reply }
  } catch (error) {
    throw requestFault(transport, what, error)
  }
}
