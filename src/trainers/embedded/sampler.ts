/** The embedded policy as an agent: reads what the doctor reads, draws a move, carries its token. */
import type { Agent } from '../../agent.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { uniform } from '../../seed.js'
import type { Action, Turn } from '../../turn.js'
import type { PrefixState, Reader, Weights } from './policy.js'
import { addRow, distribution, softmax } from './policy.js'
import type { Tokenizer } from './tokenizer.js'

/** How far one consultation has been read, so that the next turn reads on. */
interface Reading {
  readonly prompt: readonly number[]
  readonly state: PrefixState
  /** Sum of the weight rows of the first `absorbed` features. */
  readonly logits: Float64Array
  absorbed: number
}

const startsWith = (tokens: readonly number[], prefix: readonly number[]): boolean => {
  if (prefix.length > tokens.length) return false
  for (let i = 0; i < prefix.length; i++) if (prefix[i] !== tokens[i]) return false
  return true
}

/** An index drawn by one uniform number. */
function draw(probabilities: Float64Array, u: number): number {
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

/** The likeliest, the first of equals. */
function likeliest(logprobs: Float64Array): number {
  let best = 0
  for (let a = 1; a < logprobs.length; a++) if (logprobs[a]! > logprobs[best]!) best = a
  return best
}

export interface SamplerParts {
  readonly actionSpace: ActionSpace
  readonly tokenizer: Tokenizer
  readonly reader: Reader
  readonly weights: Weights
  readonly policyVersion: number
  /** 0 takes the likeliest move. */
  readonly temperature: number
}

/** An agent that keeps the weights it was made with, whatever is trained meanwhile. */
export function sampler({
  actionSpace,
  tokenizer,
  reader,
  weights,
  policyVersion,
  temperature,
}: SamplerParts): Agent {
  const { actions } = reader
  const { rowOf } = weights
  const now = distribution(actions)
  const open = new Uint8Array(actions)
  const readings = new WeakMap<Turn, Reading>()

  /** Takes up the reading of the turn before, if it is of this very consultation. */
  const readOn = (prompt: readonly number[], turns: readonly Turn[]): Reading => {
    const before = turns.at(-2)
    const known = before && readings.get(before)
    if (before) readings.delete(before)
    const from = known && startsWith(prompt, known.prompt) ? known : undefined
    const state = from?.state ?? reader.start()
    for (let i = from?.prompt.length ?? 0; i < prompt.length; i++) reader.read(state, prompt[i]!)
    const { logits = new Float64Array(actions), absorbed = 0 } = from ?? {}
    const reading = { prompt, state, logits, absorbed }
    const last = turns.at(-1)
    if (last) readings.set(last, reading)
    return reading
  }

  const addFeature = (into: Float64Array, key: number, scale: number): void =>
    addRow(into, weights, rowOf.get(key) ?? -1, scale)

  return (observation, { seed }) => {
    const prompt = tokenizer.encode(observation)
    const reading = readOn(prompt, observation.turns)
    const { state, logits } = reading
    for (; reading.absorbed < state.keys.length; reading.absorbed++)
      addFeature(logits, state.keys[reading.absorbed]!, state.values[reading.absorbed]!)
    now.logprobs.set(logits)
    addFeature(now.logprobs, reader.clockKey(state), 1)
    reader.writeOpen(state, open)
    softmax(now, open, 0, temperature || 1)
    const token =
      temperature === 0
        ? likeliest(now.logprobs)
        : draw(now.probabilities, uniform(seed, 'move', observation.turns.length))
    return {
      // Every id below `actions` is one of the vocabulary's.
      action: actionSpace.actions[token] as Action,
      sample: {
        prompt,
        tokens: [token],
        logprobs: [temperature === 0 ? 0 : now.logprobs[token]!],
        policyVersion,
        temperature,
        logprobMode: 'scaled',
        stopReason: 'stop',
      },
    }
  }
}
