/** The embedded policy as an agent: encodes the observation, samples an action and keeps its token and log-prob. */
import type { Agent } from '../../agent.js'
import { extendsParts } from '../../episode.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { uniform } from '../../seed.js'
import type { Action, Turn } from '../../turn.js'
import type { FeatureExtractor, PolicyWeights, PrefixState } from './policy.js'
import { actionDistribution, addWeightRow, maskedSoftmax } from './policy.js'
import type { Tokenizer } from './tokenizer.js'

/** How far a consultation has been read, so that its next turn continues from there. */
interface PrefixProgress {
  readonly prompt: readonly number[]
  readonly state: PrefixState
  /** Sum of the weight rows of the first `added` features. */
  readonly logits: Float64Array
  added: number
}

/** Samples an index by inverse CDF with one uniform number `u`. */
function sampleIndex(probabilities: Float64Array, u: number): number {
  let left = u
  let last = 0
  for (let a = 0; a < probabilities.length; a++) {
    if (probabilities[a] === 0) continue
    last = a
    left -= probabilities[a]!
    if (left < 0) return a
  }
  return last
}

/** Index of the highest log-prob; of equals, the first. */
function argmax(logprobs: Float64Array): number {
  let best = 0
  for (let a = 1; a < logprobs.length; a++) if (logprobs[a]! > logprobs[best]!) best = a
  return best
}

/** Reads prompts incrementally: from the turn before, if its prompt is a prefix of this one. */
function prefixReader(extractor: FeatureExtractor) {
  const known = new WeakMap<Turn, PrefixProgress>()
  return (prompt: readonly number[], turns: readonly Turn[]): PrefixProgress => {
    const before = turns.at(-2)
    const earlier = before && known.get(before)
    if (before) known.delete(before)
    const from = earlier && extendsParts(prompt, [earlier.prompt]) ? earlier : undefined
    const state = from?.state ?? extractor.initialState()
    for (let i = from?.prompt.length ?? 0; i < prompt.length; i++) extractor.read(state, prompt[i]!)
    const { logits = new Float64Array(extractor.actions), added = 0 } = from ?? {}
    const progress = { prompt, state, logits, added }
    const last = turns.at(-1)
    if (last) known.set(last, progress)
    return progress
  }
}

/**
 * Creates an agent that keeps the weights it was created with; later steps do not affect it. At temperature 0 it takes
 * the most likely action.
 */
export function sampler(
  actionSpace: ActionSpace,
  tokenizer: Tokenizer,
  extractor: FeatureExtractor,
  { weights, policyVersion }: { readonly weights: PolicyWeights; readonly policyVersion: number },
  temperature: number,
): Agent {
  const current = actionDistribution(extractor.actions)
  const actionMask = new Uint8Array(extractor.actions)
  const readPrompt = prefixReader(extractor)
  const addFeature = (into: Float64Array, feature: number, value: number): void =>
    addWeightRow(into, weights, weights.rowOf.get(feature) ?? -1, value)

  return (observation, { seed }) => {
    const prompt = tokenizer.encode(observation)
    const progress = readPrompt(prompt, observation.turns)
    const { state, logits } = progress
    for (; progress.added < state.features.length; progress.added++)
      addFeature(logits, state.features[progress.added]!, state.values[progress.added]!)
    current.logprobs.set(logits)
    addFeature(current.logprobs, extractor.clockFeature(state), 1)
    extractor.writeActionMask(state, actionMask)
    maskedSoftmax(current, actionMask, 0, temperature || 1)
    const token =
      temperature === 0
        ? argmax(current.logprobs)
        : sampleIndex(current.probabilities, uniform(seed, 'move', observation.turns.length))
    const logprob = temperature === 0 ? 0 : current.logprobs[token]!
    const drawn = { prompt, tokens: [token], logprobs: [logprob], policyVersion, temperature }
    return {
      // Every id below `actions` is an action of the action space.
      action: actionSpace.actions[token] as Action,
      sample: { ...drawn, logprobMode: 'scaled', stopReason: 'stop' },
    }
  }
}
