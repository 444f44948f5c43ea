/** Splits a batch that is larger than one request, and joins the results of its parts. */
import { Fault } from '../../error.js'
import type { ForwardOutput } from './wire.js'

/** Limits of one request: number of data, and bytes of encoded data. */
export interface SplitLimits {
  readonly maxDatums: number
  readonly maxBytes: number
}

/**
 * Splits encoded data into parts within the limits, in order and greedily.
 * @throws RangeError for a datum above `maxBytes`
 */
export function splitData(
  data: readonly Uint8Array[],
  { maxDatums, maxBytes }: SplitLimits,
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

type Reduction = (values: readonly number[], weights: readonly number[]) => number

/** Reductions of metrics named `name:reduction`, weighted by number of data; other metrics are dropped. */
const reductions: Readonly<Record<string, Reduction>> = {
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

/** Checks that a result has one output per datum sent. @throws Fault `model-unreadable` */
export function assertOutputs({ outputs }: ForwardOutput, data: number, what: string): void {
  if (outputs.length !== data)
    throw new Fault(
      'model-unreadable',
      `${what}: expected outputs of ${data} data, got ${outputs.length}`,
    )
}
