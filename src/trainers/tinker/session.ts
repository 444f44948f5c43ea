/** Session with a server: what its models and samplers share, and how an operation runs from request to result. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import { pause } from '../../platform/retry.js'
import type { Dialect } from './dialect.js'
import type { OfferedModel, SidecarCapabilities } from './handshake.js'
import type { Operation, Ticket } from './operation.js'
import {
  mediaType,
  newOperation,
  parseJsonReply,
  readFields,
  runAbortable,
  sendOperation,
} from './operation.js'
import type { DialectName, WireProfile } from './profile.js'
import type { HttpReply, Transport } from './transport.js'
import {
  HttpRefusal,
  requestFault,
  retrievalRetryDelay,
  retryRequest,
  sendRequest,
} from './transport.js'

/** A session on a server, and the state its models and samplers share. */
export interface Session {
  readonly id: string
  readonly transport: Transport
  /** With limits lowered to the server's own. */
  readonly profile: WireProfile
  readonly dialect: Dialect
  readonly dialectName: DialectName
  readonly models: readonly OfferedModel[]
  readonly extensions: SidecarCapabilities | undefined
  /** Picks the wanted base model, or the server's only one. @throws Fault `bad-input` */
  readonly baseModel: (wanted: string | undefined) => string
  /** Number of the next model of the session, from 0. */
  readonly nextModel: () => number
  /** Number of the next sampling session, from 0. */
  readonly nextSampler: () => number
  /** Queue that bounds concurrent sample requests. */
  readonly sampling: <T>(work: () => Promise<T>) => Promise<T>
}

/** Creates a counter from 0. */
export function createCounter(): () => number {
  let next = 0
  return () => next++
}

/** Route, kind and body of an operation. */
export type WireCall = readonly [route: string, kind: string, body: object]

/** Call of an operation of the wire, whose route and kind are both named after its type. */
export const wireCall = (type: string, fields: object): WireCall => [
  `/api/v1/${type}`,
  type.replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase()),
  { type, ...fields },
]

/** Performs an operation outside any model's sequence: submits it, awaits and parses the result. @throws Fault */
export async function performOperation<T>(
  session: Session,
  [route, kind, body]: WireCall,
  fields: z.ZodType<T>,
): Promise<T> {
  const operation = newOperation(route, kind, body)
  const ticket = await sendOperation(session.transport, operation)
  const reply = await collectResult(session, operation, ticket)
  return readFields(parseJsonReply(reply, route), route, fields)
}

const retrieval = '/api/v1/retrieve_future'

/** Maximum resubmissions of an operation whose result the server lost. */
const maxResubmissions = 5
/** Minimum time from one poll to the next, for servers that answer "not yet" at once. */
const minPollMs = 20

const Metadata = z.object({ status: z.literal('complete_metadata') })
const TryAgain = z.object({ type: z.literal('try_again') })
const Failure = z.object({ error: z.string(), category: z.string().optional() })

/** Answer to one poll: the result, `later` (not ready yet), or `lost` (the server forgot the future). */
type PollResult = HttpReply | 'later' | 'lost'

/** Fault of an operation that the server reports as failed. */
function operationFault(
  { route }: Operation,
  { error, category }: z.infer<typeof Failure>,
  { retrieveOnce }: WireProfile,
): Fault {
  const lost = retrieveOnce && error.includes('already retrieved')
  const why = lost
    ? `${error}; its first reading did not arrive, and this server keeps none`
    : error
  return new Fault(
    lost ? 'backend-lost' : category === 'User' ? 'bad-input' : 'model-unavailable',
    `${route} failed on the server: ${why}`,
  )
}

/** Polls once for a result, retrying as the wire prescribes. */
function pollResult(
  transport: Transport,
  { failureStatuses, pollTimeoutMs }: WireProfile,
  operation: Operation,
  { requestId, iteration }: { readonly requestId: string; readonly iteration: number },
  signal: AbortSignal,
): Promise<PollResult> {
  const { maxRetries } = transport
  const text = JSON.stringify({ request_id: requestId, allow_metadata_only: false })
  const body = new TextEncoder().encode(text)
  const headers = {
    'Content-Type': mediaType(false),
    Accept: mediaType(operation.acceptsProtobuf),
    'X-Tinker-Request-Type': operation.kind,
    'X-Tinker-Request-Iteration': String(iteration),
  }
  const once = async (attempt: AbortSignal): Promise<PollResult> => {
    try {
      return await sendRequest(transport, retrieval, { body, headers, signal: attempt })
    } catch (error) {
      const status = error instanceof HttpRefusal ? error.status : undefined
      if (status === 408) return 'later'
      if (status === 410) return 'lost'
      throw error
    }
  }
  return retryRequest(transport, signal, once, {
    timeoutMs: pollTimeoutMs,
    maxRetries: Number.POSITIVE_INFINITY,
    retryDelay: (error, attempt) =>
      retrievalRetryDelay(error, attempt, { final: failureStatuses, maxRetries }),
  })
}

/** Classifies a reply with status 200: a result, or not yet. @throws Fault for a failed operation */
function readPollResult(reply: HttpReply, operation: Operation, profile: WireProfile): PollResult {
  if (reply.protobuf) return reply
  const body = parseJsonReply(reply, operation.route)
  if (TryAgain.safeParse(body).success || Metadata.safeParse(body).success) return 'later'
  const failure = Failure.safeParse(body)
  if (failure.success) throw operationFault(operation, failure.data, profile)
  return reply
}

/**
 * Waits for the result of an accepted operation. If the server lost it, resubmits the same operation.
 * @throws Fault with the server's message
 */
export async function collectResult(
  { transport, profile }: { readonly transport: Transport; readonly profile: WireProfile },
  operation: Operation,
  ticket: Ticket,
): Promise<HttpReply> {
  const wait = async (signal: AbortSignal): Promise<HttpReply> => {
    let at = ticket
    let lost = 0
    for (let iteration = 0; 'requestId' in at; iteration++) {
      const asked = performance.now()
      const answer = await pollResult(transport, profile, operation, { ...at, iteration }, signal)
      const result =
        typeof answer === 'string' ? answer : readPollResult(answer, operation, profile)
      if (typeof result !== 'string') return result
      if (result === 'lost') {
        if (++lost > maxResubmissions) throw new Error(`the server lost the result ${lost} times`)
        at = await sendOperation(transport, operation)
      } else if (performance.now() - asked < minPollMs) await pause(minPollMs, signal)
    }
    const result = readPollResult(at.reply, operation, profile)
    if (typeof result !== 'string') return result
    throw new Error('the server says that there is no result yet, and no name to ask for it by')
  }
  try {
    return await runAbortable([operation.signal, transport.closing], wait)
  } catch (error) {
    throw requestFault(transport, `POST ${retrieval} for ${operation.route}`, error)
  }
}
