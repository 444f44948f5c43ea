/**
 * The embedded backend: a policy in TypeScript whose vocabulary is utterances. No Python, no GPU, no key.
 *
 * It samples token ids, takes the same batches and the same clipped loss as every other backend, and steps
 * with Adam, so the whole path from case to weights is real on any laptop.
 */
import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import type { Agent } from '../../agent.js'
import type { Backend, Capabilities, StepReport } from '../../backend.js'
import { assertSupported } from '../../backend.js'
import type { TokenSegment, TrainBatch } from '../../batch.js'
import { assertBatch } from '../../batch.js'
import { uniform } from '../../seed.js'
import type { Action } from '../../turn.js'
import type { Vocabulary } from '../../vocabulary.js'
import { tokenLoss } from '../losses.js'
import type { AdamState } from './adam.js'
import { adam, grown } from './adam.js'
import { loadSnapshot, saveSnapshot } from './checkpoint.js'
import type { Weights } from './policy.js'
import { activeFeatures, policy } from './policy.js'
import { tokenizer } from './tokenizer.js'

const capabilities: Capabilities = {
  losses: ['policy-gradient', 'ppo-clip'],
  normalisers: ['token-mean', 'rollout-mean', 'dr-grpo', 'sum'],
  entropy: true,
  exports: ['json'],
}

/** Sums over the drawn tokens of a batch. */
interface Tally {
  tokens: number
  loss: number
  ratio: number
  maxRatio: number
  square: number
  clipped: number
  kl: number
  entropy: number
  current: number
  gap: number
  maxGap: number
}

export interface EmbeddedOptions {
  readonly vocabulary: Vocabulary
}

