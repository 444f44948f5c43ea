/** Faults of a model call, with their kind, so that they can be counted apart and never become content. */
import { Fault, type FaultCode } from '../error.js'

/** Every kind of fault of a model call. */
export const modelFaultKinds = [
  /** No whole reply within the time limit: a stalled or dripping body counts. */
  'timeout',
  /** The server asked to wait (429) until the call's deadline was over. */
  'rate-limited',
  /** The server failed or could not be reached: 5xx, a cut connection, an error in a 200. */
  'server',
  /** The server refused the request (a key, a model, a feature it lacks), or the model declined to answer. */
  'refused',
  /** What came is no reply: other than JSON, cut off, empty, or of another shape. */
  'unparsable',
  /** The prompt is longer than the model's context. */
  'context-length',
  /** The run's own budget of money or tokens is spent. */
  'budget',
] as const

/** Kind of a fault of a model call. */
export type ModelFaultKind = (typeof modelFaultKinds)[number]

const codes: Readonly<Partial<Record<ModelFaultKind, FaultCode>>> = {
  unparsable: 'model-unreadable',
  budget: 'budget',
}

interface ModelFaultOptions {
  /** Whether the same request may be answered if sent again. @default false */
  readonly retryable?: boolean
  /** How long the server asks to wait before the next request. */
  readonly retryAfterMs?: number | undefined
  /** Requests that were sent before the last one. @default 0 */
  readonly retries?: number
}

/** A failed call of a model. Without a `cause`: a server may repeat the key it was sent. */
export class ModelFault extends Fault {
  readonly kind: ModelFaultKind
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  /** Requests that were sent before the last one. */
  readonly retries: number

  constructor(
    kind: ModelFaultKind,
    message: string,
    { retryable = false, retryAfterMs, retries = 0 }: ModelFaultOptions = {},
  ) {
    super(codes[kind] ?? 'model-unavailable', message)
    this.kind = kind
    this.retryable = retryable
    this.retryAfterMs = retryAfterMs
    this.retries = retries
  }
}

const isKind = (kind: unknown): kind is ModelFaultKind =>
  (modelFaultKinds as readonly unknown[]).includes(kind)

/** The kind of a model's fault, also where another fault was made of it; undefined for any other error. */
export function modelFaultKind(error: unknown): ModelFaultKind | undefined {
  for (let at: unknown = error, depth = 0; at != null && depth < 8; depth++) {
    const kind: unknown = Reflect.get(Object(at), 'kind')
    if (Fault.is(at) && isKind(kind)) return kind
    at = Reflect.get(Object(at), 'cause')
  }
  return undefined
}
