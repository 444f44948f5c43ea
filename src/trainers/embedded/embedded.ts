/**
 * The embedded backend: a policy in TypeScript whose vocabulary is utterances. No Python, no GPU, no key.
 *
 * It samples token ids, takes the same batches and the same clipped loss as every other backend, and steps
 * with Adam, so the whole path from case to weights is real on any laptop.
 */
import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import type { Agent } from '../../agent.js'
import type { Backend, Capabilities } from '../../backend.js'
import { assertSteppable } from '../../backend.js'
import type { Loss, TokenSegment, TrainBatch } from '../../batch.js'
import { normaliserKinds } from '../../batch.js'
import { uniform } from '../../seed.js'
import type { Action, Turn } from '../../turn.js'
import type { Vocabulary } from '../../vocabulary.js'
import type { Tally } from '../tally.js'
import { tally } from '../tally.js'
import type { AdamState } from './adam.js'
import { adam, grown } from './adam.js'
import { loadSnapshot, saveSnapshot } from './checkpoint.js'
import type { PrefixState, Weights } from './policy.js'
import { policy } from './policy.js'
import { tokenizer } from './tokenizer.js'

const capabilities: Capabilities = {
  losses: ['policy-gradient', 'ppo-clip'],
  normalisers: normaliserKinds,
  entropy: true,
  exports: ['json'],
}

/** Everything one pass over a batch reads and writes. */
interface Pass {
  readonly loss: Loss
  readonly current: Weights
  readonly gradient: Float64Array
  readonly sums: Tally
}

export interface EmbeddedOptions {
  readonly vocabulary: Vocabulary
}

/** What a sampler has read of one consultation, so that the next turn reads on. */
interface Reading {
  readonly prompt: readonly number[]
  readonly state: PrefixState
}

const startsWith = (tokens: readonly number[], prefix: readonly number[]): boolean => {
  if (prefix.length > tokens.length) return false
  for (let i = 0; i < prefix.length; i++) if (prefix[i] !== tokens[i]) return false
  return true
}

