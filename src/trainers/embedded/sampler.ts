/** The embedded policy as an agent: encodes the observation, samples an action and keeps its token and log-prob. */
import type { Agent } from '../../agent.js'
import { extendsParts } from '../../episode.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { uniform } from '../../seed.js'
import type { Action, Turn } from '../../turn.js'
import { addEvidence, type PolicyShape, type PolicyWeights, policyHead } from './belief.js'
import type { FeatureExtractor, PrefixState } from './policy.js'
import { actionDistribution, maskedSoftmax } from './policy.js'
import type { Tokenizer } from './tokenizer.js'

/** How far a consultation has been read, so that its next turn continues from there. */
interface PrefixProgress {
  readonly prompt: readonly number[]
  readonly state: PrefixState
  /** Score of each conclusion: the sum of the evidence of the first `added` features. */
  readonly scores: Float64Array
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
function prefixReader(extractor: FeatureExtractor, { conclusions }: PolicyShape) {
  const known = new WeakMap<Turn, PrefixProgress>()
  return (prompt: readonly number[], turns: readonly Turn[]): PrefixProgress => {
    const now = turns.at(-1)
    const same = now && known.get(now)
    // Asked again at the same place, for another ending.
    if (same && same.prompt.length === prompt.length && extendsParts(prompt, [same.prompt]))
      return same
    const before = turns.at(-2)
    const earlier = before && known.get(before)
    if (before) known.delete(before)
    const from = earlier && extendsParts(prompt, [earlier.prompt]) ? earlier : undefined
    const state = from?.state ?? extractor.initialState()
    for (let i = from?.prompt.length ?? 0; i < prompt.length; i++) extractor.read(state, prompt[i]!)
    const { scores = new Float64Array(conclusions.length), added = 0 } = from ?? {}
    const progress = { prompt, state, scores, added }
    if (now) known.set(now, progress)
    return progress
  }
}

/** What a sampler needs of a policy. */
interface SampledPolicy {
  readonly shape: PolicyShape
  readonly weights: PolicyWeights
  readonly policyVersion: number
}

/**
 * Creates an agent that keeps the weights it was created with; later steps do not affect it. At temperature 0 it takes
 * the most likely action.
 */
export function sampler(
  actionSpace: ActionSpace,
  tokenizer: Tokenizer,
  extractor: FeatureExtractor,
  { shape, weights, policyVersion }: SampledPolicy,
  temperature: number,
): Agent {
  const current = actionDistribution(extractor.actions)
  const actionMask = new Uint8Array(extractor.actions)
  const readPrompt = prefixReader(extractor, shape)
  const head = policyHead(shape)

  return (observation, { seed }) => {
    const prompt = tokenizer.encode(observation)
    const progress = readPrompt(prompt, observation.turns)
    const { state, scores } = progress
    for (; progress.added < state.features.length; progress.added++) {
      const row = weights.rowOf.get(state.features[progress.added]!) ?? -1
      addEvidence(scores, weights, row, state.values[progress.added]!)
    }
    extractor.writeActionMask(state, actionMask)
    const seen = { mask: actionMask, at: 0, logits: current.logprobs }
    head.forward(weights, scores, state.turnsLeft, seen)
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
