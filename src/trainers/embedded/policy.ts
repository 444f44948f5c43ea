/**
 * A linear softmax policy over utterances whose state is a function of the token prefix.
 *
 * Features are pairs (action, word of the reply to it), the intake's words and the clock (turns left). Logits are
 * the sum of the features' weight rows. The trainer creates a row the first time a batch contains its feature, in
 * the batch's order, so the same batches make the same weights, however runs are interleaved. A doctor takes an action
 * at most once, and the last turn is for the diagnosis: both are part of the policy, in sampling and in training alike.
 */
import type { ActionSpace } from '../../knowledge/action-space.js'
import { type Tokenizer, wordBuckets } from './tokenizer.js'

/** Weights of one policy version; never written after they are made. */
export interface PolicyWeights {
  /** Row of each feature. Rows from `rows` on were added later and are not part of these weights. */
  readonly rowOf: ReadonlyMap<number, number>
  /** Number of rows. */
  readonly rows: number
  /** rows × actions, row-major. */
  readonly values: Float64Array
}

/** State of a token prefix. Features are only ever added, so reading on costs no more than the new tokens. */
export interface PrefixState {
  /** Active features in the order they were added, without the clock. */
  readonly features: number[]
  /** Value of each feature. */
  readonly values: number[]
  /** 1 for each action already taken. */
  readonly taken: Uint8Array
  turnsLeft: number
  /** The last action, or the slot of the intake: the feature partner of the words that follow. */
  slot: number
  /** Word tokens since the last action. */
  readonly block: number[]
}

/** Turns the collected words of a reply into features. */
function closeBlock(state: PrefixState, actions: number): void {
  // A long reply must not dominate: the squares of a reply's values sum to 1.
  const value = 1 / Math.sqrt(Math.max(1, state.block.length))
  for (const word of state.block) {
    state.features.push(state.slot * wordBuckets + (word - actions))
    state.values.push(value)
  }
  state.block.length = 0
}

/** Creates the feature extractor of a policy over an action space, which reads token streams one token at a time. */
export function featureExtractor(
  actionSpace: ActionSpace,
  { actions, isClock, turnsLeft }: Tokenizer,
) {
  const [intakeSlot, clockSlot] = [actions, actions + 1]
  const { repeatable = false } = actionSpace
  const concludes = actionSpace.actions.map(({ kind }) => repeatable || kind === 'diagnose')
  return {
    /** Number of actions. */
    actions,
    /** True for token ids that are clock ticks. */
    isClock,
    /** The feature that stands for the turns left. */
    clockFeature: (state: PrefixState): number => clockSlot * wordBuckets + state.turnsLeft,
    /** State of the empty prefix. */
    initialState: (): PrefixState => ({
      ...{ features: [], values: [], taken: new Uint8Array(actions) },
      ...{ turnsLeft: 0, slot: intakeSlot, block: [] },
    }),
    /** Reads one token into the state. */
    read(state: PrefixState, token: number): void {
      if (isClock(token)) {
        closeBlock(state, actions)
        state.turnsLeft = turnsLeft(token)
      } else if (token < actions) {
        state.taken[token] = 1
        state.slot = token
      } else state.block.push(token)
    },
    /** Writes 1 for each action allowed now, else 0, into `mask` from index `at` on. */
    writeActionMask({ turnsLeft: left, taken }: PrefixState, mask: Uint8Array, at = 0): void {
      for (let a = 0; a < actions; a++)
        mask[at + a] = concludes[a] || (left > 1 && taken[a] === 0) ? 1 : 0
    },
  }
}

/** Extracts policy features from token streams. */
export type FeatureExtractor = ReturnType<typeof featureExtractor>

/** Computes into[i] += scale * from[at + i] for the whole of `into`. */
export function addScaled(into: Float64Array, from: Float64Array, at: number, scale: number): void {
  for (let i = 0; i < into.length; i++) into[i] = into[i]! + scale * from[at + i]!
}

/** Adds a scaled weight row to `into`. A row beyond these weights, or -1 for none, adds nothing. */
export function addWeightRow(
  into: Float64Array,
  { rows, values }: PolicyWeights,
  row: number,
  scale: number,
): void {
  if (row >= 0 && row < rows) addScaled(into, values, row * into.length, scale)
}

/** An empty, reusable buffer for the policy's distribution over actions at one state. */
export const actionDistribution = (actions: number) => ({
  /** Natural logarithm of each probability; logits before `maskedSoftmax`. */
  logprobs: new Float64Array(actions),
  probabilities: new Float64Array(actions),
  /** In nats. */
  entropy: 0,
})

/** The policy's distribution over actions at one state. */
export type ActionDistribution = ReturnType<typeof actionDistribution>

/**
 * Turns the logits in `out.logprobs` into log-probs at a temperature; a masked action gets -Infinity and
 * probability 0.
 * @param mask 1 for allowed actions, read from index `at` on
 */
export function maskedSoftmax(
  out: ActionDistribution,
  mask: Uint8Array,
  at: number,
  temperature: number,
): void {
  const { logprobs, probabilities } = out
  let top = Number.NEGATIVE_INFINITY
  for (let a = 0; a < logprobs.length; a++) {
    const logit = mask[at + a] === 1 ? logprobs[a]! / temperature : Number.NEGATIVE_INFINITY
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
