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

/** One policy version; never written after it is made. */
export interface Weights {
  /** Feature to row; rows from `rows` on are younger than these weights and not part of them. */
  readonly rowOf: ReadonlyMap<number, number>
  readonly rows: number
  /** rows × actions, row-major. */
  readonly values: Float64Array
}

/** What a prefix amounts to. Features only ever join, so that reading on costs no more than what is new. */
export interface PrefixState {
  /** Active features in the order they joined, the clock apart, with their values. */
  readonly keys: number[]
  readonly values: number[]
  /** Sum of the weight rows of the first `absorbed` features. */
  readonly logits: Float64Array
  absorbed: number
  /** 1 where the move was made already. */
  readonly made: Uint8Array
  /** Turns left. */
  left: number
  slot: number
  readonly block: number[]
}

export interface Policy {
  readonly actions: number
  start(): PrefixState
  /** Reads one token. */
  read(state: PrefixState, token: number): void
  /** The feature that stands for the turns left. */
  clockKey(state: PrefixState): number
  /** Fills `logprobs` (length `actions`) with log-probs at `temperature`; closed moves get -Infinity. */
  distribution(
    state: PrefixState,
    weights: Weights,
    temperature: number,
    logprobs: Float64Array,
  ): void
}

const intakeSlot = (actions: number): number => actions
const clockSlot = (actions: number): number => actions + 1

/** Adds `scale` times a feature's weight row, if the weights have one. */
function addRow(
  into: Float64Array,
  { rowOf, rows, values }: Weights,
  key: number,
  scale: number,
): void {
  const row = rowOf.get(key)
  if (row === undefined || row >= rows) return
  const base = row * into.length
  for (let a = 0; a < into.length; a++) into[a] = into[a]! + scale * values[base + a]!
}

/** Turns logits into log-probs in place. */
function logSoftmax(logits: Float64Array): void {
  let top = Number.NEGATIVE_INFINITY
  for (let a = 0; a < logits.length; a++) if (logits[a]! > top) top = logits[a]!
  let sum = 0
  for (let a = 0; a < logits.length; a++) sum += Math.exp(logits[a]! - top)
  const shift = top + Math.log(sum)
  for (let a = 0; a < logits.length; a++) logits[a] = logits[a]! - shift
}

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

  const clockKey = ({ left }: PrefixState): number => clockSlot(actions) * wordSpace + left

  return {
    actions,
    clockKey,
    start: () => ({
      keys: [],
      values: [],
      logits: new Float64Array(actions),
      absorbed: 0,
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
    distribution(state, weights, temperature, out) {
      for (; state.absorbed < state.keys.length; state.absorbed++)
        addRow(state.logits, weights, state.keys[state.absorbed]!, state.values[state.absorbed]!)
      out.set(state.logits)
      addRow(out, weights, clockKey(state), 1)
      for (let a = 0; a < actions; a++) {
        const open = concludes[a] === 1 || (state.left > 1 && state.made[a] === 0)
        out[a] = open ? out[a]! / temperature : Number.NEGATIVE_INFINITY
      }
      logSoftmax(out)
    },
  }
}
