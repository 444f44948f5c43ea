/** Session with a server, shared by its models and samplers: connection, counters, and how operations run. */
import type { z } from 'zod'
import type { Dialect } from './dialect.js'
import { collectResult } from './future.js'
import type { OfferedModel, SidecarCapabilities } from './handshake.js'
import { newOperation, parseJsonReply, readFields, sendOperation } from './operation.js'
import type { DialectName, WireProfile } from './profile.js'
import type { Transport } from './transport.js'

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
