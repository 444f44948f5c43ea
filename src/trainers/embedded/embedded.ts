/**
 * The embedded backend: a linear softmax policy over utterances in TypeScript. No Python, no GPU, no key.
 *
 * It samples token ids, takes the same batches and the same clipped loss as every other backend, and steps
 * with Adam, so the whole path from case to weights is real on any laptop.
 */
import { assertSteppable, type Backend, type Capabilities, type StepReport } from '../../backend.js'
import { normaliserKinds, objectiveKinds, type TokenSegment, type TrainBatch } from '../../batch.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { writeFileAtomically } from '../../storage/atomic-write.js'
import { assertTrainable } from '../batches/segments.js'
import { assertCriticTargets } from '../losses/critic-targets.js'
import { entropyWeight } from '../losses/entropy-bonus.js'
import { stepReport } from '../losses/step-report.js'
import { type AdamState, adamStep, norm, padWithZeros } from './adam.js'
import { type Critic, criticGradient, predictValues, zeroCritic } from './critic.js'
import { demonstrationSegments } from './demonstration.js'
import { type SegmentPasses, segmentPasses } from './gradient.js'
import { type FeatureExtractor, featureExtractor, type PolicyWeights } from './policy.js'
import { sampler as makeSampler } from './sampler.js'
import { type FeatureCache, featureCache } from './segment-features.js'
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

/** Settings of the embedded backend. */
export interface EmbeddedOptions {
  /** The actions that are the policy's vocabulary. */
  readonly actionSpace: ActionSpace
}

/** The fixed parts of a learner, and the state that steps and loading replace. */
interface EmbeddedLearner {
  readonly actionSpace: ActionSpace
  readonly extractor: FeatureExtractor
  readonly passes: SegmentPasses
  weights: PolicyWeights
  optimiser: AdamState
  critic: Critic
  policyVersion: number
  /** Gradient buffer, rows × actions. */
  gradient: Float64Array
  cache: FeatureCache
  /** The KL reference, with its own cache: its rows may be of a checkpoint that was loaded before this one. */
  reference: Pick<EmbeddedLearner, 'weights' | 'cache'>
}

function createLearner(actionSpace: ActionSpace, extractor: FeatureExtractor): EmbeddedLearner {
  const weights: PolicyWeights = { rowOf: new Map(), rows: 0, values: new Float64Array(0) }
  const cache = featureCache(extractor)
  return {
    actionSpace,
    extractor,
    passes: segmentPasses(extractor.actions),
    weights,
    optimiser: { steps: 0, mean: new Float64Array(0), square: new Float64Array(0) },
    critic: zeroCritic(),
    policyVersion: 0,
    gradient: new Float64Array(0),
    cache,
    reference: { weights, cache },
  }
}

