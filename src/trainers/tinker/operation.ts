/** Operations of the wire. An idempotency key makes a resent operation count once. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Fault } from '../../error.js'
import {
  type HttpReply,
  requestFault,
  retryRequest,
  sendRequest,
  type Transport,
} from './transport.js'

/** A request that can be resent: the same bytes under the same idempotency key. */
export interface Operation {
  readonly route: string
  readonly body: Uint8Array
  readonly protobuf: boolean
  /** Value of the header `X-Tinker-Request-Type`. */
  readonly kind: string
  /** Whether the result may come as protobuf. */
  readonly acceptsProtobuf: boolean
  readonly idempotencyKey: string
  readonly signal: AbortSignal | undefined
}

/** Answer to a submission: the id of a future result, or the result itself. */
export type Ticket = { readonly requestId: string } | { readonly reply: HttpReply }

/** Builds an operation with a fresh idempotency key; a body that is not bytes is sent as JSON. */
export const newOperation = (
  route: string,
  kind: string,
  body: object | Uint8Array,
  own: Partial<Pick<Operation, 'signal' | 'protobuf' | 'acceptsProtobuf'>> = {},
): Operation => ({
  ...{ route, kind, protobuf: false, acceptsProtobuf: false, signal: undefined, ...own },
  body: body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body)),
  idempotencyKey: randomUUID(),
})

/** Parses a reply as JSON. @throws Fault `model-unreadable` */
export function parseJsonReply(reply: HttpReply, what: string): unknown {
  const text = new TextDecoder().decode(reply.bytes)
  try {
    return JSON.parse(text)
  } catch {
    throw new Fault('model-unreadable', `${what}: expected JSON, got ${text.slice(0, 200)}`)
  }
}

/** Reads the fields of a parsed answer. @throws Fault `model-unreadable` naming the wrong field */
export function readFields<T>(body: unknown, what: string, fields: z.ZodType<T>): T {
  const read = fields.safeParse(body)
  if (read.success) return read.data
  throw new Fault('model-unreadable', `${what}: ${z.prettifyError(read.error)}`)
}

/** Media type of a body: protobuf or JSON. */
export const mediaType = (protobuf: boolean): string =>
  protobuf ? 'application/x-protobuf' : 'application/json'

/** Runs `work` with one signal that aborts with the first of `signals`; removes its listeners at the end. */
export async function runAbortable<T>(
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

/** Sends an operation, with retries, until the server accepts it. @throws Fault */
export async function sendOperation(transport: Transport, operation: Operation): Promise<Ticket> {
  const { route, body, protobuf, idempotencyKey, signal } = operation
  const headers = { 'Content-Type': mediaType(protobuf), 'X-Idempotency-Key': idempotencyKey }
  const what = `POST ${route}`
  try {
    const reply = await runAbortable([signal, transport.closing], (joined) =>
      retryRequest(transport, joined, (attempt) =>
        sendRequest(transport, route, { body, headers, signal: attempt }),
      ),
    )
    if (reply.protobuf) return { reply }
    const future = z.object({ request_id: z.string() }).safeParse(parseJsonReply(reply, what))
    return future.success ? { requestId: future.data.request_id } : { reply }
  } catch (error) {
    throw requestFault(transport, what, error)
  }
}
