/**
 * A linear softmax policy over utterances whose state is a function of the token prefix.
 *
 * Features are pairs (move, word of the reply to it), the intake's words and the clock; logits are a sum of
 * their weight rows. A row is created by the trainer the first time a batch holds its feature, in the
 * batch's order, so the same batches make the same weights whatever ran at the same time. A move that was
 * made is not made again, and the last turn is for the diagnosis: both are part of the policy, in sampling
 * and in training alike.
 */
import type { Vocabulary } from '../../vocabulary.js'
import type { Tokenizer } from './tokenizer.js'
import { wordSpace } from './tokenizer.js'

/** Weights of one policy version; never written after it is made. */
export interface Weights {
  readonly rows: number
  /** rows × actions, row-major. */
  readonly values: Float64Array
}

/** What a prefix amounts to: active feature keys with their values, and which moves are open. */
export interface PrefixState {
  readonly keys: number[]
  readonly values: number[]
  /** 1 where the move was made already. */
  readonly made: Uint8Array
  left: number
  slot: number
  readonly block: number[]
}

export interface Policy {
  readonly actions: number
  start(): PrefixState
  /** Reads one token. */
  read(state: PrefixState, token: number): void
  /** Fills `logprobs` (length `actions`) with log-probs at `temperature`; closed moves get -Infinity. */
  logprobs(
    state: PrefixState,
    rowOf: ReadonlyMap<number, number>,
    weights: Weights,
    temperature: number,
    logprobs: Float64Array,
  ): void
}

const intakeSlot = (actions: number): number => actions
const clockSlot = (actions: number): number => actions + 1

export function policy(vocabulary: Vocabulary, tokenizer: Tokenizer): Policy {
  const { actions } = tokenizer
  const concludes = Uint8Array.from(vocabulary.actions, (action) =>
    action.kind === 'diagnose' ? 1 : 0,
  )

  const closeBlock = (state: PrefixState): void => {
    // A long reply must not shout: the squares of a reply's values sum to 1.
    const value = 1 / Math.sqrt(Math.max(1, state.block.length))
    for (const word of state.block) {
      state.keys.push(state.slot * wordSpace + (word - actions))
      state.values.push(value)
    }
    state.block.length = 0
  }

  return {
    actions,
    start: () => ({
      keys: [],
      values: [],
      made: new Uint8Array(actions),
      left: 0,
      slot: intakeSlot(actions),
      block: [],
    }),
    read(state, token) {
      if (tokenizer.isClock(token)) {
        closeBlock(state)
        state.left = tokenizer.clock(token)
      } else if (token < actions) {
        state.made[token] = 1
        state.slot = token
      } else state.block.push(token)
    },
    logprobs(state, rowOf, weights, temperature, out) {
      out.fill(0)
      const add = (key: number, value: number): void => {
        const row = rowOf.get(key)
        // A row younger than these weights is not part of them.
        if (row === undefined || row >= weights.rows) return
        const base = row * actions
        for (let a = 0; a < actions; a++) out[a] = out[a]! + value * weights.values[base + a]!
      }
      for (let i = 0; i < state.keys.length; i++) add(state.keys[i]!, state.values[i]!)
      add(clockSlot(actions) * wordSpace + state.left, 1)
      let top = Number.NEGATIVE_INFINITY
      for (let a = 0; a < actions; a++) {
        const open = concludes[a] === 1 || (state.left > 1 && state.made[a] === 0)
        out[a] = open ? out[a]! / temperature : Number.NEGATIVE_INFINITY
        if (out[a]! > top) top = out[a]!
      }
      let sum = 0
      for (let a = 0; a < actions; a++) sum += Math.exp(out[a]! - top)
      const shift = top + Math.log(sum)
      for (let a = 0; a < actions; a++) out[a] = out[a]! - shift
    },
  }
}

/** The keys active in a state, the clock's among them, with their values. */
export function* activeFeatures(
  state: PrefixState,
  actions: number,
): Generator<readonly [key: number, value: number]> {
  for (let i = 0; i < state.keys.length; i++) yield [state.keys[i]!, state.values[i]!]
  yield [clockSlot(actions) * wordSpace + state.left, 1]
}