/** Opens a fresh policy that finds every utterance equally likely. */
export function embedded({ vocabulary }: EmbeddedOptions): Backend {
  const read = tokenizer(vocabulary)
  const net = policy(vocabulary, read)
  const { actions } = net
  let rowOf = new Map<number, number>()
  let weights: Weights = { rows: 0, values: new Float64Array(0) }
  let optimiser: AdamState = { steps: 0, mean: new Float64Array(0), square: new Float64Array(0) }
  let version = 0

  /** Gives every feature of the batch a row, in the batch's order. */
  const addRows = (segments: readonly TokenSegment[]): Map<number, number> => {
    const rows = new Map(rowOf)
    for (const { tokens } of segments) {
      const state = net.start()
      for (const token of tokens) {
        net.read(state, token)
        if (!read.isClock(token)) continue
        for (const [key] of activeFeatures(state, actions)) if (!rows.has(key)) rows.set(key, rows.size)
      }
    }
    return rows
  }

  const addGradient = (
    batch: TrainBatch,
    rows: ReadonlyMap<number, number>,
    current: Weights,
    gradient: Float64Array,
  ): Tally => {
    const tally: Tally = {
      tokens: 0,
      loss: 0,
      ratio: 0,
      maxRatio: 0,
      square: 0,
      clipped: 0,
      kl: 0,
      entropy: 0,
      current: 0,
      gap: 0,
      maxGap: 0,
    }
    const logprobs = new Float64Array(actions)
    const slopes = new Float64Array(actions)
    batch.segments.forEach((segment, s) => {
      const weight = batch.normaliser.perSegment[s]!
      const { tokens, promptLength, temperature } = segment
      const state = net.start()
      for (let at = 0; at < tokens.length; at++) {
        const token = tokens[at]!
        const t = at - promptLength
        if (t >= 0 && segment.mask[t] === 1) {
          net.logprobs(state, rows, current, temperature, logprobs)
          const logprob = logprobs[token]!
          const sampled = segment.logprobs[t]!
          const one = tokenLoss(batch.loss, logprob, sampled, segment.advantages[t]!)
          let entropy = 0
          for (let a = 0; a < actions; a++)
            if (logprobs[a]! > Number.NEGATIVE_INFINITY) entropy -= Math.exp(logprobs[a]!) * logprobs[a]!
          tally.tokens++
          tally.loss += weight * (one.value - batch.loss.entropy * entropy)
          tally.ratio += one.ratio
          tally.maxRatio = Math.max(tally.maxRatio, one.ratio)
          tally.square += one.ratio * one.ratio
          tally.clipped += one.clipped ? 1 : 0
          tally.kl += sampled - logprob
          tally.entropy += entropy
          if (segment.policyVersions[t] === version) {
            const gap = Math.abs(sampled - logprob)
            tally.current++
            tally.gap += gap
            tally.maxGap = Math.max(tally.maxGap, gap)
          }
          const scale = weight / temperature
          for (let a = 0; a < actions; a++) {
            const lp = logprobs[a]!
            const p = Math.exp(lp)
            // d(-H)/dz = p (log p + H), and 0 log 0 = 0 for a closed move.
            const towardsEntropy = p > 0 ? batch.loss.entropy * p * (lp + entropy) : 0
            slopes[a] = scale * (one.slope * ((a === token ? 1 : 0) - p) + towardsEntropy)
          }
          for (const [key, value] of activeFeatures(state, actions)) {
            const base = rows.get(key)! * actions
            for (let a = 0; a < actions; a++) gradient[base + a] = gradient[base + a]! + value * slopes[a]!
          }
        }
        net.read(state, token)
      }
    })
    return tally
  }

  const report = (tally: Tally, gradNorm: number): StepReport => ({
    policyVersion: version,
    loss: tally.loss,
    gradNorm,
    ratio: { mean: tally.ratio / tally.tokens, max: tally.maxRatio },
    clipFraction: tally.clipped / tally.tokens,
    kl: tally.kl / tally.tokens,
    entropy: tally.entropy / tally.tokens,
    logprobGap: { mean: tally.current > 0 ? tally.gap / tally.current : 0, max: tally.maxGap },
    ess: (tally.ratio * tally.ratio) / (tally.tokens * tally.square),
    tokens: tally.tokens,
  })

  const checkTokens = (batch: TrainBatch): void => {
    batch.segments.forEach((segment, s) => {
      segment.mask.forEach((drawn, t) => {
        const token = segment.tokens[segment.promptLength + t]!
        if (drawn === 1 && token >= actions)
          throw new RangeError(
            `segments[${s}] of rollout ${segment.rolloutId}: expected a drawn token below ${actions}, got ${token} at ${t}`,
          )
      })
    })
  }

  return {
    name: 'embedded',
    capabilities,
    get policyVersion() {
      return version
    },

    sampler({ temperature = 1 } = {}): Agent {
      if (!(temperature >= 0))
        throw new RangeError(`Expected \`temperature\` to be >= 0, got \`${temperature}\``)
      const held = { weights, rowOf, version }
      const logprobs = new Float64Array(actions)
      return (observation, { seed }) => {
        const prompt = read.encode(observation)
        const state = net.start()
        for (const token of prompt) net.read(state, token)
        net.logprobs(state, held.rowOf, held.weights, temperature || 1, logprobs)
        const token = draw(logprobs, temperature, uniform(seed, 'move', observation.turns.length))
        // Every id below `actions` is one of the vocabulary's.
        const action = vocabulary.actions[token] as Action
        return {
          action,
          sample: {
            prompt,
            tokens: [token],
            logprobs: [temperature === 0 ? 0 : logprobs[token]!],
            policyVersion: held.version,
            temperature,
            logprobMode: 'scaled',
            stopReason: 'stop',
          },
        }
      }
    },

    async step(batch) {
      assertSupported(capabilities, batch)
      assertBatch(batch)
      checkTokens(batch)
      if (batch.policyVersion !== version)
        throw new RangeError(
          `Expected a batch for policy version ${version}, got one for ${batch.policyVersion}`,
        )
      const rows = addRows(batch.segments)
      const size = rows.size * actions
      const current = { rows: rows.size, values: grown(weights.values, size) }
      const gradient = new Float64Array(size)
      const tally = addGradient(batch, rows, current, gradient)
      if (tally.tokens === 0) throw new RangeError('Expected a batch with drawn tokens, got none')
      const next = adam(current.values, gradient, optimiser, batch.adam)
      if (!Number.isFinite(next.gradNorm))
        throw new RangeError(`Expected a finite gradient, got norm ${next.gradNorm}; nothing was applied`)
      rowOf = rows
      weights = { rows: rows.size, values: next.weights }
      optimiser = next.state
      version += 1
      return report(tally, next.gradNorm)
    },

    save: (folder) =>
      saveSnapshot(
        folder,
        {
          policyVersion: version,
          keys: [...rowOf.keys()],
          weights: weights.values,
          adam: optimiser,
        },
        vocabulary,
      ),

    async load(folder) {
      const loaded = await loadSnapshot(folder, vocabulary)
      rowOf = new Map(loaded.keys.map((key, row) => [key, row] as const))
      weights = { rows: loaded.keys.length, values: loaded.weights }
      optimiser = loaded.adam
      version = loaded.policyVersion
    },

    async export(format, file) {
      if (format !== 'json') throw new RangeError(`Expected an export format of json, got \`${format}\``)
      const rowsOut = [...rowOf].map(([key, row]) => ({
        feature: key,
        weights: [...weights.values.subarray(row * actions, (row + 1) * actions)],
      }))
      const temporary = `${file}.${randomUUID()}.tmp`
      await writeFile(temporary, JSON.stringify({ vocabulary, policyVersion: version, rows: rowsOut }))
      await rename(temporary, file)
    },

    async [Symbol.asyncDispose]() {},
  }
}

/** An index drawn from log-probs by one uniform number; the likeliest (first of equals) at temperature 0. */
function draw(logprobs: Float64Array, temperature: number, u: number): number {
  let best = 0
  for (let a = 1; a < logprobs.length; a++) if (logprobs[a]! > logprobs[best]!) best = a
  if (temperature === 0) return best
  let left = u
  let last = best
  for (let a = 0; a < logprobs.length; a++) {
    const p = Math.exp(logprobs[a]!)
    if (p <= 0) continue
    last = a
    left -= p
    if (left < 0) return a
  }
  return last
}
