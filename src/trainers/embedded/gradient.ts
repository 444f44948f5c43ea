/** The policy's passes over a segment: log-probs forwards, and the exact gradient by its weights back. */
import type { Loss, TokenSegment } from '../../batch.js'
import type { StepTotals } from '../losses/step-report.js'
import type { Weights } from './policy.js'
import { addFrom, addRow, distribution, softmax } from './policy.js'
import type { Reading } from './reading.js'

export interface Passes {
  /** log p of every token after the prompt, 0 where masked. */
  logprobs(segment: TokenSegment, reading: Reading, weights: Weights): Float64Array
  /**
   * Adds d loss / d weights of one segment to `gradient`, and its drawn tokens to `sums`; `weights` must have a row
   * for every feature.
   */
  add(
    segment: TokenSegment,
    reading: Reading,
    weight: number,
    pass: {
      readonly loss: Loss
      readonly weights: Weights
      readonly gradient: Float64Array
      readonly sums: StepTotals
    },
  ): void
}

/** Passes of a policy over so many actions; they share a place to think in, so one runs at a time. */
export function passes(actions: number): Passes {
  const now = distribution(actions)
  const logits = new Float64Array(actions)
  const pulled = new Float64Array(actions)
  /** Of each drawn token of the segment at hand: the probabilities of all moves, then d loss / d logits. */
  let slopes = new Float64Array(0)

  /** log p of each drawn token; leaves the probabilities of all moves in `slopes`. */
  const read = (
    segment: TokenSegment,
    { rows, ticks, values, places, active, clocks, open }: Reading,
    weights: Weights,
    entropies: Float64Array,
  ): Float64Array => {
    if (slopes.length < places.length * actions) slopes = new Float64Array(places.length * actions)
    const logprobs = new Float64Array(segment.mask.length)
    logits.fill(0)
    let absorbed = 0
    for (let n = 0; n < places.length; n++) {
      for (; absorbed < active[n]!; absorbed++)
        addRow(logits, weights, rows[ticks + absorbed]!, values[absorbed]!)
      now.logprobs.set(logits)
      addRow(now.logprobs, weights, rows[clocks[n]!] ?? -1, 1)
      softmax(now, open, n * actions, segment.temperature)
      const t = places[n]!
      logprobs[t] = now.logprobs[segment.tokens[segment.promptLength + t]!]!
      entropies[t] = now.entropy
      slopes.set(now.probabilities, n * actions)
    }
    return logprobs
  }

  return {
    logprobs: (segment, reading, weights) =>
      read(segment, reading, weights, new Float64Array(segment.mask.length)),

    add(segment, reading, weight, { loss, weights, gradient, sums }) {
      const { rows, ticks, values, places, active, clocks } = reading
      const bonus = weight * loss.entropy
      const entropies = new Float64Array(segment.mask.length)
      const logprobs = read(segment, reading, weights, entropies)
      const pulls = sums.add({ segment, logprobs, entropies, weight })
      for (let n = 0; n < places.length; n++) {
        const t = places[n]!
        const token = segment.tokens[segment.promptLength + t]!
        const clock = rows[clocks[n]!]! * actions
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
          const base = rows[ticks + i]! * actions
          const value = values[i]!
          for (let a = 0; a < actions; a++)
            gradient[base + a] = gradient[base + a]! + value * pulled[a]!
        }
      }
    },
  }
}