/** Opens a fresh policy that finds every utterance equally likely. */
export function embedded({ vocabulary }: EmbeddedOptions): Backend {
  const tokens = tokenizer(vocabulary)
  const net = policy(vocabulary, tokens)
  const { actions } = net
  let weights: Weights = { rowOf: new Map(), rows: 0, values: new Float64Array(0) }
  let optimiser: AdamState = { steps: 0, mean: new Float64Array(0), square: new Float64Array(0) }
  let version = 0

  /** The weights with a row of zeros for every new feature of the batch, in the batch's order. */
  const withRows = (segments: readonly TokenSegment[]): Weights => {
    const rowOf = new Map(weights.rowOf)
    const add = (key: number): void => {
      if (!rowOf.has(key)) rowOf.set(key, rowOf.size)
    }
    for (const segment of segments) {
      const state = net.start()
      for (const token of segment.tokens) {
        net.read(state, token)
        if (tokens.isClock(token)) add(net.clockKey(state))
      }
      state.keys.forEach(add)
    }
    return { rowOf, rows: rowOf.size, values: grown(weights.values, rowOf.size * actions) }
  }

  /**
   * d loss / d logits of one drawn token, counted in the tally.
   * The entropy bonus adds d(-cH)/dz = c p (log p + H); 0 log 0 = 0 for a closed move.
   */
  const slopesOf = (
    logprobs: Float64Array,
    { segment, t, weight }: { segment: TokenSegment; t: number; weight: number },
    { loss, sums }: Pass,
  ): Float64Array => {
    const drawn = segment.tokens[segment.promptLength + t]!
    const entropy = entropyOf(logprobs)
    const pull = sums.add({ segment, t, logprob: logprobs[drawn]!, weight, entropy })
    const bonus = weight * loss.entropy
    const slopes = new Float64Array(actions)
    for (let a = 0; a < actions; a++) {
      const p = Math.exp(logprobs[a]!)
      const spread = p > 0 ? bonus * p * (logprobs[a]! + entropy) : 0
      slopes[a] = (pull * ((a === drawn ? 1 : 0) - p) + spread) / segment.temperature
    }
    return slopes
  }

  /**
   * Adds one segment's gradient. A feature, once active, is active at every later token of the segment, so
   * its row gets the sum of the slopes from there on: one pass backwards.
   */
  const addSegment = (segment: TokenSegment, weight: number, pass: Pass): void => {
    const { current, gradient } = pass
    const state = net.start()
    const logprobs = new Float64Array(actions)
    const drawn: { readonly slopes: Float64Array; readonly features: number }[] = []
    segment.tokens.forEach((token, at) => {
      const t = at - segment.promptLength
      if (t >= 0 && segment.mask[t] === 1) {
        net.distribution(state, current, segment.temperature, logprobs)
        const slopes = slopesOf(logprobs, { segment, t, weight }, pass)
        addScaled(gradient, current.rowOf.get(net.clockKey(state))! * actions, slopes, 1)
        drawn.push({ slopes, features: state.keys.length })
      }
      net.read(state, token)
    })
    const sum = new Float64Array(actions)
    for (let n = drawn.length - 1; n >= 0; n--) {
      addScaled(sum, 0, drawn[n]!.slopes, 1)
      for (let i = drawn[n - 1]?.features ?? 0; i < drawn[n]!.features; i++)
        addScaled(gradient, current.rowOf.get(state.keys[i]!)! * actions, sum, state.values[i]!)
    }
  }

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
      const [held, policyVersion] = [weights, version]
      const logprobs = new Float64Array(actions)
      const readings = new WeakMap<Turn, Reading>()
      /** Takes up the reading of the turn before, if it is of this very consultation. */
      const readOn = (prompt: readonly number[], turns: readonly Turn[]): PrefixState => {
        const before = turns.at(-2)
        const reading = before && readings.get(before)
        if (before) readings.delete(before)
        const known = reading && startsWith(prompt, reading.prompt) ? reading : undefined
        const state = known?.state ?? net.start()
        for (let i = known?.prompt.length ?? 0; i < prompt.length; i++) net.read(state, prompt[i]!)
        const last = turns.at(-1)
        if (last) readings.set(last, { prompt, state })
        return state
      }
      return (observation, { seed }) => {
        const prompt = tokens.encode(observation)
        const state = readOn(prompt, observation.turns)
        net.distribution(state, held, temperature || 1, logprobs)
        const token = draw(logprobs, temperature, uniform(seed, 'move', observation.turns.length))
        return {
          // Every id below `actions` is one of the vocabulary's.
          action: vocabulary.actions[token] as Action,
          sample: {
            prompt,
            tokens: [token],
            logprobs: [temperature === 0 ? 0 : logprobs[token]!],
            policyVersion,
            temperature,
            logprobMode: 'scaled',
            stopReason: 'stop',
          },
        }
      }
    },

    async step(batch) {
      assertSteppable(this, batch)
      checkTokens(batch)
      const current = withRows(batch.segments)
      const gradient = new Float64Array(current.values.length)
      const sums = tally(batch.loss, version)
      const pass = { loss: batch.loss, current, gradient, sums }
      batch.segments.forEach((segment, s) => {
        addSegment(segment, batch.normaliser.perSegment[s]!, pass)
      })
      const next = adam(current.values, gradient, optimiser, batch.adam)
      const report = sums.report(version + 1, next.gradNorm)
      if (!Number.isFinite(next.gradNorm))
        throw new RangeError(
          `Expected a finite gradient, got norm ${next.gradNorm}; nothing was applied`,
        )
      weights = { ...current, values: next.weights }
      optimiser = next.state
      version += 1
      return report
    },

    save: (folder) =>
      saveSnapshot(
        folder,
        {
          policyVersion: version,
          keys: [...weights.rowOf.keys()],
          weights: weights.values,
          adam: optimiser,
        },
        vocabulary,
      ),

    async load(folder) {
      const loaded = await loadSnapshot(folder, vocabulary)
      const rowOf = new Map(loaded.keys.map((key, row) => [key, row] as const))
      weights = { rowOf, rows: loaded.keys.length, values: loaded.weights }
      optimiser = loaded.adam
      version = loaded.policyVersion
    },

    async export(format, file) {
      if (format !== 'json')
        throw new RangeError(`Expected an export format of json, got \`${format}\``)
      const rowsOut = [...weights.rowOf].map(([key, row]) => ({
        feature: key,
        weights: [...weights.values.subarray(row * actions, (row + 1) * actions)],
      }))
      const temporary = `${file}.${randomUUID()}.tmp`
      await writeFile(
        temporary,
        JSON.stringify({ vocabulary, policyVersion: version, rows: rowsOut }),
      )
      await rename(temporary, file)
    },

    async [Symbol.asyncDispose]() {},
  }
}

/** into[at + i] += scale * values[i]. */
function addScaled(into: Float64Array, at: number, values: Float64Array, scale: number): void {
  for (let i = 0; i < values.length; i++) into[at + i] = into[at + i]! + scale * values[i]!
}

/** Entropy in nats of a distribution given as log-probs. */
function entropyOf(logprobs: Float64Array): number {
  let entropy = 0
  for (let a = 0; a < logprobs.length; a++)
    if (logprobs[a]! > Number.NEGATIVE_INFINITY) entropy -= Math.exp(logprobs[a]!) * logprobs[a]!
  return entropy
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
