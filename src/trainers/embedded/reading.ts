/** What token segments amount to: features, and the weight rows that stand for them. */
import type { TokenSegment } from '../../batch.js'
import type { Reader } from './policy.js'

/** One segment, read; the same for every version of the weights, rows being kept for good. */
export interface Reading {
  /** Features: of every tick of the clock, in order, then all others in the order they became active. */
  readonly keys: readonly number[]
  /** How many of the features are ticks. */
  readonly ticks: number
  /** Weight row of each feature; -1 where no weights have one. */
  readonly rows: Int32Array
  /** Value of each feature, the ticks apart. */
  readonly values: Float64Array
  /** Per drawn token: its place `t`, how many features were active, which feature is the clock's. */
  readonly places: Int32Array
  readonly active: Int32Array
  readonly clocks: Int32Array
  /** Per drawn token and action: whether the move was open. */
  readonly open: Uint8Array
}

/** Reads segments once, for weights whose rows only ever join. */
export interface Readings {
  /** The rows with one for every feature of the segments that is new, in their order. */
  rowsFor(
    segments: readonly TokenSegment[],
    rowOf: ReadonlyMap<number, number>,
  ): ReadonlyMap<number, number>
  /** A segment with every row that `rowOf` has. */
  of(segment: TokenSegment, rowOf: ReadonlyMap<number, number>): Reading
}

/** Where the segment's mask and prompt end matter too: the same tokens may be trained on with other masks. */
interface Kept {
  readonly reading: Reading
  readonly mask: Uint8Array
  readonly promptLength: number
}

function readSegment(reader: Reader, { tokens, promptLength, mask }: TokenSegment): Reading {
  const { actions } = reader
  const state = reader.start()
  const drawn = mask.reduce((sum, one) => sum + one, 0)
  const places = new Int32Array(drawn)
  const active = new Int32Array(drawn)
  const clocks = new Int32Array(drawn)
  const open = new Uint8Array(drawn * actions)
  const ticks: number[] = []
  let n = 0
  tokens.forEach((token, at) => {
    const t = at - promptLength
    if (t >= 0 && mask[t] === 1) {
      places[n] = t
      active[n] = state.keys.length
      clocks[n] = ticks.length - 1
      reader.writeOpen(state, open, n * actions)
      n++
    }
    reader.read(state, token)
    if (reader.isClock(token)) ticks.push(reader.clockKey(state))
  })
  const keys = [...ticks, ...state.keys]
  const rows = new Int32Array(keys.length).fill(-1)
  const values = Float64Array.from(state.values)
  return { keys, ticks: ticks.length, rows, values, places, active, clocks, open }
}

/** Starts reading for weights of one lineage; after loading others, start anew. */
export function readings(reader: Reader): Readings {
  // By tokens, which a segment keeps when advantages and the like are put into a copy of it.
  const known = new WeakMap<Int32Array, Kept>()

  const find = (segment: TokenSegment): Reading => {
    const { tokens, mask, promptLength } = segment
    const kept = known.get(tokens)
    if (kept && kept.mask === mask && kept.promptLength === promptLength) return kept.reading
    const reading = readSegment(reader, segment)
    known.set(tokens, { reading, mask, promptLength })
    return reading
  }

  return {
    rowsFor(segments, rowOf) {
      const all = new Map(rowOf)
      for (const segment of segments) {
        const { keys, rows } = find(segment)
        for (let i = 0; i < rows.length; i++) {
          if (rows[i]! >= 0) continue
          const key = keys[i]!
          if (!all.has(key)) all.set(key, all.size)
          rows[i] = all.get(key)!
        }
      }
      return all
    },
    of(segment, rowOf) {
      const reading = find(segment)
      const { keys, rows } = reading
      for (let i = 0; i < rows.length; i++) if (rows[i]! < 0) rows[i] = rowOf.get(keys[i]!) ?? -1
      return reading
    },
  }
}
