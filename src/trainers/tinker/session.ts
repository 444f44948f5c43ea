/** A session with a server: what models and samplers in it share. */
import pLimit from 'p-limit'
import { z } from 'zod'
import { Fault, type FaultCode } from '../../error.js'
import type { SidecarCapabilities } from './capabilities.js'
import type { Dialect } from './dialect.js'
import { collect } from './future.js'
import type { OfferedModel } from './handshake.js'
import { jsonOf, jsonOperation, type Operation, submit, type Ticket } from './operation.js'
import type { DialectName, WireProfile } from './profile.js'
import type { Reply, Transport } from './transport.js'

export interface Session {
  readonly id: string
  readonly transport: Transport
  /** Under the server's own limits. */
  readonly profile: WireProfile
  readonly dialect: Dialect
  readonly dialectName: DialectName
  readonly models: readonly OfferedModel[]
  readonly extensions: SidecarCapabilities | undefined
  readonly baseModel: (wanted: string | undefined) => string
  /** From 0, over all models of the session. */
  readonly nextModel: () => number
  /** From 0, over all sampling sessions of the session. */
  readonly nextSampler: () => number
  /** Where samples wait their turn. */
  readonly sampling: <T>(work: () => Promise<T>) => Promise<T>
}

/** A counter from 0. */
export function counter(): () => number {
  let next = 0
  return () => next++
}

/** Where samples wait their turn, so that no more are open than a server takes. */
export const samplingQueue = (concurrency: number): Session['sampling'] => {
  const limit = pLimit(concurrency)
  return (work) => limit(work)
}

/** Hands in an operation. @throws Fault */
export const handIn = ({ transport }: Session, operation: Operation): Promise<Ticket> =>
  submit(transport, operation)

/** The result of what was handed in. @throws Fault */
export const resultOf = (
  { transport, profile }: Session,
  operation: Operation,
  ticket: Ticket,
): Promise<Reply> => collect(transport, profile, operation, ticket)

/** The fields that are wanted of a result in JSON. @throws Fault `model-unreadable` saying which */
export function readFields<T>(reply: Reply, what: string, fields: z.ZodType<T>): T {
  const read = fields.safeParse(jsonOf(reply, what))
  if (read.success) return read.data
  throw new Fault('model-unreadable', `${what}: ${z.prettifyError(read.error)}`)
}

/** An operation outside of any model's sequence: handed in, waited for, read. @throws Fault */
export async function perform<T>(
  session: Session,
  [route, kind, body]: readonly [route: string, kind: string, body: unknown],
  fields: z.ZodType<T>,
): Promise<T> {
  const operation = jsonOperation(route, kind, body)
  const ticket = await handIn(session, operation)
  return readFields(await resultOf(session, operation, ticket), route, fields)
}

/** A Fault of `bad-input` under another code: what the server refuses is not always a flag's fault. */
export const recoded = (error: unknown, code: FaultCode): unknown =>
  Fault.is(error) && error.code === 'bad-input' ? new Fault(code, error.message) : error
