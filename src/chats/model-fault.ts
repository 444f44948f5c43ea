/** Faults of a model call, with their kind, so that they can be counted apart and never become content. */
import type { Usage } from '../chat.js'
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

/** Whether the same request may be answered if sent again: never, once, or as often as retries are allowed. */
export type Retryable = 'never' | 'once' | 'often'

interface ModelFaultOptions {
  /** @default 'never' */
  readonly retryable?: Retryable
  /** How long the server asks to wait before the next request. */
  readonly retryAfterMs?: number | undefined
  /** Requests that were sent before the last one. @default 0 */
  readonly retries?: number
  /** Tokens that were paid for. @default none */
  readonly usage?: Usage
}

/** No tokens at all. */
export const noTokens: Usage = Object.freeze({ promptTokens: 0, completionTokens: 0 })

/** A failed call of a model. Without a `cause`: a server may repeat the key it was sent. */
export class ModelFault extends Fault {
  readonly kind: ModelFaultKind
  readonly retryable: Retryable
  readonly retryAfterMs: number | undefined
  /** Requests that were sent before the last one. */
  readonly retries: number
  /** Tokens that the failed call was charged, as far as its server said. */
  readonly usage: Usage

  constructor(
    kind: ModelFaultKind,
    message: string,
    { retryable = 'never', retryAfterMs, retries = 0, usage = noTokens }: ModelFaultOptions = {},
  ) {
    super(codes[kind] ?? 'model-unavailable', message)
    this.kind = kind
    this.retryable = retryable
    this.retryAfterMs = retryAfterMs
    this.retries = retries
    this.usage = usage
  }
}

const isKind = (kind: unknown): kind is ModelFaultKind =>
  (modelFaultKinds as readonly unknown[]).includes(kind)

/**
 * The kind of a model's fault, also where another fault was made of it; undefined for any other error. A reply that its
 * reader could not use is `unparsable`, whoever found that.
 */
export function modelFaultKind(error: unknown): ModelFaultKind | undefined {
  for (let at: unknown = error, depth = 0; at != null && depth < 8; depth++) {
    const kind: unknown = Reflect.get(Object(at), 'kind')
    if (Fault.is(at) && isKind(kind)) return kind
    at = Reflect.get(Object(at), 'cause')
  }
  return Fault.is(error) && error.code === 'model-unreadable' ? 'unparsable' : undefined
}
