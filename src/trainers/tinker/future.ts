/** The result of an operation: asked for until it is there, and made anew where the server lost it. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import { pause, retried } from '../../platform/retry.js'
import { adviceOnRetrieval } from './advice.js'
import {
  jsonOf,
  mediaType,
  type Operation,
  submit,
  type Ticket,
  underSignals,
} from './operation.js'
import type { WireProfile } from './profile.js'
import { exchange, Refusal, type Reply, requestFault, type Transport } from './transport.js'

const retrieval = '/api/v1/retrieve_future'

/** How often a result that the server lost is made anew. */
const maxResubmissions = 5
/** A server that answers faster than this that there is nothing yet is asked no faster. */
const leastPollMs = 20

const Metadata = z.object({ status: z.literal('complete_metadata') })
const TryAgain = z.object({ type: z.literal('try_again') })
const Failure = z.object({ error: z.string(), category: z.string().optional() })

/** What a server said of a result: it, not yet, or that the promise of it is lost. */
type Outcome = Reply | 'later' | 'lost'

/** The server's final word on a failed operation. */
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

/** Asks once for a result, with the patience the wire prescribes. */
function ask(
  transport: Transport,
  { failureStatuses, pollTimeoutMs }: WireProfile,
  operation: Operation,
  { requestId, iteration }: { readonly requestId: string; readonly iteration: number },
  signal: AbortSignal,
): Promise<Outcome> {
  const { maxRetries, backoffMs } = transport
  const body = JSON.stringify({ request_id: requestId, allow_metadata_only: false })
  const headers = {
    'Content-Type': mediaType(false),
    Accept: mediaType(operation.acceptsProtobuf),
    'X-Tinker-Request-Type': operation.kind,
    'X-Tinker-Request-Iteration': String(iteration),
  }
  const bytes = new TextEncoder().encode(body)
  const once = async (attempt: AbortSignal): Promise<Outcome> => {
    try {
      return await exchange(transport, retrieval, {
        body: bytes,
        headers,
        signal: attempt,
      })
    } catch (error) {
      const status = error instanceof Refusal ? error.status : undefined
      if (status === 408) return 'later'
      if (status === 410) return 'lost'
      throw error
    }
  }
  return retried(once, {
    timeoutMs: pollTimeoutMs,
    maxRetries: Number.POSITIVE_INFINITY,
    backoffMs,
    maxBackoffMs: 30_000,
    key: transport.nextKey(),
    signal,
    advice: (error, attempt) =>
      adviceOnRetrieval(error, attempt, { final: failureStatuses, maxRetries }),
  })
}

/** What the JSON of a 200 says: a result, not yet, or a failure, which is thrown. */
function readOutcome(reply: Reply, operation: Operation, profile: WireProfile): Outcome {
  if (reply.protobuf) return reply
  const body = jsonOf(reply, operation.route)
  if (TryAgain.safeParse(body).success || Metadata.safeParse(body).success) return 'later'
  const failure = Failure.safeParse(body)
  if (failure.success) throw operationFault(operation, failure.data, profile)
  return reply
}

/**
 * The result of an accepted operation; where the server lost it, the operation is handed in again as it was.
 * @throws Fault with the server's words
 */
export async function collect(
  transport: Transport,
  profile: WireProfile,
  operation: Operation,
  ticket: Ticket,
): Promise<Reply> {
  const wait = async (signal: AbortSignal): Promise<Reply> => {
    let at = ticket
    let lost = 0
    for (let iteration = 0; 'requestId' in at; iteration++) {
      const asked = performance.now()
      const answer = await ask(transport, profile, operation, { ...at, iteration }, signal)
      const outcome = typeof answer === 'string' ? answer : readOutcome(answer, operation, profile)
      if (typeof outcome !== 'string') return outcome
      if (outcome === 'lost') {
        if (++lost > maxResubmissions) throw new Error(`the server lost the result ${lost} times`)
        at = await submit(transport, operation)
      } else if (performance.now() - asked < leastPollMs) await pause(leastPollMs, signal)
    }
    const outcome = readOutcome(at.reply, operation, profile)
    if (typeof outcome !== 'string') return outcome
    throw new Error('the server says that there is no result yet, and no name to ask for it by')
  }
  try {
    return await underSignals([operation.signal, transport.closing], wait)
  } catch (error) {
    throw requestFault(transport, `POST ${retrieval} for ${operation.route}`, error)
  }
}
