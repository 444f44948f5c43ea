/** The gradient of a batch by the policy's weights, exact, one pass forwards and one back per segment. */
import type { Loss, TokenSegment } from '../../batch.js'
import type { Tally } from '../tally.js'
import type { Reader, Weights } from './policy.js'
import { addFrom, distribution, softmax } from './policy.js'
import type { Tokenizer } from './tokenizer.js'

/** What a segment's tokens amount to; the same for every version of the weights, rows being kept for good. */
interface Reading {
  /** Weight row and value of each feature, in the order they became active. */
  readonly rows: Int32Array
  readonly values: Float64Array
  /** Per drawn token: its place `t`, how many features were active, the clock's row. */
  readonly places: Int32Array
  readonly active: Int32Array
  readonly clocks: Int32Array
  /** Per drawn token and action: whether the move was open. */
  readonly open: Uint8Array
}

export interface Gradients {
  /** The rows with one for every feature of the segments that is new, in their order. */
  rowsFor(
    segments: readonly TokenSegment[],
    rowOf: ReadonlyMap<number, number>,
  ): ReadonlyMap<number, number>
  /** Adds d loss / d weights of one segment to `gradient`, and its drawn tokens to `sums`. */
  add(
    segment: TokenSegment,
    weight: number,
    pass: {
      readonly loss: Loss
      readonly weights: Weights
      readonly gradient: Float64Array
      readonly sums: Tally
    },
  ): void
}

export function gradients(reader: Reader, tokenizer: Tokenizer): Gradients {
  const { actions } = reader
  const readings = new WeakMap<TokenSegment, Reading>()
  const now = distribution(actions)
  const logits = new Float64Array(actions)
  const pulled = new Float64Array(actions)
  /** Of each drawn token of the segment at hand: the probabilities of all moves, then d loss / d logits. */
  let slopes = new Float64Array(0)

  const readSegment = (segment: TokenSegment, rowOf: ReadonlyMap<number, number>): Reading => {
    const state = reader.start()
    const drawn = segment.mask.reduce((sum, one) => sum + one, 0)
    const places = new Int32Array(drawn)
    const active = new Int32Array(drawn)
    const clocks = new Int32Array(drawn)
    const open = new Uint8Array(drawn * actions)
    let n = 0
    segment.tokens.forEach((token, at) => {
      const t = at - segment.promptLength
      if (t >= 0 && segment.mask[t] === 1) {
        places[n] = t
        active[n] = state.keys.length
        clocks[n] = rowOf.get(reader.clockKey(state))! // `rowsFor` gave every feature a row
        reader.writeOpen(state, open, n * actions)
        n++
      }
      reader.read(state, token)
    })
    const rows = Int32Array.from(state.keys, (key) => rowOf.get(key)!)
    return { rows, values: Float64Array.from(state.values), places, active, clocks, open }
  }

  /** log p of each drawn token; leaves the probabilities of all moves in `slopes`. */
  const read = (
    segment: TokenSegment,
    { rows, values, places, active, clocks, open }: Reading,
    weights: Weights,
    entropies: Float64Array,
  ): Float64Array => {
    if (slopes.length < places.length * actions) slopes = new Float64Array(places.length * actions)
    const logprobs = new Float64Array(segment.mask.length)
    logits.fill(0)
    let absorbed = 0
    for (let n = 0; n < places.length; n++) {
      for (; absorbed < active[n]!; absorbed++)
        addFrom(logits, weights.values, rows[absorbed]! * actions, values[absorbed]!)
      now.logprobs.set(logits)
      addFrom(now.logprobs, weights.values, clocks[n]! * actions, 1)
      softmax(now, open, n * actions, segment.temperature)
      const t = places[n]!
      logprobs[t] = now.logprobs[segment.tokens[segment.promptLength + t]!]!
      entropies[t] = now.entropy
      slopes.set(now.probabilities, n * actions)
    }
    return logprobs
  }

  return {
    rowsFor(segments, rowOf) {
      const rows = new Map(rowOf)
      const add = (key: number): void => {
        if (!rows.has(key)) rows.set(key, rows.size)
      }
      for (const segment of segments) {
        if (readings.has(segment)) continue
        const state = reader.start()
        for (const token of segment.tokens) {
          reader.read(state, token)
          if (tokenizer.isClock(token)) add(reader.clockKey(state))
        }
        state.keys.forEach(add)
        readings.set(segment, readSegment(segment, rows))
      }
      return rows
    },

    add(segment, weight, { loss, weights, gradient, sums }) {
      const reading = readings.get(segment) ?? readSegment(segment, weights.rowOf)
      const { rows, values, places, active, clocks } = reading
      const bonus = weight * loss.entropy
      const entropies = new Float64Array(segment.mask.length)
      const logprobs = read(segment, reading, weights, entropies)
      const pulls = sums.add({ segment, logprobs, entropies, weight })
      for (let n = 0; n < places.length; n++) {
        const t = places[n]!
        const token = segment.tokens[segment.promptLength + t]!
        const clock = clocks[n]! * actions
        for (let a = 0; a < actions; a++) {
          const p = slopes[n * actions + a]!
          // The bonus adds d(-cH)/dz = c p (log p + H).
          const spread = bonus !== 0 && p > 0 ? bonus * p * (Math.log(p) + entropies[t]!) : 0
          const slope = (pulls[t]! * ((a === token ? 1 : 0) - p) + spread) / segment.temperature
          slopes[n * actions + a] = slope
          gradient[clock + a] = gradient[clock + a]! + slope
        }
      }
      // A feature, once active, is active at every later token: its row gets all slopes from there on.
      pulled.fill(0)
      for (let n = places.length - 1; n >= 0; n--) {
        addFrom(pulled, slopes, n * actions, 1)
        for (let i = n > 0 ? active[n - 1]! : 0; i < active[n]!; i++) {
          const base = rows[i]! * actions
          const value = values[i]!
          for (let a = 0; a < actions; a++)
            gradient[base + a] = gradient[base + a]! + value * pulled[a]!
        }
      }
    },
  }
}
