/**
 * The embedded backend: a policy in TypeScript whose vocabulary is utterances. No Python, no GPU, no key.
 *
 * It samples token ids, takes the same batches and the same clipped loss as every other backend, and steps
 * with Adam, so the whole path from case to weights is real on any laptop.
 */
import type { Backend, Capabilities } from '../../backend.js'
import { assertSteppable } from '../../backend.js'
import type { TokenSegment, TrainBatch } from '../../batch.js'
import { normaliserKinds, objectiveKinds } from '../../batch.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { writeWhole } from '../../storage/atomic-write.js'
import { assertDrawn } from '../batches/segments.js'
import { assertTargets } from '../losses/critic-targets.js'
import { stepReport } from '../losses/step-report.js'
import type { AdamState } from './adam.js'
import { adam, grown, norm } from './adam.js'
import { criticGradient, freshCritic, valuesAt } from './critic.js'
import { demonstration } from './demonstration.js'
import { passes as makePasses } from './gradient.js'
import type { Weights } from './policy.js'
import { reader as makeReader } from './policy.js'
import { readings as makeReadings } from './reading.js'
import { sampler as makeSampler } from './sampler.js'
import { tokenizer as makeTokenizer } from './tokenizer.js'

const capabilities: Capabilities = {
  losses: objectiveKinds,
  normalisers: normaliserKinds,
  entropy: true,
  kl: true,
  correction: true,
  critic: true,
  exports: ['json'],
  maxMoveTokens: 1,
}

export interface EmbeddedOptions {
  readonly actionSpace: ActionSpace
}

/** @throws RangeError for a drawn token that is no move, or a segment drawn without chance */
function checkSegments(segments: readonly TokenSegment[], actions: number): void {
  assertDrawn(segments)
  segments.forEach(({ rolloutId, tokens, promptLength, mask }, s) => {
    mask.forEach((drawn, t) => {
      const token = tokens[promptLength + t]!
      if (drawn === 1 && token >= actions)
        throw new RangeError(
          `segments[${s}] of rollout ${rolloutId}: expected a drawn token below ${actions}, got ${token} at ${t}`,
        )
    })
  })
}

/** Opens a fresh policy that finds every utterance equally likely, and a critic that expects nothing. */
export function embedded({ actionSpace }: EmbeddedOptions): Backend {
  const tokenizer = makeTokenizer(actionSpace)
  const reader = makeReader(actionSpace, tokenizer)
  const { actions } = reader
  const passes = makePasses(actions)
  let weights: Weights = { rowOf: new Map(), rows: 0, values: new Float64Array(0) }
  let optimiser: AdamState = { steps: 0, mean: new Float64Array(0), square: new Float64Array(0) }
  let critic = freshCritic()
  let policyVersion = 0
  let gradient = new Float64Array(0)
  let readings = makeReadings(reader)
  // With its own readings, as its rows may be of a checkpoint that was loaded before this one.
  let reference = { weights, readings }

  /** What the critic would learn of a batch; throws before anything is applied. */
  const criticised = (batch: TrainBatch) =>
    batch.critic && {
      settings: batch.critic.adam,
      ...criticGradient(batch, batch.critic, {
        weights: critic.weights,
        rows: weights.rows,
        read: (segment) => readings.of(segment, weights.rowOf),
      }),
    }

  return {
    name: 'embedded',
    capabilities,
    get policyVersion() {
      return policyVersion
    },

    sampler({ temperature = 1 } = {}) {
      if (!(temperature >= 0))
        throw new RangeError(`Expected \`temperature\` to be >= 0, got \`${temperature}\``)
      return makeSampler({ actionSpace, tokenizer, reader, weights, policyVersion, temperature })
    },

    async step(batch) {
      assertSteppable(this, batch)
      checkSegments(batch.segments, actions)
      if (batch.critic) assertTargets(batch.critic, batch.segments)
      const rowOf = readings.rowsFor(batch.segments, weights.rowOf)
      const size = rowOf.size * actions
      // New rows are zeros and change nothing, so they stay even if the step is refused below.
      weights = { rowOf, rows: rowOf.size, values: grown(weights.values, size) }
      gradient = gradient.length === size ? gradient.fill(0) : new Float64Array(size)
      const sums = stepReport(batch.loss, policyVersion)
      const pass = { loss: batch.loss, weights, gradient, sums }
      batch.segments.forEach((segment, s) => {
        const weight = batch.normaliser.perSegment[s]!
        passes.add(segment, readings.of(segment, rowOf), weight, pass)
      })
      const report = sums.report(policyVersion + 1, norm(gradient))
      if (!Number.isFinite(report.gradNorm))
        throw new RangeError(
          `Expected a finite gradient, got norm ${report.gradNorm}; nothing was applied`,
        )
      const lesson = criticised(batch)
      weights = { ...weights, values: adam(weights.values, gradient, optimiser, batch.adam) }
      policyVersion += 1
      if (!lesson) return report
      const known = grown(critic.weights, weights.rows)
      critic = {
        weights: adam(known, lesson.gradient, critic.adam, lesson.settings),
        adam: critic.adam,
      }
      return { ...report, critic: lesson.report }
    },

    async logprobs(segments, { reference: ofReference = false } = {}) {
      checkSegments(segments, actions)
      const by = ofReference ? reference : { weights, readings }
      return segments.map((segment) => {
        const reading = by.readings.of(segment, by.weights.rowOf)
        return Float32Array.from(passes.logprobs(segment, reading, by.weights))
      })
    },

    keepReference() {
      reference = { weights, readings }
    },

    async values(segments) {
      checkSegments(segments, actions)
      return segments.map((segment) => {
        const reading = readings.of(segment, weights.rowOf)
        const out = new Float32Array(segment.mask.length)
        valuesAt(critic.weights, reading).forEach((value, n) => {
          out[reading.places[n]!] = value
        })
        return out
      })
    },

    demonstrate: (episode) => demonstration(episode, { tokenizer, reader, policyVersion }),

    async save(folder) {
      const keys = [...weights.rowOf.keys()]
      const state = { policyVersion, keys, weights: weights.values, adam: { ...optimiser } }
      const { saveSnapshot } = await import('./checkpoint.js')
      await saveSnapshot(folder, critic.adam.steps > 0 ? { ...state, critic } : state, actionSpace)
    },

    async load(folder) {
      const { loadSnapshot } = await import('./checkpoint.js')
      const loaded = await loadSnapshot(folder, actionSpace)
      const rowOf = new Map(loaded.keys.map((key, row) => [key, row] as const))
      // Rows have other meanings now, and so has what was read with the old ones.
      readings = makeReadings(reader)
      weights = { rowOf, rows: loaded.keys.length, values: loaded.weights }
      optimiser = loaded.adam
      critic = loaded.critic ?? freshCritic()
      policyVersion = loaded.policyVersion
    },

    async export(format, file) {
      if (format !== 'json')
        throw new RangeError(`Expected an export format of json, got \`${format}\``)
      const rows = [...weights.rowOf].map(([feature, row]) => ({
        feature,
        weights: [...weights.values.subarray(row * actions, (row + 1) * actions)],
      }))
      await writeWhole(file, JSON.stringify({ vocabulary: actionSpace, policyVersion, rows }))
    },

    async [Symbol.asyncDispose]() {},
  }
}
