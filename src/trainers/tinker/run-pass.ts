/** Pass over a batch: splits it into requests, submits them under consecutive numbers, joins results in order. */
import { randomUUID } from 'node:crypto'
import { Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import { decodeForward } from './dialect.js'
import type { Operation } from './operation.js'
import type { OperationSequence } from './operation-sequence.js'
import { assertData, assertLoss } from './pass-request.js'
import { awaitResult, type Session, submitOperation } from './session.js'
import { assertOutputs, joinOutputs, splitData } from './split.js'
import type { Datum, ForwardOutput, PassOptions, WireLoss } from './wire.js'

/** Requests of one batch in flight at the same time. */
const concurrentParts = 16

/** Route of a pass. The sidecar's own losses have their own routes; protobuf has a forward-only flag instead. */
function passRoute(
  { profile, dialect }: Session,
  loss: WireLoss,
  forwardOnly: boolean,
): { readonly route: string; readonly kind: string } {
  const kind = forwardOnly ? 'Forward' : 'ForwardBackward'
  const flagged = dialect.protobuf && profile.forward.protobuf === 'forward-only'
  const name = forwardOnly && (loss.extension || !flagged) ? 'forward' : 'forward_backward'
  return { kind, route: `${loss.extension ? '/ext/v1' : '/api/v1'}/${name}` }
}

/**
 * Runs one pass over a batch, with or without gradients.
 * @throws RangeError before a sequence number is taken, or Fault
 */
export async function runPass(
  session: Session,
  sequence: OperationSequence,
  batch: {
    readonly data: readonly Datum[]
    readonly loss: WireLoss
    readonly forwardOnly: boolean
  } & PassOptions,
): Promise<ForwardOutput> {
  const { data, loss, forwardOnly, signal } = batch
  const { dialect, profile, extensions } = session
  assertLoss(loss, profile, extensions?.losses)
  assertData(data)
  if (signal?.aborted) throw new Fault('aborted', 'aborted before anything was sent')
  const parts = splitData(data.map(dialect.encodeDatum), profile)
  const { route, kind } = passRoute(session, loss, forwardOnly)
  const handed = await sequence.take(parts.length, (first, modelId) =>
    mapPool(parts, concurrentParts, async (part, i) => {
      const operation: Operation = {
        route,
        kind,
        body: dialect.encodePass({ modelId, seq: first + i, data: part, loss, forwardOnly }),
        protobuf: dialect.protobuf,
        acceptsProtobuf: dialect.protobuf,
        idempotencyKey: randomUUID(),
        signal,
      }
      return { operation, ticket: await submitOperation(session, operation), data: part.length }
    }),
  )
  const outputs = await mapPool(handed, concurrentParts, async (part) => {
    const reply = await awaitResult(session, part.operation, part.ticket)
    const output = await decodeForward(reply, route)
    assertOutputs(output, part.data, route)
    return output
  })
  return joinOutputs(outputs)
}
