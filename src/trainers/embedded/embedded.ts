/**
 * The embedded backend: a policy over utterances by belief, in TypeScript. No Python, no GPU, no key.
 *
 * It samples token ids, takes the same batches and the same clipped loss as every other backend, and steps
 * with Adam, so the whole path from case to weights is real on any laptop.
 */
import {
  assertSteppable,
  type Backend,
  type Capabilities,
  lossTerms,
  type StepReport,
} from '../../backend.js'
import type { AdamSettings, TokenSegment, TrainBatch } from '../../batch.js'
import { normaliserKinds, objectiveKinds } from '../../batch.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { writeFileAtomically } from '../../storage/atomic-write.js'
import { assertTrainable } from '../batches/segments.js'
import { assertCriticTargets } from '../losses/critic-targets.js'
import { entropyWeight } from '../losses/entropy-bonus.js'
import { stepReport } from '../losses/step-report.js'
import { type AdamState, adamStep, norm, zeroAdam } from './adam.js'
import {
  type PolicyShape,
  type PolicyWeights,
  policyShape,
  rowWidth,
  zeroWeights,
} from './belief.js'
import { concludeEverywhere } from './conclusions.js'
import { type Critic, criticGradient, predictValues, zeroCritic } from './critic.js'
import { demonstrationSegments } from './demonstration.js'
import { type SegmentPasses, segmentPasses } from './gradient.js'
import { type FeatureExtractor, featureExtractor } from './policy.js'
import { sampler as makeSampler } from './sampler.js'
import { type FeatureCache, featureCache } from './segment-features.js'
import { tokenizer as makeTokenizer } from './tokenizer.js'

const capabilities: Capabilities = {
  losses: objectiveKinds,
  normalisers: normaliserKinds,
  lossTerms,
  ...{ entropy: true, kl: true, correction: true, critic: true },
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
  readonly shape: PolicyShape
  readonly passes: SegmentPasses
  weights: PolicyWeights
  optimiser: AdamState
  critic: Critic
  policyVersion: number
  /** Gradient buffers by row, filled with zeros between steps. */
  readonly gradient: Float64Array[]
  cache: FeatureCache
  /** The KL reference, with its own cache: its rows may be of a checkpoint that was loaded before this one. */
  reference: Pick<EmbeddedLearner, 'weights' | 'cache'>
}

