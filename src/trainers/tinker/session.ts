/** Session with a server, shared by its models and samplers: connection, counters, and how operations run. */
import pLimit from 'p-limit'
import { z } from 'zod'
import { Fault, type FaultCode } from '../../error.js'
import type { SidecarCapabilities } from './capabilities.js'
import type { Dialect } from './dialect.js'
import { collectResult } from './future.js'
import type { OfferedModel } from './handshake.js'
import {
  jsonOperation,
  type Operation,
  parseJsonReply,
  sendOperation,
  type Ticket,
} from './operation.js'
import type { DialectName, WireProfile } from './profile.js'
import type { HttpReply, Transport } from './transport.js'

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

/** Queue of sample requests, with at most `concurrency` in flight. */
export const samplingQueue = (concurrency: number): Session['sampling'] => {
  const limit = pLimit(concurrency)
  return (work) => limit(work)
}

/** Submits an operation. @throws Fault */
export const submitOperation = ({ transport }: Session, operation: Operation): Promise<Ticket> =>
  sendOperation(transport, operation)

/** Waits for the result of a submitted operation. @throws Fault */
export const awaitResult = (
  { transport, profile }: Session,
  operation: Operation,
  ticket: Ticket,
): Promise<HttpReply> => collectResult(transport, profile, operation, ticket)

/** Parses fields of a JSON result. @throws Fault `model-unreadable` naming the wrong field */
export function readFields<T>(reply: HttpReply, what: string, fields: z.ZodType<T>): T {
  const read = fields.safeParse(parseJsonReply(reply, what))
  if (read.success) return read.data
  throw new Fault('model-unreadable', `${what}: ${z.prettifyError(read.error)}`)
}

/** Performs an operation outside any model's sequence: submits it, awaits and parses the result. @throws Fault */
export async function performOperation<T>(
  session: Session,
  [route, kind, body]: readonly [route: string, kind: string, body: unknown],
  fields: z.ZodType<T>,
): Promise<T> {
  const operation = jsonOperation(route, kind, body)
  const ticket = await submitOperation(session, operation)
  return readFields(await awaitResult(session, operation, ticket), route, fields)
}

/** Changes the code of a `bad-input` Fault, for a server's refusal that is not the caller's mistake. */
export const changeFaultCode = (error: unknown, code: FaultCode): unknown =>
  Fault.is(error) && error.code === 'bad-input' ? new Fault(code, error.message) : error