/** Checks segments before they are read. @throws RangeError for a drawn token that is no action, or temperature 0 */
function assertSegments(segments: readonly TokenSegment[], actions: number): void {
  assertTrainable(segments)
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

/** Adds rows for new features and a gradient buffer of the same size, filled with zeros. */
function growRows(learner: EmbeddedLearner, segments: readonly TokenSegment[]): void {
  const { cache, weights, gradient, extractor } = learner
  const rowOf = cache.addRows(segments, weights.rowOf)
  const size = rowOf.size * extractor.actions
  learner.weights = { rowOf, rows: rowOf.size, values: padWithZeros(weights.values, size) }
  learner.gradient = gradient.length === size ? gradient.fill(0) : new Float64Array(size)
}

/** Takes one gradient step of policy and critic. Every check and gradient comes before the first update. */
function takeStep(learner: EmbeddedLearner, batch: TrainBatch): StepReport {
  const { segments, loss } = batch
  assertSegments(segments, learner.extractor.actions)
  if (batch.critic) assertCriticTargets(batch.critic, segments)
  // New rows are zeros and change nothing, so they stay even if the step is refused below.
  growRows(learner, segments)
  const { weights, cache, gradient, critic, policyVersion } = learner
  const sums = stepReport(loss, policyVersion)
  const pass = { weights, gradient, sums }
  const read = (segment: TokenSegment) => cache.get(segment, weights.rowOf)
  segments.forEach((segment, s) => {
    const scales = {
      weight: batch.normaliser.perSegment[s]!,
      bonus: entropyWeight(loss, batch.normaliser, s),
    }
    learner.passes.addGradient(segment, read(segment), scales, pass)
  })
  const report = sums.report(policyVersion + 1, norm(gradient))
  if (!Number.isFinite(report.gradNorm))
    throw new RangeError(
      `Expected a finite gradient, got norm ${report.gradNorm}; nothing was applied`,
    )
  const learned =
    batch.critic &&
    criticGradient(batch, batch.critic, { weights: critic.weights, rows: weights.rows, read })
  const values = adamStep(weights.values, gradient, learner.optimiser, batch.adam)
  learner.weights = { ...weights, values }
  learner.policyVersion += 1
  if (!batch.critic || !learned) return report
  const old = padWithZeros(critic.weights, weights.rows)
  const updated = adamStep(old, learned.gradient, critic.adam, batch.critic.adam)
  learner.critic = { weights: updated, adam: critic.adam }
  return { ...report, critic: learned.report }
}

/** Log-probs along each segment's mask, 0 where masked; of the KL reference or of the current weights. */
function segmentLogprobs(
  learner: EmbeddedLearner,
  segments: readonly TokenSegment[],
  reference: boolean,
): Float32Array[] {
  assertSegments(segments, learner.extractor.actions)
  const { weights, cache } = reference ? learner.reference : learner
  return segments.map((segment) => {
    const features = cache.get(segment, weights.rowOf)
    return Float32Array.from(learner.passes.logprobs(segment, features, weights))
  })
}

/** Predicted value along each segment's mask, 0 where masked. */
function segmentValues(
  learner: EmbeddedLearner,
  segments: readonly TokenSegment[],
): Float32Array[] {
  const { extractor, cache, weights, critic } = learner
  assertSegments(segments, extractor.actions)
  return segments.map((segment) => {
    const features = cache.get(segment, weights.rowOf)
    const out = new Float32Array(segment.mask.length)
    predictValues(critic.weights, features).forEach((value, n) => {
      out[features.positions[n]!] = value
    })
    return out
  })
}

async function save(learner: EmbeddedLearner, folder: string): Promise<void> {
  const { actionSpace, weights, optimiser, critic, policyVersion } = learner
  const keys = [...weights.rowOf.keys()]
  const policy = { policyVersion, keys, weights: weights.values, adam: { ...optimiser } }
  const { saveSnapshot } = await import('./checkpoint.js')
  await saveSnapshot(folder, critic.adam.steps > 0 ? { ...policy, critic } : policy, actionSpace)
}

async function load(learner: EmbeddedLearner, folder: string): Promise<void> {
  const { loadSnapshot } = await import('./checkpoint.js')
  const loaded = await loadSnapshot(folder, learner.actionSpace)
  const rowOf = new Map(loaded.keys.map((key, row) => [key, row] as const))
  // Rows have other meanings now, so features cached with the old ones are invalid.
  learner.cache = featureCache(learner.extractor)
  learner.weights = { rowOf, rows: loaded.keys.length, values: loaded.weights }
  learner.optimiser = loaded.adam
  learner.critic = loaded.critic ?? zeroCritic()
  learner.policyVersion = loaded.policyVersion
}

/** Writes the weights as JSON, one entry per feature row. */
async function exportWeights(
  learner: EmbeddedLearner,
  format: string,
  file: string,
): Promise<void> {
  if (format !== 'json')
    throw new RangeError(`Expected an export format of json, got \`${format}\``)
  const { actionSpace: vocabulary, weights, policyVersion } = learner
  const actions = vocabulary.actions.length
  const rows = [...weights.rowOf].map(([feature, row]) => ({
    feature,
    weights: [...weights.values.subarray(row * actions, (row + 1) * actions)],
  }))
  await writeFileAtomically(file, JSON.stringify({ vocabulary, policyVersion, rows }))
}

/** Creates a backend with a uniform policy over all utterances and a critic that predicts 0. */
export function embedded({ actionSpace }: EmbeddedOptions): Backend {
  const tokenizer = makeTokenizer(actionSpace)
  const extractor = featureExtractor(actionSpace, tokenizer)
  const learner = createLearner(actionSpace, extractor)
  return {
    name: 'embedded',
    capabilities,
    get policyVersion() {
      return learner.policyVersion
    },
    sampler({ temperature = 1 } = {}) {
      if (!(temperature >= 0))
        throw new RangeError(`Expected \`temperature\` to be >= 0, got \`${temperature}\``)
      return makeSampler(actionSpace, tokenizer, extractor, learner, temperature)
    },
    async step(batch) {
      assertSteppable(this, batch)
      return takeStep(learner, batch)
    },
    logprobs: async (segments, { reference = false } = {}) =>
      segmentLogprobs(learner, segments, reference),
    keepReference() {
      learner.reference = { weights: learner.weights, cache: learner.cache }
    },
    values: async (segments) => segmentValues(learner, segments),
    demonstrate: (episode) =>
      demonstrationSegments(episode, {
        tokenizer,
        extractor,
        policyVersion: learner.policyVersion,
      }),
    save: (folder) => save(learner, folder),
    load: (folder) => load(learner, folder),
    export: (format, file) => exportWeights(learner, format, file),
    async [Symbol.asyncDispose]() {},
  }
}
