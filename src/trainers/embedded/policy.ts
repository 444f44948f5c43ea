/**
 * A linear softmax policy over utterances whose state is a function of the token prefix.
 *
 * Features are pairs (move, word of the reply to it), the intake's words and the clock; logits are a sum of
 * their weight rows. A row is created by the trainer the first time a batch holds its feature, in the
 * batch's order, so the same batches make the same weights whatever ran at the same time. A move that was
 * made is not made again, and the last turn is for the diagnosis: both are part of the policy, in sampling
 * and in training alike.
 */
import type { ActionSpace } from '../../knowledge/action-space.js'
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
  /** 1 where the move was made already. */
  readonly made: Uint8Array
  /** Turns left. */
  left: number
  slot: number
  readonly block: number[]
}

/** Reads token streams into features. */
export interface Reader {
  readonly actions: number
  /** True for ids that are clock ticks. */
  isClock(token: number): boolean
  start(): PrefixState
  /** Reads one token. */
  read(state: PrefixState, token: number): void
  /** The feature that stands for the turns left. */
  clockKey(state: PrefixState): number
  /** Writes 1 where a move may be made now, into `open` from `at` on. */
  writeOpen(state: PrefixState, open: Uint8Array, at?: number): void
}

export function reader(actionSpace: ActionSpace, tokenizer: Tokenizer): Reader {
  const { actions } = tokenizer
  const [intakeSlot, clockSlot] = [actions, actions + 1]
  const concludes = actionSpace.actions.map(({ kind }) => kind === 'diagnose')

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
    isClock: tokenizer.isClock,
    clockKey: ({ left }) => clockSlot * wordSpace + left,
    start: () => ({
      keys: [],
      values: [],
      made: new Uint8Array(actions),
      left: 0,
      slot: intakeSlot,
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
    writeOpen({ left, made }, open, at = 0) {
      for (let a = 0; a < actions; a++)
        open[at + a] = concludes[a] || (left > 1 && made[a] === 0) ? 1 : 0
    },
  }
}

/** into[i] += scale * from[at + i] over the whole of `into`. */
export function addFrom(into: Float64Array, from: Float64Array, at: number, scale: number): void {
  for (let i = 0; i < into.length; i++) into[i] = into[i]! + scale * from[at + i]!
}

/** Adds a row of the weights, scaled; a younger row, or -1 for none, is not part of them and adds nothing. */
export function addRow(
  into: Float64Array,
  { rows, values }: Weights,
  row: number,
  scale: number,
): void {
  if (row >= 0 && row < rows) addFrom(into, values, row * into.length, scale)
}

/** What the policy thinks of each move, and a place to think in. */
export interface Distribution {
  readonly logprobs: Float64Array
  readonly probabilities: Float64Array
  /** Nats. */
  entropy: number
}

export const distribution = (actions: number): Distribution => ({
  logprobs: new Float64Array(actions),
  probabilities: new Float64Array(actions),
  entropy: 0,
})

/**
 * Turns the logits in `out.logprobs` into log-probs at a temperature; a move that is not open gets
 * -Infinity and probability 0.
 * @param at where the marks of the open moves begin in `open`
 */
export function softmax(
  out: Distribution,
  open: Uint8Array,
  at: number,
  temperature: number,
): void {
  const { logprobs, probabilities } = out
  let top = Number.NEGATIVE_INFINITY
  for (let a = 0; a < logprobs.length; a++) {
    const logit = open[at + a] === 1 ? logprobs[a]! / temperature : Number.NEGATIVE_INFINITY
    logprobs[a] = logit
    if (logit > top) top = logit
  }
  let sum = 0
  for (let a = 0; a < logprobs.length; a++) {
    const power = Math.exp(logprobs[a]! - top)
    probabilities[a] = power
    sum += power
  }
  const shift = top + Math.log(sum)
  let entropy = 0
  for (let a = 0; a < logprobs.length; a++) {
    const [logprob, p] = [logprobs[a]! - shift, probabilities[a]! / sum]
    logprobs[a] = logprob
    probabilities[a] = p
    // 0 log 0 = 0.
    if (p > 0) entropy -= p * logprob
  }
  out.entropy = entropy
}