function createLearner(actionSpace: ActionSpace, extractor: FeatureExtractor): EmbeddedLearner {
  const shape = policyShape(extractor)
  const weights = zeroWeights(shape)
  const cache = featureCache(extractor, shape.fixed)
  return {
    ...{ actionSpace, extractor, shape, passes: segmentPasses(shape) },
    ...{ weights, optimiser: zeroAdam(), critic: zeroCritic(), policyVersion: 0 },
    ...{ gradient: [], cache, reference: { weights, cache } },
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

/** Adds rows of zeros for new features, and gradient buffers for them. */
function growRows(learner: EmbeddedLearner, segments: readonly TokenSegment[]): void {
  const { cache, weights, gradient, shape } = learner
  const rowOf = cache.addRows(segments, weights.rowOf)
  const rows = [...weights.rows]
  const width = (row: number): Float64Array => new Float64Array(rowWidth(shape, row))
  while (rows.length < shape.fixed + rowOf.size) rows.push(width(rows.length))
  while (gradient.length < rows.length) gradient.push(width(gradient.length))
  learner.weights = { rowOf, rows }
}

/** The rows that the segments of a batch can move: those that every policy has, and their features'. */
function touchedRows(
  { shape, weights, cache }: EmbeddedLearner,
  segments: readonly TokenSegment[],
): number[] {
  const evidence = new Set<number>()
  for (const segment of segments)
    for (const row of cache.get(segment, weights.rowOf).rows) evidence.add(row)
  return [...Array.from({ length: shape.fixed }, (_, row) => row), ...evidence].sort(
    (a, b) => a - b,
  )
}

/** Adds a batch's gradient to the learner's buffers. @throws RangeError if it is not finite */
function addGradients(learner: EmbeddedLearner, batch: TrainBatch, touched: readonly number[]) {
  const { weights, cache, gradient, policyVersion, passes } = learner
  const sums = stepReport(batch.loss, policyVersion)
  const pass = { weights, gradient, sums }
  batch.segments.forEach((segment, s) => {
    const features = cache.get(segment, weights.rowOf)
    const scales = {
      weight: batch.normaliser.perSegment[s]!,
      bonus: entropyWeight(batch.loss, batch.normaliser, s),
    }
    passes.addGradient(segment, features, scales, pass)
  })
  const slopes = touched.map((row) => gradient[row]!)
  const report = sums.report(policyVersion + 1, norm(slopes))
  if (!Number.isFinite(report.gradNorm))
    throw new RangeError(
      `Expected a finite gradient, got norm ${report.gradNorm}; nothing was applied`,
    )
  return { slopes, report }
}

/**
 * Adam's epsilon for the gate. Whether to stop is a few weights that every token moves: with Adam's usual one they run
 * ahead of what is known, on the small gain of a short consultation, and a doctor who does not ask yet learns no answer.
 */
const gateEpsilon = 0.5

/** Takes one gradient step of policy and critic. Every check and gradient comes before the first update. */
function takeStep(learner: EmbeddedLearner, batch: TrainBatch): StepReport {
  const { segments } = batch
  assertSegments(segments, learner.extractor.actions)
  if (batch.critic) assertCriticTargets(batch.critic, segments)
  // New rows are zeros and change nothing, so they stay even if the step is refused below.
  growRows(learner, segments)
  const { weights, cache, critic } = learner
  const touched = touchedRows(learner, segments)
  try {
    const { slopes, report } = addGradients(learner, batch, touched)
    const read = (segment: TokenSegment) => cache.get(segment, weights.rowOf)
    const learned = batch.critic && criticGradient(batch, batch.critic, critic, read)
    const rows = adamStep(weights.rows, touched, slopes, learner.optimiser, batch.adam, {
      row: learner.shape.gate,
      epsilon: gateEpsilon,
    })
    learner.weights = { ...weights, rows }
    learner.policyVersion += 1
    if (!batch.critic || !learned) return report
    learner.critic = stepCritic(critic, learned.gradient, batch.critic.adam)
    return { ...report, critic: learned.report }
  } finally {
    for (const row of touched) learner.gradient[row]!.fill(0)
  }
}

function stepCritic(
  { rows, adam }: Critic,
  gradient: ReadonlyMap<number, Float64Array>,
  settings: AdamSettings,
): Critic {
  const touched = [...gradient.keys()].sort((a, b) => a - b)
  const old = [...rows]
  for (let row = old.length; row <= touched.at(-1)!; row++) old.push(new Float64Array(1))
  const slopes = touched.map((row) => gradient.get(row)!)
  return { rows: adamStep(old, touched, slopes, adam, settings), adam }
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
    predictValues(critic, features).forEach((value, n) => {
      out[features.positions[n]!] = value
    })
    return out
  })
}

async function save(learner: EmbeddedLearner, folder: string): Promise<void> {
  const { actionSpace, weights, optimiser, critic, policyVersion } = learner
  const { saveSnapshot } = await import('./checkpoint.js')
  const snapshot = { policyVersion, weights, adam: optimiser, critic }
  await saveSnapshot(folder, snapshot, actionSpace)
}

async function load(learner: EmbeddedLearner, folder: string): Promise<void> {
  const { loadSnapshot } = await import('./checkpoint.js')
  const loaded = await loadSnapshot(folder, learner.actionSpace, learner.shape)
  // Rows have other meanings now, so features cached with the old ones are invalid.
  learner.cache = featureCache(learner.extractor, learner.shape.fixed)
  learner.weights = loaded.weights
  learner.optimiser = loaded.adam
  learner.critic = loaded.critic
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
  const { actionSpace: vocabulary, weights, shape, policyVersion } = learner
  const [bias, gate, ...values] = weights.rows.slice(0, shape.fixed).map((row) => [...row])
  const features = [...weights.rowOf].map(([feature, row]) => ({
    feature,
    weights: [...weights.rows[row]!],
  }))
  await writeFileAtomically(
    file,
    JSON.stringify({ vocabulary, policyVersion, bias, gate, values, features }),
  )
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
        ...{ tokenizer, extractor, policyVersion: learner.policyVersion },
      }),
    conclude: (segments, action) =>
      concludeEverywhere(segments, tokenizer.actionId(action), {
        ...{ extractor, lastTurn: tokenizer.clockOf(1), policyVersion: learner.policyVersion },
      }),
    save: (folder) => save(learner, folder),
    load: (folder) => load(learner, folder),
    export: (format, file) => exportWeights(learner, format, file),
    async [Symbol.asyncDispose]() {},
  }
}
