/** Pass over a batch: checks it, splits it into requests under consecutive numbers, and joins their results. */
import { Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import { decodeForward } from './dialect.js'
import { newOperation, sendOperation } from './operation.js'
import type { OperationSequence } from './operation-sequence.js'
import type { WireProfile } from './profile.js'
import { collectResult, type Session } from './session.js'
import type { Datum, ForwardOutput, PassOptions, WireLoss } from './wire.js'

/** Losses whose default clip bounds differ between servers, so the bounds must be sent. */
const clipped = ['ppo', 'cispo']
const bounds = ['clip_low_threshold', 'clip_high_threshold'] as const

/**
 * Checks that the server has the loss, and that it would not run with the server's default constants.
 * @throws RangeError saying what was expected
 */
export function assertLoss(
  loss: WireLoss,
  { name, losses }: Pick<WireProfile, 'name' | 'losses'>,
  extensions: readonly string[] | undefined,
): void {
  const known = loss.extension ? (extensions ?? []) : losses
  const kind = loss.extension ? 'an extension loss' : 'a loss'
  if (!known.includes(loss.name))
    throw new RangeError(
      `Expected ${kind} of ${name} (${known.join(', ') || 'it has none'}), got \`${loss.name}\``,
    )
  for (const [key, value] of Object.entries(loss.config ?? {}))
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new RangeError(
        `Expected a finite \`${key}\` in the config of ${loss.name}, got ${value}`,
      )
  if (loss.extension || !clipped.includes(loss.name)) return
  for (const bound of bounds)
    if (typeof loss.config?.[bound] !== 'number')
      throw new RangeError(
        `Expected \`${bound}\` in the config of ${loss.name}, because servers' defaults differ, got ${JSON.stringify(loss.config ?? {})}`,
      )
}

/**
 * Checks that data can be sent: tokens present, inputs of the right length and finite.
 * @throws RangeError naming the datum and the input
 */
export function assertData(data: readonly Datum[]): void {
  if (data.length === 0) throw new RangeError('Expected data, got none')
  data.forEach(({ tokens, inputs }, i) => {
    if (tokens.length === 0) throw new RangeError(`data[${i}]: expected tokens, got none`)
    for (const [name, values] of Object.entries(inputs)) {
      if (values.length !== tokens.length && values.length !== 1)
        throw new RangeError(
          `data[${i}]: expected ${name} of length ${tokens.length} or 1, got ${values.length}`,
        )
      const wrong =
        values instanceof Float32Array ? values.findIndex((value) => !Number.isFinite(value)) : -1
      if (wrong >= 0)
        throw new RangeError(
          `data[${i}]: expected finite ${name}, got ${values[wrong]} at ${wrong}`,
        )
    }
  })
}

/**
 * Splits encoded data into parts within the limits, in order and greedily.
 * @throws RangeError for a datum above `maxBytes`
 */
export function splitData(
  data: readonly Uint8Array[],
  { maxDatums, maxBytes }: Pick<WireProfile, 'maxDatums' | 'maxBytes'>,
): readonly (readonly Uint8Array[])[] {
  const parts: Uint8Array[][] = []
  let bytes = 0
  data.forEach((datum, i) => {
    if (datum.length > maxBytes)
      throw new RangeError(`data[${i}]: expected at most ${maxBytes} bytes, got ${datum.length}`)
    const part = parts.at(-1)
    if (part && part.length < maxDatums && bytes + datum.length <= maxBytes) {
      part.push(datum)
      bytes += datum.length
      return
    }
    parts.push([datum])
    bytes = datum.length
  })
  return parts
}

const mean = (values: readonly number[], weights: readonly number[]): number => {
  const sum = weights.reduce((a, b) => a + b, 0)
  return values.reduce((total, value, i) => total + value * (weights[i]! / sum), 0)
}

/** Reductions of metrics named `name:reduction`, weighted by number of data; other metrics are dropped. */
const reductions: Readonly<Record<string, typeof mean>> = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  mean,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  slack: (values, weights) => Math.max(...values) - mean(values, weights),
}

/** Joins the results of a batch's parts, in order. */
export function joinOutputs(parts: readonly ForwardOutput[]): ForwardOutput {
  const [first] = parts
  if (parts.length === 1 && first) return first
  const weights = parts.map(({ outputs }) => outputs.length)
  const metrics: Record<string, number> = {}
  for (const name of Object.keys(first?.metrics ?? {})) {
    const reduce = reductions[name.slice(name.lastIndexOf(':') + 1)]
    const values = parts.map((part) => part.metrics[name])
    if (reduce && values.every((value) => value !== undefined))
      metrics[name] = reduce(values, weights)
  }
  return { outputs: parts.flatMap(({ outputs }) => outputs), metrics }
}

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
      const seq = first + i
      const body = dialect.encodePass({ modelId, seq, data: part, loss, forwardOnly })
      const { protobuf } = dialect
      const own = { protobuf, acceptsProtobuf: protobuf, signal }
      const operation = newOperation(route, kind, body, own)
      const ticket = await sendOperation(session.transport, operation)
      return { operation, ticket, data: part.length }
    }),
  )
  const outputs = await mapPool(handed, concurrentParts, async (part) => {
    const reply = await collectResult(session, part.operation, part.ticket)
    const output = await decodeForward(reply, route)
    const { length } = output.outputs
    if (length === part.data) return output
    throw new Fault(
      'model-unreadable',
      `${route}: expected outputs of ${part.data} data, got ${length}`,
    )
  })
  return joinOutputs(outputs)
}
