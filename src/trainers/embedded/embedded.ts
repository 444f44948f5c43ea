/**
 * The embedded backend: a policy in TypeScript whose vocabulary is utterances. No Python, no GPU, no key.
 *
 * It samples token ids, takes the same batches and the same clipped loss as every other backend, and steps
 * with Adam, so the whole path from case to weights is real on any laptop.
 */
import type { Backend, Capabilities } from '../../backend.js'
import { assertSteppable } from '../../backend.js'
import type { TrainBatch } from '../../batch.js'
import { normaliserKinds, objectiveKinds } from '../../batch.js'
import type { Vocabulary } from '../../vocabulary.js'
import { writeWhole } from '../../whole-file.js'
import { tally } from '../tally.js'
import type { AdamState } from './adam.js'
import { adam, grown, norm } from './adam.js'
import { gradients } from './gradient.js'
import type { Weights } from './policy.js'
import { reader as makeReader } from './policy.js'
import { sampler as makeSampler } from './sampler.js'
import { tokenizer as makeTokenizer } from './tokenizer.js'

const capabilities: Capabilities = {
  losses: objectiveKinds,
  normalisers: normaliserKinds,
  entropy: true,
  kl: true,
  correction: true,
  exports: ['json'],
}

export interface EmbeddedOptions {
  readonly vocabulary: Vocabulary
}

/** @throws RangeError for a drawn token that is no move */
function checkTokens(batch: TrainBatch, actions: number): void {
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

/** Opens a fresh policy that finds every utterance equally likely. */
export function embedded({ vocabulary }: EmbeddedOptions): Backend {
  const tokenizer = makeTokenizer(vocabulary)
  const reader = makeReader(vocabulary, tokenizer)
  const { actions } = reader
  let weights: Weights = { rowOf: new Map(), rows: 0, values: new Float64Array(0) }
  let optimiser: AdamState = { steps: 0, mean: new Float64Array(0), square: new Float64Array(0) }
  let policyVersion = 0
  let gradient = new Float64Array(0)
  let { rowsFor, add } = gradients(reader, tokenizer)

  return {
    name: 'embedded',
    capabilities,
    get policyVersion() {
      return policyVersion
    },

    sampler({ temperature = 1 } = {}) {
      if (!(temperature >= 0))
        throw new RangeError(`Expected \`temperature\` to be >= 0, got \`${temperature}\``)
      return makeSampler({ vocabulary, tokenizer, reader, weights, policyVersion, temperature })
    },

    async step(batch) {
      assertSteppable(this, batch)
      checkTokens(batch, actions)
      const rowOf = rowsFor(batch.segments, weights.rowOf)
      const size = rowOf.size * actions
      // New rows are zeros and change nothing, so they stay even if the step is refused below.
      weights = { rowOf, rows: rowOf.size, values: grown(weights.values, size) }
      gradient = gradient.length === size ? gradient.fill(0) : new Float64Array(size)
      const sums = tally(batch.loss, policyVersion)
      const pass = { loss: batch.loss, weights, gradient, sums }
      batch.segments.forEach((segment, s) => {
        add(segment, batch.normaliser.perSegment[s]!, pass)
      })
      const report = sums.report(policyVersion + 1, norm(gradient))
      if (!Number.isFinite(report.gradNorm))
        throw new RangeError(
          `Expected a finite gradient, got norm ${report.gradNorm}; nothing was applied`,
        )
      weights = { ...weights, values: adam(weights.values, gradient, optimiser, batch.adam) }
      policyVersion += 1
      return report
    },

    async save(folder) {
      const keys = [...weights.rowOf.keys()]
      const snapshot = { policyVersion, keys, weights: weights.values, adam: { ...optimiser } }
      const { saveSnapshot } = await import('./checkpoint.js')
      await saveSnapshot(folder, snapshot, vocabulary)
    },

    async load(folder) {
      const { loadSnapshot } = await import('./checkpoint.js')
      const loaded = await loadSnapshot(folder, vocabulary)
      const rowOf = new Map(loaded.keys.map((key, row) => [key, row] as const))
      // Rows have other meanings now, and so has what was read with the old ones.
      ;({ rowsFor, add } = gradients(reader, tokenizer))
      weights = { rowOf, rows: loaded.keys.length, values: loaded.weights }
      optimiser = loaded.adam
      policyVersion = loaded.policyVersion
    },

    async export(format, file) {
      if (format !== 'json')
        throw new RangeError(`Expected an export format of json, got \`${format}\``)
      const rows = [...weights.rowOf].map(([feature, row]) => ({
        feature,
        weights: [...weights.values.subarray(row * actions, (row + 1) * actions)],
      }))
      await writeWhole(file, JSON.stringify({ vocabulary, policyVersion, rows }))
    },

    async [Symbol.asyncDispose]() {},
  }
}
