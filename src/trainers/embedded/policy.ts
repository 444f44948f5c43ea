/**
 * What the embedded policy reads: features of a token prefix, the weight rows they stand for, and its distribution.
 *
 * Features are statements, whichever question brought them, and words of the intake and of long replies. A feature counts once in a consultation. The trainer creates a feature's row the first time a batch contains
 * it, in the batch's order, so the same batches make the same weights, however runs are interleaved. A doctor takes an
 * action at most once, and the last turn is for the diagnosis: both are part of the policy, in sampling and training.
 */
import type { ActionSpace } from '../../knowledge/action-space.js'
import { type Tokenizer, wordBuckets } from './tokenizer.js'

/** State of a token prefix. Features are only ever added, so reading on costs no more than the new tokens. */
export interface PrefixState {
  /** Active features in the order they were added. */
  readonly features: number[]
  /** Value of each feature. */
  readonly values: number[]
  /** The active features. */
  readonly known: Set<number>
  /** 1 for each action already taken. */
  readonly taken: Uint8Array
  turnsLeft: number
  /** Whether no action was taken yet: what is read is the intake. */
  atIntake: boolean
  /** Statement and word tokens since the last action. */
  readonly block: number[]
}

/** Adds a feature that is not active yet. */
function addFeature(state: PrefixState, feature: number, value: number): void {
  if (state.known.has(feature)) return
  state.known.add(feature)
  state.features.push(feature)
  state.values.push(value)
}

/** A complaint's words are features of their own, above all tokens: "no pain" in a reply must not count as its "pain". */
const intakeWords = 4 * wordBuckets

/** Turns the collected tokens of an intake or a reply into features. */
function closeBlock(state: PrefixState, isStatement: Tokenizer['isStatement']): void {
  const words = state.block.reduce((sum, token) => sum + (isStatement(token) ? 0 : 1), 0)
  // A long reply must not dominate: the squares of its words' values sum to 1.
  const share = 1 / Math.sqrt(Math.max(1, words))
  for (const token of state.block) {
    if (isStatement(token)) addFeature(state, token, 1)
    else addFeature(state, token + (state.atIntake ? intakeWords : 0), share)
  }
  state.block.length = 0
}

/** Creates the feature extractor of a policy over an action space, which reads token streams one token at a time. */
export function featureExtractor(
  actionSpace: ActionSpace,
  { actions, isClock, isStatement, turnsLeft }: Tokenizer,
) {
  const { repeatable = false } = actionSpace
  const concludes = actionSpace.actions.map(({ kind }) => repeatable || kind === 'diagnose')
  return {
    /** Number of actions. */
    actions,
    /** Whether each action concludes (a diagnosis), or every one where actions are replies. */
    concludes,
    /** True for token ids that are clock ticks. */
    isClock,
    /** State of the empty prefix. */
    initialState: (): PrefixState => ({
      ...{ features: [0], values: [1], known: new Set([0]), taken: new Uint8Array(actions) },
      ...{ turnsLeft: 0, atIntake: true, block: [] },
    }),
    /** Reads one token into the state. */
    read(state: PrefixState, token: number): void {
      if (isClock(token)) {
        closeBlock(state, isStatement)
        state.turnsLeft = turnsLeft(token)
      } else if (token < actions) {
        state.taken[token] = 1
        state.atIntake = false
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
